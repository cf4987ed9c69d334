# SPDX-License-Identifier: Apache-2.0
"""The plot of the rates: every repetition, or bands where there are very many."""

from __future__ import annotations

from statistics import median

import numpy as np

from tailrace.report import numbers, swatches
from tailrace.report.limit import Limit
from tailrace.report.model import Cell, Figure, Key, Table
from tailrace.report.plots.points import Band, Curve, Level, Plot, Point
from tailrace.report.view import View
from tailrace.results import Record
from tailrace.statistics import median_interval
from tailrace.units import grouped

most_points = 200
_most_bins = 60
_series = (
    ("durable_bytes_per_s", "durable", "circle", "s-durable"),
    ("write_bytes_per_s", "raw", "triangle", "s-raw"),
)


def throughput(view: View, limit: Limit | None) -> Figure | None:
    """None where no repetition has a rate."""
    if not any(record.durable_bytes_per_s is not None for record in view.group.records):
        return None
    plot = Plot(1, len(view.group.records), "repetition, in the order of the file", "MiB/s")
    many = len(view.group.records) > most_points
    table = _bands(plot, view) if many else _points(plot, view)
    legend = [*_levels(plot, view, many), *_limits(plot, limit), *_special(view, many)]
    title = "Durable and raw throughput"
    caption = (
        "Durable: logical bytes by the time from the create to the synced close. Raw: by the time "
        "in write calls alone; the page cache takes part in it."
    )
    name = f"{view.name}-throughput"
    return Figure(
        name, title, caption, plot.drawn(name, title, f"{caption} {_said(legend)}"), legend, table,
        _note(view) if many else "",
    )  # fmt: skip


def kind(record: Record) -> str:
    """Why a repetition counts, or does not."""
    return "failed" if not record.ok else "warm-up" if record.warm_up else "measured"


def _points(plot: Plot, view: View) -> Table:
    rows: list[list[Cell]] = []
    for place, record in enumerate(view.group.records, 1):
        row: list[Cell] = [place, kind(record)]
        if not record.ok:
            tip = f"number {place}: failed"
            plot.points.append(Point(place, 0.0, "cross", "s-failed", tip))
        for attribute, words, shape, style in _series:
            value = numbers.mib_per_s(getattr(record, attribute))
            row.append(value)
            if value is None or not record.ok:
                continue
            look = f"{style} hollow" if record.warm_up else style
            tip = f"number {place}, {kind(record)}: {words} {numbers.digits(value)} MiB/s"
            plot.points.append(Point(place, value, shape, look, tip))
        rows.append(row)
    return Table(("number", "kind", "durable (MiB/s)", "raw (MiB/s)"), rows)


def _bands(plot: Plot, view: View) -> Table:
    """Stretches of consecutive measured repetitions: 5 to 95 %, the quartiles, the median."""
    rows: list[list[Cell]] = []
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    for attribute, words, _shape, style in _series:
        known = [
            (view.position[id(record)], rate / numbers.mebi)
            for record in view.timed
            if (rate := getattr(record, attribute)) is not None
        ]
        if not known:
            continue
        middles: list[float] = []
        found: list[list[float]] = []
        for part in numbers.bins(len(known), _most_bins):
            stretch = known[part.start : part.stop]
            values = [value for _place, value in stretch]
            at = [float(value) for value in np.quantile(values, shares)]
            middles.append((stretch[0][0] + stretch[-1][0]) / 2)
            found.append(at)
            rows.append([words, stretch[0][0], stretch[-1][0], len(values), *at])
        low5, low25, middle, high75, high95 = (list(column) for column in zip(*found, strict=True))
        plot.bands += [Band(middles, low5, high95, style), Band(middles, low25, high75, style)]
        plot.curves.append(Curve(middles, middle, style))
    names = [f"{share:.0%} below (MiB/s)" for share in shares]
    return Table(("rate", "from", "to", "repetitions", *names), rows)


def _levels(plot: Plot, view: View, many: bool) -> list[Key]:
    """The medians of what counts, with their intervals."""
    keys = []
    for attribute, words, shape, style in _series:
        values = view.values(attribute)
        if not values:
            continue
        middle, interval = median(values), median_interval(values)
        low, high = interval if interval else (None, None)
        plot.levels.append(
            Level(middle / numbers.mebi, style, numbers.mib_per_s(low), numbers.mib_per_s(high))
        )
        said = f"{words}, median of {grouped(len(values))}: {numbers.rate(middle)}"
        if low is not None and high is not None:
            said += f" (95 % interval {numbers.rate_range(low, high)})"
        swatch = swatches.curve(style) if many else swatches.point(shape, style)
        keys.append(Key(swatch, said))
    if view.timed:
        with_band = len(view.timed) >= 6
        look = (swatches.level_with_band if with_band else swatches.level)("s-durable")
        keys.append(Key(look, "median" + (" and its 95 % interval" if with_band else "")))
    return keys


def _limits(plot: Plot, limit: Limit | None) -> list[Key]:
    if limit is None:
        return []
    plot.levels.append(Level(limit.bytes_per_s / numbers.mebi, "limit"))
    return [Key(swatches.level("limit"), f"{limit.words}: {numbers.rate(limit.bytes_per_s)}")]


def _special(view: View, many: bool) -> list[Key]:
    """Repetitions that are shown, and count for nothing."""
    keys = []
    if not many and any(record.ok for record in view.group.warm_ups):
        words = "hollow: warm-up, not counted"
        keys.append(Key(swatches.point("circle", "s-durable hollow"), words))
    if not many and view.group.failed:
        words = "failed, not counted, without a rate"
        keys.append(Key(swatches.point("cross", "s-failed"), words))
    if many:
        keys.append(Key(swatches.band("s-durable"), "90 % and 50 % of the repetitions around"))
    return keys


def _note(view: View) -> str:
    count = grouped(len(view.group.records))
    left = len(view.group.records) - len(view.timed)
    apart = f"; {grouped(left)} warm-ups and failed ones are not drawn" if left else ""
    return (
        f"There are {count} repetitions, too many for points: consecutive ones are put together in "
        f"stretches of equal length{apart}. `--csv` writes every one."
    )


def _said(legend: list[Key]) -> str:
    return "; ".join(key.words for key in legend) + "."
