# SPDX-License-Identifier: Apache-2.0
"""The plots of a sweep: the ranking, what each value costs, two factors together, the phases."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tailrace import statistics
from tailrace.report import numbers, swatches
from tailrace.report.known_phases import phase_order, phase_style, phase_words
from tailrace.report.many.lines import beside
from tailrace.report.model import Cell, Figure, Key, Table
from tailrace.report.plots import bars, heat
from tailrace.results import Record
from tailrace.results.model import off_the_clock
from tailrace.sweep.data import Case, runs_of
from tailrace.sweep.findings import Findings, findings, interaction_words
from tailrace.sweep.ranking import Ranked
from tailrace.units import plural

_most_rows = 24
_most_effects = 24
_most_stacks = 16
_least_share = 0.01


def sweep_figures(records: Sequence[Record]) -> list[Figure]:
    """Nothing where no run ended well."""
    runs = runs_of(records)
    if not runs.measured:
        return []
    found = findings(runs)
    figures = [_ranked(found), _effects(found), _two(found), _phases(found), beside(found)]
    return [figure for figure in figures if figure is not None]


def _ranked(found: Findings) -> Figure:
    unit = numbers.TimeUnit(max(one.case.values) for one in found.ranked)
    rows = [_row(one, unit) for one in found.ranked[:_most_rows]]
    names = ", ".join(one.name for one in found.ranked[0].case.settings)
    caption = (
        f"Durable total of each combination of {names}, the fastest on top: median, bootstrap "
        "interval, every repetition. x: by the best in the same rounds."
    )
    if found.runs.wrong:
        wrong = ", ".join(one.name for one in found.runs.wrong)
        caption += f" Not ranked, since it wrote wrong data in a run that was read back: {wrong}."
    legend = [
        Key(swatches.bar("s-durable"), "not to be told from the best"),
        Key(swatches.bar("s-rest"), "slower than the best, or too few repetitions to tell"),
        Key(swatches.whisker(), "95 % bootstrap interval of the median (from six repetitions on)"),
        Key(swatches.point("circle", "single"), "single repetitions"),
    ]
    table = Table(
        ("place", "combination", "repetitions", "median (s)", "from", "to", "x best", "from", "to",
         "MiB/s", "among the best"),
        [_ranked_row(one) for one in found.ranked],
    )  # fmt: skip
    return _lying("sweep-ranked", "The combinations, ranked", caption, rows, unit, legend, table)


def _lying(
    name: str, title: str, caption: str, rows: Sequence[bars.Row], unit: numbers.TimeUnit,
    legend: list[Key], table: Table,
) -> Figure:  # fmt: skip
    said = "; ".join(f"{row.name}: {row.words}" for row in rows)
    plot = bars.lying(name, title, f"{caption} {said}.", rows, unit.name)
    count = len(table.rows)
    note = f"The first {len(rows)} of {count} are drawn; the table has all." * (len(rows) < count)
    return Figure(name, title, caption, plot, legend, table, note)


def _row(one: Ranked, unit: numbers.TimeUnit) -> bars.Row:
    low, high = one.interval_s or (None, None)
    times = f", {one.against.value:.2f} x" if one.against else ""
    return bars.Row(
        f"{one.place}  {_label(one)}",
        unit.text(one.median_s) + times, unit(one.median_s),
        None if low is None else unit(low), None if high is None else unit(high),
        [unit(value) for value in one.case.values], None,
        f"{one.case.shown}: {unit.text(one.median_s)} of {len(one.case.values)}",
        "s-durable" if one.among_best else "s-rest",
    )  # fmt: skip


def _label(one: Ranked) -> str:
    kept = [each.value for each in one.case.settings if each.name not in one.case.without]
    return ", ".join(kept or [one.case.name]) + " (default)" * one.case.default


def _ranked_row(one: Ranked) -> list[Cell]:
    against = one.against
    interval: Sequence[float | None] = (against and against.interval) or (None, None)
    return [
        one.place, one.case.shown, len(one.case.values), one.median_s,
        *(one.interval_s or (None, None)), against.value if against else 1.0, *interval,
        one.rate_bytes_per_s / numbers.mebi,
        {True: "yes", None: "not known", False: "no"}[one.among_best],
    ]  # fmt: skip


def _effects(found: Findings) -> Figure | None:
    """None where nothing can be paired."""
    alone = found.effects.alone[:_most_effects]
    if not alone:
        return None
    items, rows = [], []
    for one, why in zip(alone, found.explanations, strict=False):
        value = one.ratio.value
        interval: Sequence[float | None] = one.ratio.interval or (None, None)
        name = f"{one.factor}={one.level}"
        tip = f"{name} by {one.base}: {value:.2f}"
        if one.ratio.interval:
            tip += f" ({one.ratio.interval[0]:.2f} to {one.ratio.interval[1]:.2f})"
        items.append(bars.Range(name, interval[0] or value, value, interval[1] or value, tip))
        row: list[Cell] = [
            one.factor, one.level, one.base, value, *interval, len(one.pairs), why.text
        ]  # fmt: skip
        rows.append(row)
    title = "What each value costs"
    caption = (
        "Time with the value by the time with the fastest value of the same factor, between "
        "combinations and runs that differ in nothing else; at the line both are the same."
    )
    columns = ("factor", "value", "against", "ratio", "from", "to", "combinations", "why")
    legend = [
        Key(
            swatches.range_with_mean("s-durable"),
            "ratio and its 95 % interval (from six pairs of runs on)",
        )
    ]
    legend += [Key(swatches.point("circle", "s-durable"), one.text) for one in found.explanations]
    said = "; ".join(item.tip for item in items)
    plot = bars.ranges(
        "sweep-effects", title, f"{caption} {said}.", items, "x the fastest value", "s-durable",
        reference=1.0,
    )  # fmt: skip
    return Figure("sweep-effects", title, caption, plot, legend, Table(columns, rows))


def _two(found: Findings) -> Figure | None:
    """The two factors of the greatest interaction, else those of the greatest effects."""
    pair = _pair(found)
    if pair is None:
        return None
    down, across = pair
    rows, columns = found.effects.levels[down], found.effects.levels[across]
    best = found.ranked[0].median_s
    # As the ranking has them: two figures for the same would be one too many.
    ratios = {one.case.name: one.against.value if one.against else one.median_s / best
              for one in found.ranked}  # fmt: skip
    cells, table = [], []
    for row in rows:
        line: list[heat.Cell] = []
        for column in columns:
            cases = _with(found.runs.measured, {down: row, across: column})
            value = _mean([ratios[case.name] for case in cases]) if cases else None
            words = f"{value:.2f} x" if value is not None else numbers.missing
            line.append(heat.Cell(value, words, f"{down}={row}, {across}={column}: {words}"))
        cells.append(line)
        table.append([row, *(cell.value for cell in line)])
    together = [one for one in found.effects.together if {one.factor, one.other} == {down, across}]
    title = f"{down} and {across} together"
    caption = (
        "Time by that of the best combination in the same rounds; mean over all other factors."
    )
    note = "; ".join(interaction_words(one) for one in together) or _no_interaction(found, pair)
    legend = [Key(swatches.bar(f"heat h{step}"), text) for step, text in (
        (0, "fastest fifth of this scale"), (4, "slowest fifth"))]  # fmt: skip
    tips = "; ".join(cell.tip for line in cells for cell in line)
    plot = heat.heat("sweep-two", title, f"{caption} {tips}.", rows, columns, cells, (down, across))
    numbers_of_it = Table((down, *columns), table)
    return Figure("sweep-two", title, caption, plot, legend, numbers_of_it, f"{note}.")


def _no_interaction(found: Findings, pair: tuple[str, str]) -> str:
    if frozenset(pair) not in found.effects.crossed:
        return "No two values of each ran beside each other: nothing is known of them together"
    if frozenset(pair) not in found.effects.told:
        return "Too few runs to tell whether they do something else together than apart"
    return "No interaction beyond noise, which is no proof that there is none"


def _pair(found: Findings) -> tuple[str, str] | None:
    if found.effects.together:
        first = found.effects.together[0]
        return first.factor, first.other
    factors = list(dict.fromkeys(one.factor for one in found.effects.alone))
    factors += [name for name in found.effects.levels if name not in factors]
    return (factors[0], factors[1]) if len(factors) > 1 else None


def _with(cases: Sequence[Case], wanted: dict[str, str]) -> list[Case]:
    return [
        case for case in cases
        if wanted.items() <= {one.name: one.value for one in case.settings}.items()
    ]  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _phases(found: Findings) -> Figure:
    """Of every combination, of the rank that the others waited for."""
    ranked = found.ranked
    times = [_phase_medians(one.case) for one in ranked]
    names = sorted({name for one in times for name in one}, key=phase_order)
    longest = max(sum(one.values()) for one in times)
    names = [n for n in names if max(one.get(n, 0.0) for one in times) > _least_share * longest]
    unit = numbers.TimeUnit(sum(one.values()) for one in times)
    stacks = [
        bars.Bar(str(one.place), [
            bars.Part(unit(parts.get(name, 0.0)), phase_style(name),
                      f"{one.case.shown}: {name} {unit.text(parts.get(name, 0.0))}")
            for name in names
        ])
        for one, parts in zip(ranked[:_most_stacks], times, strict=False)
    ]  # fmt: skip
    title = "Where the time goes"
    caption = (
        "Time of the rank that the others waited for, phase upon phase in the order in which a run "
        "passes them, median over the repetitions. How far ranks differ is in their time lines, "
        "and in the sections."
    )
    legend = [Key(swatches.bar(phase_style(name)), phase_words(name)) for name in names]
    rows: list[list[Cell]] = [
        [one.place, one.case.shown, *(parts.get(name, 0.0) for name in names)]
        for one, parts in zip(ranked, times, strict=True)
    ]  # fmt: skip
    drawn, count = len(stacks), len(ranked)
    note = f"The first {drawn} of {count} are drawn; the table has all." * (drawn < count)
    plot = bars.upright(
        "sweep-phases", title, f"{caption} {plural(drawn, 'combination')}.", stacks,
        "place in the ranking", unit.name,
    )  # fmt: skip
    columns = ("place", "combination", *(f"{name} (s)" for name in names))
    return Figure("sweep-phases", title, caption, plot, legend, Table(columns, rows), note)


def _phase_medians(case: Case) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for record in case.records:
        for name, seconds in record.path().items():
            if name not in off_the_clock:
                found.setdefault(name, []).append(seconds)
    return {name: statistics.median(values) for name, values in found.items()}
