# SPDX-License-Identifier: Apache-2.0
"""The plots of the time lines: a lane for each rank, coloured by phase."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from tailrace.report import numbers, swatches
from tailrace.report.known_phases import phase_order, phase_style, phase_words
from tailrace.report.model import Cell, Figure, Key, Table
from tailrace.report.plots import lanes
from tailrace.report.time_lines import Line, Lines, reading, sentence, writing
from tailrace.report.view import View
from tailrace.units import grouped

_most_cells, _fewest_cells, _cells_of_all = 300, 64, 3000
_most_told = 3  # phases in the words of a mark


def time_lines(view: View) -> list[Figure]:
    """Of the repetition that stands for all: of its writing, and of its reading where it read."""
    made = [
        ("lines", "Time lines of the ranks", writing(view.full),
         "What each rank did when, from the create to the end of the file"),
        ("reading", "Time lines of reading", reading(view.full),
         "What each rank did when while the file was read"),
    ]  # fmt: skip
    return [
        _figure(f"{view.name}-{ending}", title, f"{what}. {view.typical_words()}", found)
        for ending, title, found, what in made
        if found is not None
    ]


def _figure(name: str, title: str, caption: str, found: Lines) -> Figure:
    unit = numbers.TimeUnit([found.end_s])
    said = sentence(found)
    plot = picture(name, title, f"{caption} {said}", found, unit, found.end_s)
    note = " ".join([said, *notes(found, unit)])
    return Figure(name, title, caption, plot, legend([found]), table([("", found)]), note)


def picture(
    name: str, title: str, description: str, found: Lines, unit: numbers.TimeUnit, last_s: float
) -> Markup:
    """last_s: where the axis ends, for pictures that are compared."""
    count = min(max(_cells_of_all // max(len(found.lines), 1), _fewest_cells), _most_cells)
    ends = unit(found.end_s)
    items = [
        lanes.Lane(str(line.rank), _marks(line, last_s / count, unit), ends) for line in found.lines
    ]
    return lanes.lanes(
        name, title, description, items, unit(last_s), f"time in {unit.name}", "rank"
    )


def _marks(line: Line, width_s: float, unit: numbers.TimeUnit) -> list[lanes.Mark]:
    """In each cell of `width_s` the phase that has most of it; equal neighbours are one mark."""
    found = []
    place = 0
    for phase, run in groupby(cells(line, width_s), key=lambda cell: _most(cell, width_s)):
        inside = list(run)
        start, place = place, place + len(inside)
        if not phase:
            continue
        sums: dict[str, float] = {}
        for cell in inside:
            for name, seconds in cell.items():
                sums[name] = sums.get(name, 0.0) + seconds
        first, last = start * width_s, place * width_s
        told = sorted(sums.items(), key=lambda one: -one[1])[:_most_told]
        words = ", ".join(f"{name} {unit.text(seconds)}" for name, seconds in told)
        at = f"{numbers.digits(unit(first))} to {unit.text(last)}"
        tip = f"rank {line.rank}, {at}: {words}"
        found.append(lanes.Mark(unit(first), unit(last), phase_style(phase), tip))
    return found


def cells(line: Line, width_s: float) -> list[dict[str, float]]:
    """Seconds of each phase in every cell up to the end of the line."""
    found: list[dict[str, float]] = []
    for one in line.stretches:
        at = one.start_s
        while at < one.end_s:
            place = int(at / width_s)
            end = min(max((place + 1) * width_s, at), one.end_s)
            if end <= at:  # a cell whose end is rounded to its beginning
                place, end = place + 1, min((place + 2) * width_s, one.end_s)
            while len(found) <= place:
                found.append({})
            found[place][one.phase] = found[place].get(one.phase, 0.0) + end - at
            at = end
    return found


def _most(cell: dict[str, float], width_s: float) -> str:
    """Empty: most of it in no phase."""
    idle = width_s - sum(cell.values())
    name = max(cell, key=lambda one: cell[one], default="")
    return name if name and cell[name] >= idle else ""


def legend(all_lines: Sequence[Lines]) -> list[Key]:
    names = {name for found in all_lines for name in found.names()}
    keys = [
        Key(swatches.bar(phase_style(name)), phase_words(name))
        for name in sorted(names, key=phase_order)
    ]
    return [*keys, Key(swatches.idle(), "no phase: at a barrier, or between two calls")]


def notes(found: Lines, unit: numbers.TimeUnit) -> list[str]:
    """What was put together, left out or is not exact."""
    said = []
    if len(found.lines) < found.ranks:
        said.append(
            f"{len(found.lines)} of {grouped(found.ranks)} ranks: those that worked longest and "
            "shortest, some that wrote, and others, evenly spread."
        )
    coarse = max((line.resolution_s for line in found.lines), default=0.0)
    if coarse > 0:
        said.append(
            f"Short phases are put together: none is further than {unit.text(coarse)} from where "
            "it was."
        )
    if found.shifted_s > 0:
        shift = numbers.seconds(found.shifted_s)
        said.append(f"Clocks of different nodes may be {shift} apart.")
    return said


def table(groups: Sequence[tuple[str, Lines]]) -> Table:
    """A row for each rank; a name in front where there are several groups."""
    names = sorted({n for _name, found in groups for n in found.names()}, key=phase_order)
    named, counted = len(groups) > 1, any(found.bytes_done for _name, found in groups)
    columns = (
        *(("combination",) * named), "rank", *(("bytes written",) * counted),
        *(f"{name} (s)" for name in names), "no phase (s)",
    )  # fmt: skip
    rows: list[list[Cell]] = []
    for name, found in groups:
        for line in found.lines:
            sums = line.by_phase()
            idle = max(0.0, found.end_s - sum(sums.values()))
            head: list[Cell] = [name, line.rank] if named else [line.rank]
            if counted:
                head.append((found.bytes_done or {}).get(line.rank))
            rows.append([*head, *(sums.get(n, 0.0) for n in names), idle])
    return Table(columns, rows)
