# SPDX-License-Identifier: Apache-2.0
"""Bars: upright ones, in parts or whole, and lying ones with a spread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.plots import frame, svg
from tailrace.report.plots.scale import Scale, counting, for_values, from_zero

_letter_of_words = 7.6  # in the mean, on a phone
_most_name = 26  # letters of a name at the left
_row = 34.0  # height of a lying bar with its name above it


@dataclass(frozen=True)
class Part:
    """Of an upright bar, from below upwards."""

    value: float
    style: str
    tip: str


@dataclass(frozen=True)
class Bar:
    name: str
    parts: Sequence[Part]


def upright(
    name: str, title: str, description: str, bars: Sequence[Bar], x_name: str, y_name: str,
    *, inner_height: float = 150.0, numbered: bool = False,
) -> Markup:  # fmt: skip
    """Bars side by side, a name below each; names that would touch are left out evenly.

    numbered: the values stand above the bars, where there is room for them.
    """
    highest = max((sum(part.value for part in bar.parts) for bar in bars), default=0.0)
    bottom = frame.top + inner_height
    y = from_zero(highest, bottom, frame.top)
    area = frame.Area(frame.left_of(y.labels()), bottom)
    slot = (area.right - area.left - 4) / max(len(bars), 1)
    width = min(slot * (0.7 if slot > 6 else 0.9), 46.0)
    places = [area.left + 4 + slot * (index + 0.5) for index in range(len(bars))]
    body = [frame.vertical(area, y, y_name)]
    for place, bar in zip(places, bars, strict=True):
        body.append(_stack(bar, place - width / 2, width, y))
    if numbered and len(f"{highest:,.10g}") * frame.letter <= slot:
        body += [_number_above(bar, place, y) for place, bar in zip(places, bars, strict=True)]
    longest = max((len(bar.name) for bar in bars), default=1)
    every = max(1, -int(-(frame.letter * longest + 8) // slot))
    shown = [(x, bar.name) for x, bar in list(zip(places, bars, strict=True))[::every]]
    body.append(frame.names_below(area, shown, x_name))
    return svg.picture(name, title, description, area.height, svg.joined(body))


def _stack(bar: Bar, left: float, width: float, y: Scale) -> Markup:
    below, parts = 0.0, []
    for part in bar.parts:
        upper, lower = y.at(below + part.value), y.at(below)
        below += part.value
        parts.append(svg.rect(left, upper, width, lower - upper, f"bar {part.style}", part.tip))
    return svg.joined(parts)


def _number_above(bar: Bar, place: float, y: Scale) -> Markup:
    """The value of a whole bar, which also shows bars that are too low to be seen."""
    value = sum(part.value for part in bar.parts)
    return svg.text(f"{value:,.10g}", place, y.at(value) - 4, "tick", "middle")


@dataclass(frozen=True)
class Column:
    """A value at a whole number, with the smallest and the greatest that it stands for."""

    first: int
    last: int
    low: float
    value: float
    high: float
    tip: str


def columns(
    name: str, title: str, description: str, items: Sequence[Column], x_name: str, y_name: str,
    style: str, inner_height: float = 120.0,
) -> Markup:  # fmt: skip
    """Upright bars over an axis of whole numbers (ranks); a thin line spans low to high."""
    bottom = frame.top + inner_height
    y = from_zero(max((item.high for item in items), default=0.0), bottom, frame.top, 4)
    area = frame.Area(frame.left_of(y.labels()), bottom)
    x = frame.with_room(counting(items[0].first, items[-1].last, area.left + 2, area.right))
    body = [frame.vertical(area, y, y_name)]
    slot = abs(x.at(items[0].last + 0.5) - x.at(items[0].first - 0.5))
    width = min(slot * (0.7 if slot > 6 else 0.9), 46.0)
    for item in items:
        middle = x.at((item.first + item.last) / 2)
        upper = y.at(item.value)
        left = middle - width / 2
        body.append(svg.rect(left, upper, width, y.at(0) - upper, f"bar {style}", item.tip))
        if item.high > item.low:
            body.append(svg.line(middle, y.at(item.low), middle, y.at(item.high), "whisker"))
    body.append(frame.horizontal(area, x, x_name))
    return svg.picture(name, title, description, area.height, svg.joined(body))


@dataclass(frozen=True)
class Row:
    """A lying bar: `value` with its interval, single values as points, an optional limit."""

    name: str
    words: str  # at the right end of the name's line
    value: float | None
    low: float | None
    high: float | None
    points: Sequence[float]
    limit: float | None
    tip: str
    style: str
    emphasis: str = ""  # class of the name


def lying(name: str, title: str, description: str, rows: Sequence[Row], x_name: str) -> Markup:
    """One below the other, the name above each bar: long names have the whole width."""
    values = [v for row in rows for v in (row.value, row.high, row.limit, *row.points) if v]
    area = frame.Area(14.0, 4.0 + _row * len(rows) + 6, top=4.0)
    x = frame.with_room(from_zero(max(values, default=0.0), area.left, area.right))
    body = [frame.horizontal(area, x, x_name, grid=True)]
    letters = int((area.right - area.left) / _letter_of_words) - 5
    room = letters - max((len(row.words) for row in rows), default=0)
    names = told_apart([row.name for row in rows], room)
    for index, (row, short) in enumerate(zip(rows, names, strict=True)):
        body.append(_lying(row, short, 4.0 + _row * index, x, area))
    return svg.picture(name, title, description, area.height, svg.joined(body))


def _lying(row: Row, name: str, upper: float, x: Scale, area: frame.Area) -> Markup:
    middle = upper + 24
    parts = [
        svg.text(name, area.left, upper + 13, f"name {row.emphasis}"),
        svg.text(row.words, area.right, upper + 13, f"name {row.emphasis}", "end"),
    ]
    if row.value is not None:
        length = x.at(row.value) - x.start
        parts.append(svg.rect(x.start, middle - 6, length, 12, f"bar {row.style}", row.tip))
    parts += [svg.mark("circle", x.at(value), middle, "single") for value in row.points]
    if row.low is not None and row.high is not None:
        left, right = x.at(row.low), x.at(row.high)
        parts.append(svg.line(left, middle, right, middle, "whisker"))
        parts += [svg.line(end, middle - 4, end, middle + 4, "whisker") for end in (left, right)]
    if row.limit is not None:
        at = x.at(row.limit)
        parts.append(svg.line(at, middle - 8, at, middle + 8, "level limit"))
    return svg.joined(parts)


@dataclass(frozen=True)
class Range:
    """Smallest, mean and greatest of a name."""

    name: str
    low: float
    mean: float
    high: float
    tip: str


def ranges(
    name: str, title: str, description: str, items: Sequence[Range], x_name: str, style: str,
    reference: float | None = None,
) -> Markup:  # fmt: skip
    """A line from the smallest to the greatest value, a point at the mean, a name at the left.

    reference: a value that a line stands for, across all of them.
    """
    row = 22.0
    left = 14.0 + frame.letter * min(max((len(item.name) for item in items), default=1), _most_name)
    area = frame.Area(left, 8.0 + row * len(items), top=4.0)
    highest = [item.high for item in items]
    x = frame.with_room(for_values([v for v in highest if v > 0], area.left, area.right))
    body = [frame.horizontal(area, x, x_name, grid=True)]
    if reference is not None:
        body.append(
            svg.line(x.at(reference), area.top, x.at(reference), area.bottom, "level limit")
        )
    names = told_apart([item.name for item in items], _most_name)
    for index, (item, short) in enumerate(zip(items, names, strict=True)):
        y = 4.0 + row * (index + 0.5)
        start, end = x.at(item.low), x.at(item.high)
        body.append(svg.text(short, area.left - 8, y + 4, "tick", "end"))
        body.append(svg.line(start, y, end, y, f"range {style}", item.tip))
        ends = [end] if item.low < x.low else [start, end]  # open where the axis does not reach
        body += [svg.line(at, y - 5, at, y + 5, f"range {style}") for at in ends]
        if item.mean >= x.low:
            body.append(svg.mark("circle", x.at(item.mean), y, f"mark {style}", item.tip))
    return svg.picture(name, title, description, area.height, svg.joined(body))


def shortened(words: str, room: int) -> str:
    """Its beginning, where it is longer."""
    return words if len(words) <= room else f"{words[: max(room - 1, 1)]}…"


def told_apart(names: Sequence[str], room: int) -> list[str]:
    """Shortened names. Where beginnings are alike they keep their ends, or both, or values alone.

    A number at the front, the place in a ranking, tells nothing of what the name stands for.
    """
    places = [name[: len(name) - len(name.lstrip("0123456789 "))] for name in names]
    names = [name[len(place) :] for name, place in zip(names, places, strict=True)]
    room = max(room - max(map(len, places), default=0), 3)
    half = room // 2
    ends = [name if len(name) <= room else f"…{name[1 - room :]}" for name in names]
    both = [
        name if len(name) <= room else f"{name[:half]}…{name[half + 1 - room :]}" for name in names
    ]
    begins = [shortened(name, room) for name in names]
    values = [_values(name, room) for name in names]
    best = max((begins, both, ends, values), key=lambda one: len(set(one)))
    return [f"{place}{name}" for place, name in zip(places, best, strict=True)]


def _values(name: str, room: int) -> str:
    """Of KEY=VALUE KEY=VALUE the values, the longest of them cut until all have room."""
    words = [re.sub(r"^['\"]?[A-Za-z_.]\w*=", "", word) for word in name.split()]
    while len(" ".join(words)) > room:
        longest = max(range(len(words)), key=lambda at: len(words[at]))
        if len(words[longest]) < 4:
            break
        words[longest] = f"{words[longest].rstrip('…')[:-1]}…"
    return shortened(" ".join(words), room)
