# SPDX-License-Identifier: Apache-2.0
"""Time lines: a lane for each rank, along it what it did when."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.plots import frame, svg
from tailrace.report.plots.scale import from_zero

_wanted_height = 190.0  # of all lanes together
_lowest, _highest = 5.0, 24.0  # of one lane
_between_names = 14.0


@dataclass(frozen=True)
class Mark:
    """From `start` to `end` on the horizontal axis."""

    start: float
    end: float
    style: str
    tip: str


@dataclass(frozen=True)
class Lane:
    """end: where the line of the lane ends."""

    name: str
    marks: Sequence[Mark]
    end: float


def lanes(
    name: str, title: str, description: str, items: Sequence[Lane], last: float,
    x_name: str, y_name: str,
) -> Markup:  # fmt: skip
    """From 0 to `last`; where a lane has no mark there is a thin line. Names that would touch are
    left out evenly."""
    row = min(max(_wanted_height / max(len(items), 1), _lowest), _highest)
    area = frame.Area(frame.left_of([item.name for item in items]), frame.top + row * len(items))
    x = frame.with_room(from_zero(last, area.left, area.right))
    body = [svg.text(y_name, 0, 13, "axis"), frame.horizontal(area, x, x_name, grid=True)]
    every = max(1, math.ceil(_between_names / row))
    space = 1.5 if row > 8 else 0.5
    for index, item in enumerate(items):
        upper = frame.top + row * index
        middle = upper + row / 2
        if index % every == 0:
            body.append(svg.text(item.name, area.left - 6, middle + 4, "tick", "end"))
        body.append(svg.line(area.left, middle, x.at(item.end), middle, "zero"))
        for one in item.marks:
            left, right = x.at(one.start), x.at(one.end)
            style = f"bar lane {one.style}"
            body.append(
                svg.rect(left, upper + space, right - left, row - 2 * space, style, one.tip)
            )
    return svg.picture(name, title, description, area.height, svg.joined(body))
