# SPDX-License-Identifier: Apache-2.0
"""What a launcher adds when a program ends with an exit code that it has explained itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

_frame = "-" * 40
_said_by_the_program_itself = (
    "a non-zero exit code. Per user-direction, the job has been aborted.",
    "detected that one or more processes exited with non-zero status",
)
_longest_block = 40


def forward_without_banners(lines: Iterable[str], emit: Callable[[str], None]) -> None:
    """Passes lines on, without Open MPI's framed blocks that repeat a program's exit code.

    What a program of ours has written into such a block goes through. Other blocks (a signal, a
    program not found, too few slots) go through as they are.
    """
    block: list[str] = []
    for line in lines:
        framed = line.startswith(_frame)
        if not block and not framed:
            emit(line)
            continue
        block.append(line)
        if (framed and len(block) > 1) or len(block) > _longest_block:
            _end(block, emit)
            block = []
    _end(block, emit)


def _end(block: list[str], emit: Callable[[str], None]) -> None:
    text = "".join(block)
    said_before = any(mark in text for mark in _said_by_the_program_itself)
    for line in _of_ours(block) if said_before else block:
        emit(line)


def _of_ours(block: list[str]) -> Iterator[str]:
    """The ranks' lines and the launcher's come through one stream, in any order."""
    ours = False
    for line in block:
        ours = line.startswith("tailrace") or (ours and line.lstrip().startswith("hint:"))
        if ours:
            yield line
