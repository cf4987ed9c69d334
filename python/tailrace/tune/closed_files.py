# SPDX-License-Identifier: Apache-2.0
"""Files as they were each time that the program closed them, in runs of the proof: what is removed
or written again within a run is not there any more when it has ended.

The copies are made by the hook of system calls, in the process that closes the file last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace.intent import layers, program_file
from tailrace.sandbox.ground import Left
from tailrace.tune.file_content import Itself, compared
from tailrace.units import plural

_folder, _working = "TAILRACE_CLOSES", "TAILRACE_CLOSES_OF"


def environment(folder: Path, working: Path) -> dict[str, str]:
    """What the hook needs: where its copies go, and below which folder files are the program's."""
    return {_folder: str(folder), _working: str(working)}


def preload(command: Sequence[str], given: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """What is to be preloaded for it; "" where that cannot be, and why."""
    hook = layers.find("posix")
    if hook is None:
        return "", "the hook of system calls is not installed"
    if reason := layers.why_not(hook):
        return "", reason
    for program in program_file.programs_in(list(command)):
        if reason := program_file.why_no_preload(program, given):
            return "", f"{program} {reason}"
    return str(hook), ""


def not_seen(why: str) -> str:
    """The note where the hook is not there."""
    return f"not compared: files that a run removes or overwrites ({why})"


def name_of(file: str, number: int) -> str:
    """What a file is called, as it was at one of its closes."""
    return f"{file} (close {number})"


def is_close(name: str) -> bool:
    """Whether it is a name of `name_of`."""
    return re.search(r" \(close \d+\)$", name) is not None


def keep(folder: Path, working: Path, left: Left) -> list[str]:
    """Puts the copies beside what the run has left, those that are not the same: as the close
    before, or as the file in the end. Gives notes on what there is no copy of."""
    notes = []
    for lock in sorted(folder.iterdir()):
        if "." in lock.name or "-" in lock.name:
            continue
        line, _, path = lock.read_bytes().partition(b"\n")
        closes, copies = (int(word) for word in line.split()[3:5])
        file = os.path.relpath(os.fsdecode(path), os.path.realpath(working))
        if closes > copies:
            notes.append(
                f"not compared: {closes - copies} of {plural(closes, 'close')} of {file} "
                "(at most 8 of a file are, and none if the disk has no room)"
            )
        found = sorted(folder.glob(f"{lock.name}.*"), key=lambda one: int(one.suffix[1:]))
        _keep_one(file, found, left)
    return notes


def _keep_one(file: str, copies: Sequence[Path], left: Left) -> None:
    """Empty ones say nothing: MPI-IO makes such before it opens a file."""
    said = [copy for copy in copies if copy.stat().st_size]
    changed = [copy for at, copy in enumerate(said) if not at or not _same(said[at - 1], copy)]
    last = left.folder / file
    there = file in left.written and last.is_file()
    if changed and there and _same(changed[-1], last):
        changed.pop()
    for number, copy in enumerate(changed, start=1):
        name = name_of(file, number)
        target = left.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy.rename(target)
        left.written.append(name)


def _same(one: Path, other: Path) -> bool:
    """By content: a file that is opened again and closed may lie otherwise, with one plan only."""
    return not compared(one, other, Itself()).differences
