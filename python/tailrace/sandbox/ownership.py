# SPDX-License-Identifier: Apache-2.0
"""Whose a folder is. Other tunes in the same working folder: none is at work while one works in
place, what they have in folders of their own is nobody's input, and what one has not put back is
not the user's. The folders that a tune works in are its own: what is in them is removed in the end,
so none of them may be the user's."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.sandbox.ledger import Ledger
from tailrace.whole_files import write_text

Refused = Callable[[Path], TailraceError]

_in_place = "wait for it: a tune in place changes the files that others would copy"
at_work = "at_work"  # in a scratch folder, while a tune in place has something to put back
put_aside = "put_aside"  # the folder of what might be the user's own
_facts = "state/facts.jsonl"
_parts = {"state", "scratch"}  # of a folder of results, before there are any
_owner = "of_tailrace_tune"  # in a scratch folder: that of the results
_first_word, _first_fact = b'"/', b'{"name":"asked",'  # as json.dumps and append_records write


@contextmanager
def held(home: Path, *, alone: bool, allowed: Iterable[Path] = ()) -> Iterator[None]:
    """The locks of folders, whatever the -o of a tune. alone: no other tune works there, nor in
    place in a folder above or below: those above are held too, by all who work below. allowed: runs
    write there as well, so no other tune does: each would take for its own what the other writes.

    Raises: it does not go together with one that is at work.
    """
    real = Path(os.path.realpath(home))
    wanted = {folder: _refused_outside for one in allowed if (folder := _private(one))}
    wanted |= {real: _refused_in_place} if alone else {}
    all_of_them = {one for folder in (real, *wanted) for one in (folder, *folder.parents)}
    with ExitStack() as stack:
        for folder in sorted(all_of_them):
            _hold(stack, folder, wanted.get(folder))
        yield


def _private(folder: Path) -> Path | None:
    """None: a folder like /tmp, where everybody works: nobody can be alone there."""
    real = Path(os.path.realpath(folder))
    is_shared = stat.S_ISVTX | stat.S_IWOTH
    try:
        return real if real.stat().st_mode & is_shared != is_shared else None
    except OSError:
        return None


def _hold(stack: ExitStack, folder: Path, refused: Refused | None) -> None:
    """refused: where it is to be held alone, what is said of one that is not."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # it may not be read, which of the working folder the survey says
        return
    stack.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if refused else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        raise (refused or _refused_by_one_alone)(folder) from None
    except OSError:  # the file system has no locks, or none of folders (NFS)
        pass


def _refused_in_place(folder: Path) -> TailraceError:
    return TailraceError(
        "another tune is at work in this working folder", where=str(folder), hint=_in_place
    )


def _refused_by_one_alone(folder: Path) -> TailraceError:
    return TailraceError(
        "a tune in place, or one that may write there, is at work in this working folder",
        where=str(folder), hint=_in_place,
    )  # fmt: skip


def _refused_outside(folder: Path) -> TailraceError:
    return TailraceError(
        "another tune is at work in this folder of --allow-outside", where=str(folder),
        hint="wait for it: each would take what the other one writes there for its own; or allow a "
        "folder further down",
    )  # fmt: skip


def sign(scratch: Path, output: Path) -> None:
    """Tells other tunes whose scratch folder it is."""
    file = scratch / _owner
    if not file.exists():
        write_text(file, json.dumps(str(output)))


def is_signed(scratch: Path) -> bool:
    """Whether it is the scratch folder of a tune."""
    return _begins(scratch / _owner, _first_word)


def has_begun(output: Path) -> bool:
    """Whether it is the folder of the results of an unfinished tune."""
    return _begins(output / _facts, _first_fact)


def is_of_a_tune(folder: Path) -> bool:
    """Whether it is the folder of an unfinished tune: of its results, or its scratch folder."""
    return is_signed(folder) or has_begun(folder)


def check_own(output: Path, scratch: Path) -> None:
    """Raises: of the folder of the results, the state in it, and the scratch folder, one is there
    and not of a tune, so that something of the user's could be lost in it."""
    if output.exists() and not _is_of_results(output):
        raise _not_ours(output, "is there and is no folder of tailrace tune")
    state = output / "state"
    begun = Ledger(state).known("asked") if has_begun(output) else None
    if state.exists() and begun is None and not _is_left_over(state):
        raise _not_ours(state, "is there and is not of a tune, which keeps its state there")
    is_known = begun is not None and begun.get("scratch", str(scratch)) == str(scratch)
    if scratch.exists() and not is_known and not _is_scratch(scratch):
        raise _not_ours(
            scratch, "is there and is not of a tune, whose runs work there", "-o or --scratch"
        )


def _is_of_results(output: Path) -> bool:
    if not output.is_dir():
        return False
    if has_begun(output) or _has_result(output):
        return True
    return all(path.name in _parts for path in output.iterdir())


def _has_result(folder: Path) -> bool:
    file = folder / "result.json"
    return file.is_file() and b'"tailrace-tune/' in file.read_bytes()[:200]


def _is_left_over(state: Path) -> bool:
    """Of a tune that was killed before its first fact, or when its facts were removed already."""
    return state.is_dir() and all(map(_is_of_a_state, state.iterdir()))


def _is_of_a_state(path: Path) -> bool:
    if not path.is_file():
        return False
    if path.name == "profile.json":
        return b'"tailrace-profile/' in path.read_bytes()
    return path.name in {"facts.jsonl", "lock"} and path.stat().st_size == 0


def _is_scratch(folder: Path) -> bool:
    """What was put aside stays when the rest of a scratch folder goes."""
    if not folder.is_dir():
        return False
    return is_signed(folder) or all(path.name == put_aside for path in folder.iterdir())


def _not_ours(folder: Path, what: str, options: str = "-o") -> TailraceError:
    return TailraceError(
        what, where=str(folder),
        hint=f"name another one with {options}; nothing was written into this one",
    )  # fmt: skip


def check_put_back(folders: Iterable[Path]) -> None:
    """Raises: of these folders of tunes one is of a tune in place that has still something to put
    back. Then what lies in the working folder is not all the user's."""
    for output in dict.fromkeys(map(_output_of, folders)):
        asked = Ledger(output / "state").known("asked") or {}
        scratch = Path(asked.get("scratch", output / "scratch"))
        if asked.get("in_place") and (scratch / at_work).exists():
            raise TailraceError(
                f"a tune in place was ended before it had put everything back: that of {output}",
                where=str(asked["home"]),
                hint=f"give its command and options again, with --resume -o {output}: that puts "
                "your files back first",
            )


def _output_of(folder: Path) -> Path:
    file = folder / _owner
    return Path(json.loads(file.read_text())) if file.is_file() else folder


def _begins(file: Path, text: bytes) -> bool:
    """A folder of that name may be the user's."""
    try:
        with file.open("rb") as stream:
            return stream.read(len(text)) == text
    except OSError:  # it is not there, mostly
        return False
