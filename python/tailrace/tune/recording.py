# SPDX-License-Identifier: Apache-2.0
"""The recording run: what the command does with its files, seen in a scratch folder."""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError
from tailrace.intent import layers, record
from tailrace.intent.native_calls import call
from tailrace.readable import readable
from tailrace.sandbox.ground import Ground
from tailrace.sandbox.supervision import Outcome, supervised
from tailrace.tune import refusals, relocation, touched_files
from tailrace.tune.measurement import Setting, strays_are_an_error
from tailrace.tune.refusals import Refused, Where
from tailrace.units import plural, some
from tailrace.verify.files import format_of

Document = dict[str, Any]

UNSEEN = (
    "the program's HDF5 takes no settings from outside, and was not seen at work: it is older than "
    "1.14, or linked into the program"
)

runs_of_a_verdict = 12  # where one lever brings much, or nothing does

# What programs and libraries say when they want to ask somebody.
_wants_a_terminal = (
    "EOFError", "EOF when reading a line", "not a tty", "not a terminal",
    "Inappropriate ioctl for device", "/dev/tty", "Error opening terminal",
    "TERM environment variable not set",
    "could not find terminal", "a terminal is required", "End of file",
)  # fmt: skip


@dataclass(frozen=True)
class Recorded:
    """profile: with the files where the user has them. outside: files that it wrote elsewhere.
    refused: what it was not let do and went on without, in words; "": nothing. unseen: HDF5 files
    of an HDF5 that was not seen at work."""

    profile: Document
    outcome: Outcome
    written_bytes: int
    outside: list[str]
    written: list[str]
    notes: list[str]
    refused: str = ""
    unseen: list[str] = field(default_factory=list)


def record_run(
    setting: Setting, ground: Ground, limit_s: float, budget_s: float | None = None
) -> Recorded:
    """Runs the command once under the hooks. budget_s: what is left of all that was given.

    Raises: it failed, or outlived its limit, and why, as far as it told.
    """
    given_s, limit_s = limit_s, min(limit_s, budget_s or limit_s)
    folder = ground.begin()
    spools, prints = setting.root / "spools", setting.root / "prints" / "record"
    shutil.rmtree(spools, ignore_errors=True)
    spools.mkdir(parents=True)
    words = relocation.words_in(setting.command, setting.home, folder)
    hooks = layers.prepare(layers.parse("auto"), words, spools, None)
    words = record.with_environment(hooks.words, list(hooks.environment))
    outcome = supervised(setting.job(words, hooks.environment, prints, limit_s, ground, [spools]))
    if outcome.stopped == "limit" and limit_s < given_s:
        raise _beyond_budget(limit_s, setting.command)
    if outcome.code or outcome.stopped:
        raise _why_failed(outcome, spools, prints, setting, ground, limit_s)
    profile = _profile_of(spools, setting.command)
    denied = _refused(profile, setting, ground)
    outside = _written_outside(profile, outcome.began_ns, setting, ground)
    layers.without_doubles(profile)
    not_seen = _unseen(profile, ground.written())
    left = ground.end("record")
    strays_are_an_error(left)
    size = sum((left.folder / name).lstat().st_size for name in left.written)
    shutil.rmtree(left.folder, ignore_errors=True)
    shutil.rmtree(spools, ignore_errors=True)
    homes = [(place, setting.home) for place in ground.places()]
    return Recorded(
        relocation.profile_at_home(profile, homes), outcome, size, outside, left.written,
        list(hooks.notes), refusals.note(denied) if denied else "",
        sorted({relocation.at_home(path, homes) for path in not_seen}),
    )  # fmt: skip


def _beyond_budget(budget_s: float, command: Sequence[str]) -> TailraceError:
    least = math.ceil(runs_of_a_verdict * budget_s / 60)
    return TailraceError(
        f"the program has not ended after {budget_s:.0f} s, all that --budget gives",
        where=shlex.join(command), code=ExitCode.RUN_FAILED,
        hint=f"a tune makes some {runs_of_a_verdict} runs, which take more than "
        f"{plural(least, 'minute')}: give it so many, or a smaller case of the program",
    )  # fmt: skip


def _why_failed(
    outcome: Outcome, spools: Path, prints: Path, setting: Setting, ground: Ground,
    limit_s: float | None,
) -> TailraceError:  # fmt: skip
    denied = []
    if setting.confined is not None and not setting.confined.why_not and not outcome.stopped:
        with suppress(TailraceError):  # it may have ended before anything was noted
            denied += _refused(_profile_of(spools, setting.command), setting, ground)
        denied += refusals.in_words(_text_of(prints / "stderr", 1 << 16), _where(setting, ground))
    if denied:
        last = _text_of(prints / "stderr", 400).strip().rpartition("\n")[2]
        return refusals.error(denied, _where(setting, ground), last)
    return failed(outcome, _end_of(prints / "stderr"), setting.command, limit_s)


