# SPDX-License-Identifier: Apache-2.0
"""The plots of the phases: where the time goes, and how evenly over the ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tailrace.report import numbers, swatches
from tailrace.report.known_phases import phase_style, phase_words
from tailrace.report.model import Cell, Figure, Key, Table
from tailrace.report.plots import bars
from tailrace.report.view import View
from tailrace.results import Record
from tailrace.units import grouped

_most_bars = 20
_least_share = 0.01
_rest = "other"


def stacked(view: View) -> Figure | None:
    """Time per phase of the measured repetitions; None where none is left."""
    if not view.timed or not view.phase_names:
        return None
    chosen, note = _chosen(view)
    times = [record.path() for _name, record in chosen]
    names, rest = _worth_showing(view.phase_names, times)
    unit = numbers.TimeUnit(sum(one.get(n, 0.0) for n in view.phase_names) for one in times)
    stacks = []
    for (label, record), one in zip(chosen, times, strict=True):
        shown = [(name, one.get(name, 0.0)) for name in names]
        if rest:
            shown.append((_rest, sum(one.get(name, 0.0) for name in rest)))
        place = view.position[id(record)]
        stacks.append(
            bars.Bar(
                label,
                [
                    bars.Part(
                        unit(value), phase_style(name), f"number {place}: {name} {unit.text(value)}"
                    )
                    for name, value in shown
                ],
            )
        )
    if rest:
        note = f"“{_rest}” is the sum of phases below 1 %. {note}".strip()
    legend = _legend(view, names, rest)
    name, title = f"{view.name}-phases", "Time per phase"
    caption = (
        "Time in each phase, between create and synced close, of the rank that the others waited "
        "for. Phases do not overlap: the bar is all of its time. Beside the names: medians."
    )
    x_name = "repetition" if len(view.timed) <= _most_bars else "repetitions by durable time"
    description = f"{caption} Medians: {'; '.join(key.words for key in legend)}."
    plot = bars.upright(name, title, description, stacks, x_name, unit.name)
    return Figure(name, title, caption, plot, legend, _stack_table(view, chosen, times), note)


def _chosen(view: View) -> tuple[list[tuple[str, Record]], str]:
    """All measured ones, or five that stand for very many."""
    if len(view.timed) <= _most_bars:
        return [(str(view.position[id(record)]), record) for record in view.timed], ""
    ordered = sorted(
        (record for record in view.timed if record.durable_s is not None),
        key=lambda record: record.durable_s or 0.0,
    )
    names = ("fastest", "25 %", "median", "75 %", "slowest")
    places = [round(share * (len(ordered) - 1)) for share in (0, 0.25, 0.5, 0.75, 1)]
    chosen = [(name, ordered[place]) for name, place in zip(names, places, strict=True)]
    return chosen, f"Of {grouped(len(view.timed))} repetitions five are shown."


def _worth_showing(
    names: Sequence[str], times: list[dict[str, float]]
) -> tuple[list[str], list[str]]:
    """Phases with a share of at least 1 % in some bar, and the rest."""
    totals = [sum(one.get(name, 0.0) for name in names) for one in times]
    large = [
        name
        for name in names
        if any(
            one.get(name, 0.0) >= _least_share * total > 0
            for one, total in zip(times, totals, strict=True)
        )
    ]
    rest = [name for name in names if name not in large]
    return (list(names), []) if len(rest) == 1 else (large, rest)


def _legend(view: View, names: list[str], rest: list[str]) -> list[Key]:
    """From the top of the bars downwards, with medians over the measured repetitions."""
    keys = [Key(swatches.bar(phase_style(_rest)), f"{_rest}: {', '.join(rest)}")] if rest else []
    for name in reversed(names):
        middle = numbers.seconds(float(np.median(view.phase_spreads[name][:, 3])))
        keys.append(Key(swatches.bar(phase_style(name)), f"{phase_words(name)}: {middle}"))
    return keys


def _stack_table(
    view: View, chosen: list[tuple[str, Record]], times: list[dict[str, float]]
) -> Table:
    rows: list[list[Cell]] = []
    for (label, record), one in zip(chosen, times, strict=True):
        values = [one.get(name, 0.0) for name in view.phase_names]
        rows.append([label, *values, sum(values), record.durable_s])
    columns = [f"{name} (s)" for name in view.phase_names]
    return Table(("repetition", *columns, "sum (s)", "durable total (s)"), rows)


def imbalance(view: View) -> Figure | None:
    """Smallest, mean and greatest time over ranks; medians over the measured repetitions."""
    ranks = int(view.group.settings.context.get("ranks", 1))
    if ranks < 2 or not view.phase_spreads:
        return None
    found: list[tuple[str, float, float, float]] = []
    for name, spreads in view.phase_spreads.items():
        low, mean, high = (float(value) for value in np.median(spreads, axis=0)[:3])
        found.append((name, low, mean, high))
    unit = numbers.TimeUnit(high for _name, _low, _mean, high in found)
    items = [
        bars.Range(
            name, unit(low), unit(mean), unit(high),
            f"{name}: {unit.text(low)} to {unit.text(high)}, mean {unit.text(mean)}",
        )
        for name, low, mean, high in found
        if high > 0
    ]  # fmt: skip
    if not items:
        return None
    rows: list[list[Cell]] = [
        [name, low, mean, high, high / mean if mean > 0 else None]
        for name, low, mean, high in found
    ]
    table = Table(("phase", "min (s)", "mean (s)", "max (s)", "max / mean"), rows)
    name, title = f"{view.name}-imbalance", "Imbalance over the ranks"
    over = "medians over the measured repetitions" if view.timed else "of the repetitions there are"
    caption = (
        f"Time in each phase of the fastest, the average and the slowest of {ranks} ranks, {over}. "
        "A long line: ranks waited or worked unevenly."
    )
    legend = [
        Key(
            swatches.range_with_mean("s-durable"),
            "min, mean, max over ranks; without an end at the left: less than the axis shows",
        )
    ]
    plot = bars.ranges(name, title, f"{caption} {_worst(found)}", items, unit.name, "s-durable")
    return Figure(name, title, caption, plot, legend, table)


def _worst(found: list[tuple[str, float, float, float]]) -> str:
    name, low, _mean, high = max(found, key=lambda one: one[3] - one[1])
    return f"Greatest difference: {name}, {numbers.seconds(low)} to {numbers.seconds(high)}."
