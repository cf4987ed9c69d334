# SPDX-License-Identifier: Apache-2.0
"""The plot of the time steps."""

from __future__ import annotations

from statistics import median

from tailrace.report import numbers, swatches
from tailrace.report.model import Cell, Figure, Key, Table
from tailrace.report.plots.points import Band, Curve, Plot, Point
from tailrace.report.view import Json, View
from tailrace.units import grouped

_most_places = 120
_most_points = 40
_kinds = (
    ("write_s", "write", "circle", "s-durable"),
    ("sync_s", "sync", "square", "s-sync"),
    ("stall_s", "all that a model waits for", "diamond", "s-raw"),
)


def steps(view: View) -> Figure | None:
    """Time per step of the slowest rank; None for runs of a single step."""
    runs = [one["steps"] for one in view.some_in_full if len(one["steps"]) > 1]
    if not runs:
        return None
    count = min(len(run) for run in runs)
    numbers_of_steps = [step["step"] for step in runs[0][:count]]
    last = runs[0][count - 1]
    highest = [_worst(run, key) for run in runs for key, *_rest in _kinds]
    unit = numbers.TimeUnit(highest)
    plot = Plot(
        numbers_of_steps[0], last["step"] + last.get("steps", 1) - 1, "time step", unit.name
    )
    legend: list[Key] = []
    rows: list[list[Cell]] = []
    for key, words, shape, style in _kinds:
        series = [[step.get(key, {}).get("max") for step in run[:count]] for run in runs]
        if any(value is None for one in series for value in one):
            continue
        found = _over_repetitions(series)
        _draw(plot, numbers_of_steps, found, unit, (words, shape, style))
        rows += [
            [words, step, *values] for step, values in zip(numbers_of_steps, found, strict=True)
        ]
        middle = median(value for _low, value, _high in found)
        few = count <= _most_points
        swatch = swatches.point(shape, style) if few else swatches.curve(style)
        legend.append(Key(swatch, f"{words}, slowest rank: median step {unit.text(middle)}"))
    if len(runs) > 1:
        words = f"smallest to greatest of {len(runs)} repetitions"
        legend.append(Key(swatches.band("s-durable"), words))
    name, title = f"{view.name}-steps", "Time per step"
    caption = "Time in write calls of the slowest rank in each time step, medians over repetitions."
    described = f"{caption} {'; '.join(key.words for key in legend)}."
    columns = ("what", "step", "min (s)", "median (s)", "max (s)")
    return Figure(
        name, title, caption, plot.drawn(name, title, described), legend, Table(columns, rows),
        _note(view, runs, count),
    )  # fmt: skip


def _worst(run: list[Json], key: str) -> float:
    return max((step[key]["max"] for step in run if key in step), default=0.0)


def _over_repetitions(series: list[list[float]]) -> list[tuple[float, float, float]]:
    """Smallest, median and greatest over repetitions of each step."""
    return [(min(one), median(one), max(one)) for one in zip(*series, strict=True)]


def _draw(
    plot: Plot,
    places: list[int],
    found: list[tuple[float, float, float]],
    unit: numbers.TimeUnit,
    look: tuple[str, str, str],
) -> None:
    words, shape, style = look
    x: list[float] = []
    low: list[float] = []
    middle: list[float] = []
    high: list[float] = []
    for part in numbers.bins(len(places), _most_places):
        inside = found[part.start : part.stop]
        x.append((places[part.start] + places[part.stop - 1]) / 2)
        low.append(unit(min(one[0] for one in inside)))
        middle.append(unit(median(one[1] for one in inside)))
        high.append(unit(max(one[2] for one in inside)))
    if high != low:
        plot.bands.append(Band(x, low, high, style))
    plot.curves.append(Curve(x, middle, style))
    if len(places) <= _most_points:
        for place, value in zip(x, middle, strict=True):
            tip = f"step {place:g}: {words} {numbers.digits(value)} {unit.name}"
            plot.points.append(Point(place, value, shape, style, tip))


def _note(view: View, runs: list[list[Json]], count: int) -> str:
    said = []
    if len(runs) < len(view.timed):
        said.append(
            f"Steps of {len(runs)} repetitions, evenly spread over all {grouped(len(view.timed))}."
        )
    together = runs[0][0].get("steps", 1)
    if together > 1:
        said.append(f"Each entry of the Record stands for {together} consecutive steps.")
    if count > _most_places:
        said.append(
            f"Drawn in {_most_places} stretches: their median, their smallest and greatest value."
        )
    return " ".join(said)
