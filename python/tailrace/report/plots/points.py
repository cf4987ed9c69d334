# SPDX-License-Identifier: Apache-2.0
"""Values in an order (repetitions, steps): points, bands where there are many, lines across."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from tailrace.report.plots import frame, svg
from tailrace.report.plots.scale import Scale, counting, for_values


@dataclass(frozen=True)
class Point:
    """shape: of a mark of svg.py; style: class of the style sheet."""

    x: float
    y: float
    shape: str
    style: str
    tip: str


@dataclass(frozen=True)
class Band:
    """From `low` to `high` over places on the horizontal axis."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    style: str


@dataclass(frozen=True)
class Curve:
    x: Sequence[float]
    y: Sequence[float]
    style: str


@dataclass(frozen=True)
class Level:
    """A line across; with an interval a band across as well."""

    y: float
    style: str
    low: float | None = None
    high: float | None = None


@dataclass
class Plot:
    """Marks over a horizontal axis of whole numbers `first`..`last`."""

    first: int
    last: int
    x_name: str
    y_name: str
    points: list[Point] = field(default_factory=list)
    bands: list[Band] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    inner_height: float = 150.0

    def values(self) -> list[float]:
        found = [point.y for point in self.points if point.shape != "cross"]
        for band in self.bands:
            found += [*band.low, *band.high]
        for curve in self.curves:
            found += curve.y
        for level in self.levels:
            found += [y for y in (level.y, level.low, level.high) if y is not None]
        return [value for value in found if math.isfinite(value)]

    def drawn(self, name: str, title: str, description: str) -> Markup:
        bottom = frame.top + self.inner_height
        y = for_values(self.values(), bottom, frame.top)
        area = frame.Area(frame.left_of(y.labels()), bottom)
        x = frame.with_room(counting(self.first, self.last, area.left + 2, area.right))
        body = svg.joined(
            [
                frame.vertical(area, y, self.y_name),
                frame.horizontal(area, x, self.x_name),
                *self._across(area, y),
                *[self._band(band, x, y) for band in self.bands],
                *[self._curve(curve, x, y) for curve in self.curves],
                *[self._point(point, x, y) for point in self.points],
            ]
        )
        return svg.picture(name, title, description, area.height, body)

    def _across(self, area: frame.Area, y: Scale) -> list[Markup]:
        parts: list[Markup] = []
        for level in self.levels:
            if level.low is not None and level.high is not None:
                upper, lower = y.at(level.high), y.at(level.low)
                width = area.right - area.left
                parts.append(
                    svg.rect(area.left, upper, width, lower - upper, f"band {level.style}")
                )
        for level in self.levels:
            at = y.at(level.y)
            parts.append(svg.line(area.left, at, area.right, at, f"level {level.style}"))
        return parts

    @staticmethod
    def _band(band: Band, x: Scale, y: Scale) -> Markup:
        there = [(x.at(a), y.at(b)) for a, b in zip(band.x, band.high, strict=True)]
        back = [(x.at(a), y.at(b)) for a, b in zip(band.x, band.low, strict=True)]
        return svg.path(there + back[::-1], f"band {band.style}", closed=True)

    @staticmethod
    def _curve(curve: Curve, x: Scale, y: Scale) -> Markup:
        places = [(x.at(a), y.at(b)) for a, b in zip(curve.x, curve.y, strict=True)]
        return svg.path(places, f"curve {curve.style}")

    @staticmethod
    def _point(point: Point, x: Scale, y: Scale) -> Markup:
        at = y.start - 4 if point.shape == "cross" else y.at(point.y)
        return svg.mark(point.shape, x.at(point.x), at, f"mark {point.style}", point.tip)
