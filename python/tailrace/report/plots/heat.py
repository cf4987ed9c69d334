# SPDX-License-Identifier: Apache-2.0
"""A table whose cells are the darker the greater their value: two factors against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.plots import frame, svg
from tailrace.report.plots.bars import told_apart

_row = 34.0
_steps = 5  # of darkness: more could not be told apart


@dataclass(frozen=True)
class Cell:
    """words: written into it. value: None where nothing was measured."""

    value: float | None
    words: str
    tip: str


def heat(
    name: str, title: str, description: str, rows: Sequence[str], columns: Sequence[str],
    cells: Sequence[Sequence[Cell]], axes: tuple[str, str],
) -> Markup:  # fmt: skip
    """axes: the names of what the rows and the columns are."""
    left = 14.0 + frame.letter * min(max(map(len, [*rows, axes[0]]), default=1), 18)
    upper = 40.0
    width = (frame.right - left) / max(len(columns), 1)
    body = [
        svg.text(axes[1], (left + frame.right) / 2, 13, "axis", "middle"),
        svg.text(axes[0], left - 8, upper - 6, "axis", "end"),
    ]
    room = int(width / frame.letter)
    for at, words in enumerate(told_apart(columns, room)):
        body.append(svg.text(words, left + width * (at + 0.5), upper - 6, "tick", "middle"))
    known = [cell.value for row in cells for cell in row if cell.value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    for number, (row, line) in enumerate(zip(told_apart(rows, 18), cells, strict=True)):
        y = upper + _row * number
        body.append(svg.text(row, left - 8, y + 21, "tick", "end"))
        for at, cell in enumerate(line):
            body.append(_cell(cell, left + width * at, y, width, _step(cell.value, low, high)))
    return svg.picture(name, title, description, upper + _row * len(rows) + 8, svg.joined(body))


def _cell(cell: Cell, x: float, y: float, width: float, step: int) -> Markup:
    style = "heat none" if cell.value is None else f"heat h{step}"
    ground = svg.rect(x + 1, y + 1, width - 2, _row - 2, f"bar {style}", cell.tip)
    words = svg.text(cell.words, x + width / 2, y + 21, "in-heat", "middle")
    return ground + words


def _step(value: float | None, low: float, high: float) -> int:
    if value is None or high <= low:
        return 0
    return min(_steps - 1, int((value - low) / (high - low) * _steps))
