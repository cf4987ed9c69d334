# SPDX-License-Identifier: Apache-2.0
"""What a launcher adds when a program ends with an exit code that it has explained itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_frame = "-" * 40
_said_by_the_program_itself = (
    "a non-zero exit code. Per user-direction, the job has been aborted.",
    "detected that one or more processes exited with non-zero status",
)
_longest_block = 40


def forward_without_banners(lines: Iterable[str], emit: Callable[[str], None]) -> None:
    """Passes lines on, without Open MPI's framed blocks that repeat a program's exit code.

    Other blocks (a signal, a program not found, too few slots) go through as they are.
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
    if any(mark in text for mark in _said_by_the_program_itself):
        return
    for line in block:
        emit(line)
