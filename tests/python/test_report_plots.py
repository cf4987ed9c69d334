# SPDX-License-Identifier: Apache-2.0
"""Axes, and marks at the places that their values say."""

from __future__ import annotations

import itertools
import math
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.report import numbers
from tailrace.report.plots import bars, scale
from tailrace.report.plots.points import Plot, Point
from tailrace.statistics import median_interval

positive = st.floats(min_value=1e-9, max_value=1e15)


@given(positive)
def test_axes_from_zero_reach_the_value_with_few_round_ticks(highest: float) -> None:
    axis = scale.from_zero(highest, 0, 100)
    assert axis.ticks[0] == 0 and axis.high >= highest * (1 - 1e-9)
    assert 2 <= len(axis.ticks) <= 9
    step = axis.ticks[1]
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-9)
    assert min(abs(mantissa - round_one) for round_one in (1, 2, 2.5, 5)) < 1e-6
    labels = axis.labels()
    assert len(set(labels)) == len(labels)
    for tick, label in zip(axis.ticks, labels, strict=True):
        assert float(label.replace(",", "")) == pytest.approx(tick, rel=1e-6, abs=step * 1e-6)


@given(st.lists(positive, min_size=1, max_size=20))
def test_every_value_has_a_place_within_the_axis(values: list[float]) -> None:
    axis = scale.for_values(values, 200, 10)
    assert axis.logarithmic == (max(values) >= scale.log_from * min(values))
    places = [axis.at(value) for value in sorted(values)]
    assert places == sorted(places, reverse=True)
    assert all(10 <= place <= 200 for place in places)
    assert axis.low <= min(values) * (1 + 1e-6) and axis.high >= max(values) * (1 - 1e-6)
    assert 1 <= len(axis.ticks) <= 26


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_counting_axes_have_whole_ticks_inside(first: int, length: int) -> None:
    axis = scale.counting(first, first + length, 0, 100)
    assert 1 <= len(axis.ticks) <= 9
    assert all(tick == int(tick) and first <= tick <= first + length for tick in axis.ticks)


def drawn(markup: str) -> ET.Element:
    return ET.fromstring(markup)


def test_points_stand_where_their_values_are() -> None:
    plot = Plot(1, 3, "x", "y")
    for x, y in ((1, 10.0), (2, 20.0), (3, 40.0)):
        plot.points.append(Point(x, y, "circle", "s-durable", "tip"))
    circles = drawn(plot.drawn("n", "t", "d")).findall("circle")
    height = [float(circle.get("cy", "")) for circle in circles]
    across = [float(circle.get("cx", "")) for circle in circles]
    assert height[0] - height[1] == pytest.approx((height[1] - height[2]) / 2, abs=0.02)
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.02)


def test_stacks_are_as_high_as_their_parts() -> None:
    parts = [bars.Part(1, "a", ""), bars.Part(3, "b", "")]
    picture = drawn(bars.upright("n", "t", "d", [bars.Bar("1", parts)], "x", "y"))
    low, high = picture.findall("rect")
    assert float(high.get("height", "")) == pytest.approx(3 * float(low.get("height", "")), abs=0.1)
    assert float(high.get("y", "")) + float(high.get("height", "")) == pytest.approx(
        float(low.get("y", "")), abs=0.02
    )


def test_names_below_bars_never_touch() -> None:
    for count in (1, 6, 24, 64, 200):
        stack = [bars.Bar(str(n), [bars.Part(1, "a", "")]) for n in range(100, 100 + count)]
        picture = drawn(bars.upright("n", "t", "d", stack, "x", "y"))
        below = [t for t in picture.findall("text") if t.get("text-anchor") == "middle"][:-1]
        places = [float(one.get("x", "")) for one in below]
        assert 1 <= len(places) <= count
        assert all(b - a >= 8 * 3 for a, b in pairwise(places))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1234.5, "1,234"), (116.44, "116.4"), (0.0123456, "0.01235"), (3.0, "3.000"),
     (1e9, "1,000,000,000")],
)  # fmt: skip
def test_digits(value: float, text: str) -> None:
    assert numbers.digits(value) == text


def test_stretches_cover_everything_once() -> None:
    for count, most in ((1, 60), (59, 60), (60, 60), (61, 60), (100_000, 60)):
        parts = numbers.bins(count, most)
        assert [place for part in parts for place in part] == list(range(count))
        assert len(parts) == min(count, most)
        places = numbers.spread(count, most)
        assert places[0] == 0 and places[-1] == count - 1 and len(places) == min(count, most)


def test_the_interval_of_a_median() -> None:
    """Held against the binomial distribution of scipy."""
    from scipy.stats import binom

    assert median_interval([3.0, 1.0, 2.0, 5.0, 4.0]) is None
    assert median_interval([3, 1, 2, 5, 4, 6]) == (1, 6)
    for count in (6, 7, 9, 16, 17, 100, 999, 1000, 5000):
        interval = median_interval(list(range(1, count + 1)))
        assert interval is not None
        rank = int(interval[0])
        assert interval[1] == count + 1 - rank
        assert 2 * binom.cdf(rank - 1, count, 0.5) <= 0.05
        if count <= 1000:
            assert 2 * binom.cdf(rank, count, 0.5) > 0.05, "it could be narrower"


def test_names_that_are_cut_still_differ() -> None:
    off = "'hints=*:romio_cb_write=disable:romio_ds_write=disable'"
    names = [
        f"{place}  collective=0 axis={axis} {hints} mpiio={io}"
        for place, (axis, hints, io) in enumerate(
            itertools.product(("long-fast", "long-slow"), ("hints=none", off), ("ompio", "romio")),
            8,
        )
    ]
    for room in (3, 28, 60):
        cut = bars.told_apart(names, room)
        assert [name.split()[0] for name in cut] == [name.split()[0] for name in names]
        assert room == 3 or all(len(name) <= room for name in cut)
        assert room == 3 or len({name.partition(" ")[2] for name in cut}) == len(names), cut
