# SPDX-License-Identifier: Apache-2.0
"""What stands around the marks of a plot: grid lines, values beside the axes, their names."""

from __future__ import annotations

from dataclasses import dataclass, replace

from markupsafe import Markup

from tailrace.report.plots import svg
from tailrace.report.plots.scale import Scale

letter = 8.2  # width of a letter or digit on a phone, where the style sheet makes them larger
top = 26.0  # of the plotting area: above stands the name of the vertical axis
right = svg.width - 10.0


@dataclass(frozen=True)
class Area:
    """The plotting area."""

    left: float
    bottom: float
    right: float = right
    top: float = top

    @property
    def height(self) -> float:
        """Of the whole picture: below stand the values and the name of the horizontal axis."""
        return self.bottom + 40.0


def left_of(labels: list[str]) -> float:
    """Where the plotting area begins beside these values."""
    return 12.0 + letter * max((len(label) for label in labels), default=1)


def vertical(area: Area, scale: Scale, name: str) -> Markup:
    """Horizontal grid lines with their values, and above them the name with its unit."""
    parts = [svg.text(_named(name, scale), 0, 13, "axis")]
    for value, label in zip(scale.ticks, scale.labels(), strict=True):
        y = scale.at(value)
        parts.append(svg.line(area.left, y, area.right, y, "zero" if value == 0 else "grid"))
        parts.append(svg.text(label, area.left - 6, y + 4, "tick", "end"))
    return svg.joined(parts)


def horizontal(area: Area, scale: Scale, name: str, *, grid: bool = False) -> Markup:
    """Values below the plotting area, and the name of the axis."""
    parts = [svg.line(area.left, area.bottom, area.right, area.bottom, "zero")]
    for value, label in zip(scale.ticks, scale.labels(), strict=True):
        x = scale.at(value)
        if grid and value:
            parts.append(svg.line(x, area.top, x, area.bottom, "grid"))
        parts.append(svg.text(label, x, area.bottom + 16, "tick", "middle"))
    middle = (area.left + area.right) / 2
    parts.append(svg.text(_named(name, scale), middle, area.bottom + 34, "axis", "middle"))
    return svg.joined(parts)


def with_room(scale: Scale) -> Scale:
    """A horizontal axis whose last value, centred below its place, stays within the picture."""
    last = scale.labels()[-1] if scale.ticks else ""
    return replace(scale, end=svg.width - 2.0 - max(letter * len(last) / 2, 8.0))


def names_below(area: Area, places: list[tuple[float, str]], name: str) -> Markup:
    """Words instead of values below the plotting area."""
    parts = [svg.line(area.left, area.bottom, area.right, area.bottom, "zero")]
    parts += [svg.text(words, x, area.bottom + 16, "tick", "middle") for x, words in places]
    middle = (area.left + area.right) / 2
    parts.append(svg.text(name, middle, area.bottom + 34, "axis", "middle"))
    return svg.joined(parts)


def _named(name: str, scale: Scale) -> str:
    return f"{name}, logarithmic axis" if scale.logarithmic else name
