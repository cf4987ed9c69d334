# SPDX-License-Identifier: Apache-2.0
"""How the marks of a plot look, small, for its legend."""

from __future__ import annotations

from markupsafe import Markup

from tailrace.report.plots import svg


def _small(body: Markup) -> Markup:
    return svg.element(
        "svg", body, viewBox="0 0 22 12", class_="swatch", aria_hidden="true", focusable="false"
    )


def point(shape: str, style: str) -> Markup:
    return _small(svg.mark(shape, 11, 6, f"mark {style}"))


def bar(style: str) -> Markup:
    return _small(svg.rect(3, 0.5, 16, 11, f"bar {style}"))


def level(style: str) -> Markup:
    return _small(svg.line(1, 6, 21, 6, f"level {style}"))


def idle() -> Markup:
    return _small(svg.line(1, 6, 21, 6, "zero"))


def level_with_band(style: str) -> Markup:
    band = svg.rect(1, 1, 20, 10, f"band {style}")
    return _small(band + svg.line(1, 6, 21, 6, f"level {style}"))


def curve(style: str) -> Markup:
    return _small(svg.line(1, 6, 21, 6, f"curve {style}"))


def band(style: str) -> Markup:
    return _small(svg.rect(1, 1, 20, 10, f"band {style}"))


def whisker() -> Markup:
    lines = [(3, 6, 19, 6), (3, 2, 3, 10), (19, 2, 19, 10)]
    return _small(svg.joined(svg.line(*ends, "whisker") for ends in lines))


def range_with_mean(style: str) -> Markup:
    lines = [(2, 6, 20, 6), (2, 2, 2, 10), (20, 2, 20, 10)]
    parts = [svg.line(*ends, f"range {style}") for ends in lines]
    return _small(svg.joined([*parts, svg.mark("circle", 11, 6, f"mark {style}")]))
