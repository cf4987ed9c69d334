# SPDX-License-Identifier: Apache-2.0
"""The recording run: what the command does with its files, seen in a scratch folder."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError
from tailrace.intent import layers, record
from tailrace.intent.native_calls import call
from tailrace.tune import relocate
from tailrace.tune.ground import Ground
from tailrace.tune.measure import Setting, strays_are_an_error
from tailrace.tune.supervise import Job, Outcome, supervised

Document = dict[str, Any]

# What programs and libraries say when they want to ask somebody.
_wants_a_terminal = (
    "EOF when reading a line", "not a tty", "not a terminal", "Inappropriate ioctl for device",
    "/dev/tty", "Error opening terminal", "TERM environment variable not set",
    "End of file",
)  # fmt: skip


@dataclass(frozen=True)
class Recorded:
    """profile: with the files where the user has them. outside: files that it wrote elsewhere."""

    profile: Document
    outcome: Outcome
    written_bytes: int
    outside: list[str]
    written: list[str]
    notes: list[str]


def record_run(setting: Setting, ground: Ground, limit_s: float | None) -> Recorded:
    """Runs the command once under the hooks.

    Raises: it failed, or outlived its limit, and why, as far as it told.
    """
    folder = ground.begin()
    spools, prints = setting.root / "spools", setting.root / "prints" / "record"
    shutil.rmtree(spools, ignore_errors=True)
    spools.mkdir(parents=True)
    words = relocate.words_in(setting.command, setting.home, folder)
    hooks = layers.prepare(layers.parse("auto"), words, spools, None)
    words = record.with_environment(hooks.words, list(hooks.environment))
    job = Job(
        words, hooks.environment, folder, prints, limit_s, setting.least_free_bytes, setting.stdin
    )
    outcome = supervised(job)
    if outcome.code or outcome.stopped:
        raise failed(outcome, _end_of(prints / "stderr"), setting.command, limit_s)
    profile: Document = json.loads(
        call("profile_of_spools", str(spools), shlex.join(setting.command))
    )
    layers.without_doubles(profile)
    outside = written_outside(profile, [*ground.places(), setting.root])
    left = ground.end("record")
    strays_are_an_error(left)
    size = sum((left.folder / name).lstat().st_size for name in left.written)
    shutil.rmtree(left.folder, ignore_errors=True)
    shutil.rmtree(spools, ignore_errors=True)
    homes = [(place, setting.home) for place in ground.places()]
    return Recorded(
        relocate.profile_at_home(profile, homes), outcome, size, outside, left.written,
        list(hooks.notes),
    )  # fmt: skip


def failed(
    outcome: Outcome, said: str, command: Sequence[str], limit_s: float | None
) -> TailraceError:
    """A run of the command as it is that did not go well."""
    hint = "tailrace tunes what works: see that this command runs by itself in this folder"
    if outcome.stopped == "limit":
        hint = f"--limit gives it more than {limit_s:g} s"
    elif outcome.stopped == "disk":
        hint = "make room, or --scratch FOLDER on a larger file system"
    elif any(words in said for words in _wants_a_terminal):
        hint = "it seems to want a terminal, and gets none here: --stdin FILE gives it its answers"
    what = f"the program did not go well as it is: {outcome.words}"
    if said:
        what += f"; it said last: {said}"
    return TailraceError(what, where=shlex.join(command), hint=hint, code=ExitCode.RUN_FAILED)


def _end_of(file: Path, most: int = 400) -> str:
    text = file.read_bytes()[-4096:].decode("utf-8", "backslashreplace")
    return " ".join(text.split())[-most:]


def written_outside(profile: Document, places: Sequence[Path]) -> list[str]:
    """Files beyond the working folder that the run wrote and that are still there."""
    roots = [f"{place}/" for place in places]
    return [
        file["path"]
        for file in profile.get("files", [])
        if _was_written(file)
        and not any(file["path"].startswith(root) for root in roots)
        and Path(file["path"]).is_file()
    ]


def files_below(profile: Document, home: Path) -> set[str]:
    """Names below a folder of the files that the run touched."""
    root = f"{home}/"
    paths = (file["path"] for file in profile.get("files", []))
    return {path[len(root) :] for path in paths if path.startswith(root)}


def check_outside(files: Sequence[str], allowed: bool) -> None:
    """Raises: it writes beyond the working folder, which runs would do again and again."""
    if not files or allowed:
        return
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    raise TailraceError(
        f"the program writes outside of its working folder: {', '.join(files[:3])}{more}",
        where="tune",
        hint="have it write below its working folder (relative paths, or in the command's words), "
        "run it in the folder that it writes to; --in-place for a program that names its own "
        "folder; or allow it: --allow-outside",
    )


def _was_written(file: Document) -> bool:
    of_hdf5 = file.get("hdf5") or {}
    if of_hdf5.get("creates") or any(
        (dataset.get("writes") or {}).get("calls") for dataset in file.get("datasets") or []
    ):
        return True
    for layer in ("mpiio", "posix", "stdio"):
        writes = (file.get(layer) or {}).get("writes") or {}
        if _bytes_of(writes):
            return True
    return False


def _bytes_of(writes: Document) -> int:
    """Of MPI-IO they stand by kind of call."""
    total = writes.get("bytes") or 0
    return int(total) + sum(_bytes_of(one) for one in writes.values() if isinstance(one, dict))
