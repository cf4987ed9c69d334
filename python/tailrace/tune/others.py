# SPDX-License-Identifier: Apache-2.0
"""Other tunes in the same working folder: none is at work while one works in place, what they have
in folders of their own is nobody's input, and what one has not put back is not the user's."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.tune.ledger import Ledger
from tailrace.whole_files import write_text

at_work = "at_work"  # in a scratch folder, while a tune in place has something to put back
_facts = "state/facts.jsonl"
_owner = "of_tailrace_tune"  # in a scratch folder: that of the results
_first_word, _first_fact = b'"/', b'{"name":"asked",'  # as json.dumps and append_records write


@contextmanager
def held(home: Path, *, alone: bool) -> Iterator[None]:
    """The working folder's own lock, whatever the -o of a tune. alone: no other tune works there,
    nor in place in a folder above or below: those above are held too, by all who work below.

    Raises: it does not go together with one that is at work.
    """
    real = Path(os.path.realpath(home))
    with ExitStack() as stack:
        for folder in (*reversed(real.parents), real):
            _hold(stack, folder, alone=alone and folder == real)
        yield


def _hold(stack: ExitStack, folder: Path, *, alone: bool) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # it may not be read, which of the working folder the survey says
        return
    stack.callback(os.close, descriptor)
    _lock(descriptor, folder, alone)


def _lock(descriptor: int, folder: Path, alone: bool) -> None:
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        other = "another tune" if alone else "a tune in place"
        raise TailraceError(
            f"{other} is at work in this working folder", where=str(folder),
            hint="wait for it: a tune in place changes the files that others would copy",
        ) from None  # fmt: skip
    except OSError:  # the file system has no locks, or none of folders (NFS)
        pass


def sign(scratch: Path, output: Path) -> None:
    """Tells other tunes whose scratch folder it is."""
    file = scratch / _owner
    if not file.exists():
        write_text(file, json.dumps(str(output)))


def is_of_a_tune(folder: Path) -> bool:
    """Whether it is the folder of an unfinished tune: of its results, or its scratch folder."""
    return _begins(folder / _owner, _first_word) or _begins(folder / _facts, _first_fact)


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
