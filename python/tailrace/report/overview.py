# SPDX-License-Identifier: Apache-2.0
"""The plot that sets all groups beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tailrace.report import numbers, swatches
from tailrace.report.limit import Limit
from tailrace.report.model import Cell, Figure, Key, Table
from tailrace.report.plots import bars
from tailrace.report.view import View
from tailrace.statistics import median_interval
from tailrace.units import grouped

most_rows = 24
_most_points = 60


def by_durable(views: Sequence[View]) -> list[int]:
    """Places of the groups, the fastest first; those without a measured repetition last."""

    def key(place: int) -> tuple[bool, float, int]:
        values = views[place].values("durable_bytes_per_s")
        return not values, -median(values) if values else 0.0, place

    return sorted(range(len(views)), key=key)


def overview(views: Sequence[View], limits: Sequence[Limit | None]) -> Figure:
    """Durable medians, the fastest on top; the table has the raw ones and every group."""
    order = by_durable(views)
    rows = [_row(views[place], limits[place], place + 1) for place in order[:most_rows]]
    name, title = "overview", "Durable throughput of all settings"
    caption = "Medians of the measured repetitions, the fastest on top; the bars begin at zero."
    legend = [
        Key(swatches.bar("s-durable"), "median"),
        Key(swatches.whisker(), "95 % interval of the median (from six repetitions on)"),
        Key(swatches.point("circle", "single"), "single repetitions"),
    ]
    if any(row.limit is not None for row in rows):
        legend.append(
            Key(
                swatches.level("limit"),
                "limit of the machine, where it was measured: the fastest plain way with fsync",
            )
        )
    said = "; ".join(f"{row.name}: {row.words}" for row in rows)
    note = ""
    if len(views) > most_rows:
        note = f"The {most_rows} fastest of {grouped(len(views))} are drawn; the table has all."
    plot = bars.lying(name, title, f"{caption} {said}.", rows, "MiB/s")
    return Figure(name, title, caption, plot, legend, _table(views, order), note)


def _row(view: View, limit: Limit | None, number: int) -> bars.Row:
    values = view.values("durable_bytes_per_s")
    name = f"{number}  {view.group.name}"
    if not values:
        return bars.Row(name, "none measured", None, None, None, (), None, "", "")
    middle, interval = median(values), median_interval(values)
    low, high = interval if interval else (None, None)
    shown = [values[place] / numbers.mebi for place in numbers.spread(len(values), _most_points)]
    return bars.Row(
        name, numbers.rate(middle), middle / numbers.mebi, numbers.mib_per_s(low),
        numbers.mib_per_s(high), shown, limit.bytes_per_s / numbers.mebi if limit else None,
        f"{view.group.name}: median {numbers.rate(middle)} of {grouped(len(values))}",
        "s-durable",
    )  # fmt: skip


def _table(views: Sequence[View], order: Sequence[int]) -> Table:
    rows: list[list[Cell]] = []
    for place in order:
        view = views[place]
        row: list[Cell] = [place + 1, view.group.name, len(view.timed)]
        for attribute in ("durable_bytes_per_s", "write_bytes_per_s"):
            values = view.values(attribute)
            interval = median_interval(values) or (None, None)
            row.append(median(values) / numbers.mebi if values else None)
            row += [numbers.mib_per_s(end) for end in interval]
        row += [len(view.group.warm_ups), len(view.group.failed)]
        rows.append(row)
    columns = (
        "section", "settings", "measured", "durable median (MiB/s)", "from", "to",
        "raw median (MiB/s)", "from", "to", "warm-ups", "failed",
    )  # fmt: skip
    return Table(columns, rows)
