# SPDX-License-Identifier: Apache-2.0
"""The plot of a scaling: times over the ranks, the model, and what it foretells."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.report import numbers, swatches
from tailrace.report.model import Cell, Figure, Key, Table
from tailrace.report.plots.points import Band, Curve, Plot, Point
from tailrace.results import Record
from tailrace.scale.curve import real_seconds
from tailrace.scale.model import Model, NoModel
from tailrace.scale.scaling import Scaling, mode_of, scaling
from tailrace.sweep.data import runs_of

_steps = 60


def scaling_figures(records: Sequence[Record]) -> list[Figure]:
    """Nothing where no run ended well."""
    runs = runs_of(records)
    mode = mode_of(records[0])
    if not runs.measured or mode is None:
        return []
    return [_curve(scaling(runs, mode))]


def _curve(found: Scaling) -> Figure:
    points, model = found.points, found.model
    seconds = [real_seconds(found.runs, one.case) for one in points]
    unit = numbers.TimeUnit(max(values) for values in seconds)
    last = points[-1].ranks
    if isinstance(model, Model) and model.describes:
        last = max(last, model.beyond[0].ranks)
    plot = Plot(points[0].ranks, last, "ranks", unit.name)
    for point, values in zip(points, seconds, strict=True):
        style = "s-durable hollow" if point.oversubscribed else "s-durable"
        for value in values:
            tip = f"{point.ranks} ranks: {unit.text(value)}"
            plot.points.append(Point(point.ranks, unit(value), "circle", style, tip))
    legend = [Key(swatches.point("circle", "s-durable"), "single repetitions")]
    if any(one.oversubscribed for one in points):
        words = "hollow: more ranks than cores, left out of the model"
        legend.append(Key(swatches.point("circle", "s-durable hollow"), words))
    legend += _model(plot, model, unit)
    name, title = "scaling", f"{found.mode} scaling: durable total over the ranks"
    caption = (
        "Every rank writes as much, whatever their number."
        if found.mode == "weak"
        else "All ranks together write the same, whatever their number."
    )
    said = "; ".join(key.words for key in legend)
    return Figure(
        name, title, caption, plot.drawn(name, title, f"{caption} {said}."), legend,
        _table(found),
    )  # fmt: skip


def _model(plot: Plot, model: Model | NoModel, unit: numbers.TimeUnit) -> list[Key]:
    if isinstance(model, NoModel):
        return [Key(swatches.curve("s-raw"), f"no model: {model.why}")]
    if not model.describes:
        words = f"{model.text()} does not describe these points; it is not drawn"
        return [Key(swatches.curve("s-raw"), words)]
    first, last = model.fitted_ranks[0], model.fitted_ranks[-1]
    plot.curves.append(_along(model, first, last, "s-durable", unit))
    keys = [Key(swatches.curve("s-durable"), f"model: {model.text()}")]
    next_one = model.beyond[0]
    plot.curves.append(_along(model, last, next_one.ranks, "s-raw", unit))
    words = "extrapolated, not measured"
    if next_one.interval_s:
        low, high = (unit(value) for value in next_one.interval_s)
        at = unit(model.at(last))
        plot.bands.append(Band([last, next_one.ranks], [at, low], [at, high], "s-raw"))
        words += ", with its interval"
    keys.append(Key(swatches.curve("s-raw"), words))
    return keys


def _along(model: Model, first: int, last: int, style: str, unit: numbers.TimeUnit) -> Curve:
    x = [first + (last - first) * step / _steps for step in range(_steps + 1)]
    return Curve(x, [unit(model.at(one)) for one in x], style)


def _table(found: Scaling) -> Table:
    rows: list[list[Cell]] = [
        [one.ranks, "measured", one.median_s, *(one.interval_s or (None, None)),
         one.rate_bytes_per_s / numbers.mebi, one.efficiency,
         *(one.efficiency_interval or (None, None)), "yes" if one.oversubscribed else "no"]
        for one in found.points
    ]  # fmt: skip
    if isinstance(found.model, Model) and found.model.describes:
        rows += [
            [
                one.ranks,
                "extrapolated",
                one.seconds,
                *(one.interval_s or (None, None)),
                None,
                None,
                None,
                None,
                "no",
            ]
            for one in found.model.beyond
        ]
    columns = (
        "ranks", "kind", "durable (s)", "from", "to", "MiB/s", "efficiency", "from", "to",
        "more ranks than cores",
    )  # fmt: skip
    return Table(columns, rows)
