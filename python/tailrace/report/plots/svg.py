# SPDX-License-Identifier: Apache-2.0
"""Elements of an SVG picture. Everything that is not Markup is escaped: names are data."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

Value = str | float | None


def element(name: str, *children: Markup | str, **attributes: Value) -> Markup:
    """`class_` stands for class, `text_anchor` for text-anchor; None leaves an attribute out."""
    words = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inner = Markup("").join(children)
    return Markup(f"<{name}{''.join(words)}>{inner}</{name}>")


def joined(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)


def text(words: str, x: float, y: float, class_: str = "tick", anchor: str = "start") -> Markup:
    return element("text", words, x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str, tip: str = "") -> Markup:
    return element("line", *_tip(tip), x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def rect(x: float, y: float, width: float, height: float, class_: str, tip: str = "") -> Markup:
    return element(
        "rect", *_tip(tip), x=x, y=y, width=max(width, 0), height=max(height, 0), class_=class_
    )


def path(points: Iterable[tuple[float, float]], class_: str, *, closed: bool = False) -> Markup:
    words = " ".join(f"{_plain(x)},{_plain(y)}" for x, y in points)
    return element("polygon" if closed else "polyline", points=words, class_=class_)


def mark(shape: str, x: float, y: float, class_: str, tip: str = "") -> Markup:
    """A point of a series: shapes differ, so that colour is not all there is."""
    if shape == "circle":
        return element("circle", *_tip(tip), cx=x, cy=y, r=3.6, class_=class_)
    corners = [(x + dx, y + dy) for dx, dy in _shapes[shape]]
    if shape == "cross":
        d = f"M{_plain(x - 4)} {_plain(y - 4)}l8 8m0 -8l-8 8"
        return element("path", *_tip(tip), d=d, class_=class_)
    words = " ".join(f"{_plain(a)},{_plain(b)}" for a, b in corners)
    return element("polygon", *_tip(tip), points=words, class_=class_)


_shapes: dict[str, tuple[tuple[float, float], ...]] = {
    "triangle": ((0, -4.6), (4.4, 3.4), (-4.4, 3.4)),
    "square": ((-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)),
    "diamond": ((0, -4.6), (4.6, 0), (0, 4.6), (-4.6, 0)),
    "cross": (),
}


def picture(name: str, title: str, description: str, height: float, body: Markup) -> Markup:
    """The whole picture; `name` is unique on the page."""
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-desc"),
        body,
        viewBox=f"0 0 {width:g} {_plain(height)}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="plot",
    )


width = 420.0  # of every picture, in its own units: about the pixels of a phone


def _plain(value: Value) -> str:
    """Numbers to a hundredth of a pixel, without zeros that say nothing."""
    if isinstance(value, str):
        return value
    words = f"{float(value or 0):.2f}".rstrip("0").rstrip(".")
    return "0" if words == "-0" else words


def _tip(words: str) -> tuple[Markup, ...]:
    return (element("title", words),) if words else ()