def _written_outside(
    profile: Document, began_ns: int, setting: Setting, ground: Ground
) -> list[str]:
    """Also what a confined run cannot have written: a daemon may have done it for it."""

    def by_run(path: Path) -> bool:
        confined = setting.confined
        if confined is None or not confined.is_whole:
            return True
        if not path.exists():  # where nothing was yours it was the program's own
            return confined.is_allowed(path)
        return _where(setting, ground).is_open(path)

    found = touched_files.outside(profile, _own_places(setting, ground), began_ns, by_run)
    return list(dict.fromkeys(map(os.path.realpath, found)))


def _profile_of(spools: Path, command: Sequence[str]) -> Document:
    words = readable(shlex.join(command))
    profile: Document = json.loads(call("profile_of_spools", str(spools), words))
    return profile


def _own_places(setting: Setting, ground: Ground) -> list[Path]:
    """Where a run may leave what it wants: that is put away; but not what is beside its folder."""
    ours = (path for path in setting.root.iterdir() if path != ground.folder.parent)
    places = [*ground.places(), *ours]
    if setting.confined is not None:
        places.append(setting.confined.temporary)
    return places


def _where(setting: Setting, ground: Ground) -> Where:
    assert setting.confined is not None
    confined, own = setting.confined, ground.places()
    return Where(setting.home, ground.folder, lambda path: confined.is_open(path, own))


def _refused(profile: Document, setting: Setting, ground: Ground) -> list[Refused]:
    if setting.confined is None or setting.confined.why_not:
        return []
    return refusals.in_profile(profile, _where(setting, ground))


def failed(
    outcome: Outcome, said: str, command: Sequence[str], limit_s: float | None, *,
    is_derived: bool = False, went_well: int = 0, goes_on: bool = False,
) -> TailraceError:  # fmt: skip
    """A run of the command as it is that did not go well. is_derived: the limit is not the user's,
    but follows from how long the default took. went_well: so many runs before it. goes_on: --resume
    can do so."""
    hint = "run the command without tailrace in this folder first, until it works"
    if went_well:
        hint = "it fails now and then by itself; tune needs a program that always works" + (
            "; --resume repeats this run" if goes_on else ""
        )
    if outcome.stopped == "limit" and is_derived:
        hint = (
            f"{limit_s:g} s are five times the slowest default run (10 s at least): look for the "
            "reason; --resume repeats this run, --timeout TIME gives it more time"
        )
    elif outcome.stopped == "limit":
        hint = f"give it more than {limit_s:g} s with --timeout TIME"
        if outcome.has_left:
            hint += "; if it starts a server or daemon, it has to stop it"
    elif outcome.stopped == "disk":
        hint = (
            "make room; or begin a new tune on a larger file system, with --scratch FOLDER and "
            "another -o"
        )
    elif not went_well and any(words in said for words in _wants_a_terminal):
        hint = "it seems to want a terminal, which it does not get: --stdin FILE gives it input"
    how = "found no room" if outcome.stopped == "disk" else "failed with its own settings"
    what = f"the program {how}: {outcome.words}"
    if went_well:
        what += f", after {plural(went_well, 'run')} that went well"
    if said:
        what += f"; its last words: {said}"
    return TailraceError(what, where=shlex.join(command), hint=hint, code=ExitCode.RUN_FAILED)


def _end_of(file: Path, most: int = 400) -> str:
    return " ".join(_text_of(file, 4096).split())[-most:]


def _text_of(file: Path, most: int) -> str:
    """The end of it."""
    return file.read_bytes()[-most:].decode("utf-8", "backslashreplace")


def check_outside(written: Sequence[str], allowed: Sequence[Path]) -> None:
    """Raises: it writes beyond the working folder, which runs would do again and again. It could,
    where the system does not confine it, or in a folder for temporary files."""
    real = [os.path.realpath(folder) for folder in allowed]
    files = [one for one in written if not any(Path(one).is_relative_to(path) for path in real)]
    if not files:
        return
    raise TailraceError(
        f"the program writes outside its working folder: {some(files, 3)}",
        where="tune",
        hint="let it write below its working folder (by relative paths, or paths in the words of "
        "the command), or run it in the folder to which it writes; --in-place if it names its own "
        "folder; --allow-outside FOLDER allows it",
    )


def _unseen(profile: Document, written: Iterable[Path]) -> list[str]:
    """HDF5 files of a program whose HDF5 was not seen at work, by their paths, where they still
    are: nothing can be set for it from outside. written: by the run, whoever saw it."""
    files = profile.get("files", [])
    if any("hdf5" in file for file in files):
        return []  # what else such a run has done to HDF5 files is mostly to copy them
    paths = dict.fromkeys([*(file["path"] for file in files), *map(str, written)])
    return sorted(path for path in paths if _is_hdf5(Path(path)))


def unseen_note(names: Sequence[str]) -> str:
    return f"no HDF5 was seen to use these HDF5 files: {some(list(names))}"


def _is_hdf5(path: Path) -> bool:
    try:
        return path.is_file() and format_of(path) == "hdf5"
    except (TailraceError, OSError):
        return False
