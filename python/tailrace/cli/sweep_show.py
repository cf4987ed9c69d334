# SPDX-License-Identifier: Apache-2.0
"""Prints a sweep at the width of the terminal, 80 columns and more."""

from __future__ import annotations

import textwrap
from typing import Any

from rich.table import Table
from rich.text import Text

from tailrace.cli.many_runs import left_out_json, left_out_lines
from tailrace.cli.output import Output, printable
from tailrace.sweep.data import Runs
from tailrace.sweep.experiment import Experiment
from tailrace.sweep.findings import Findings, interaction_words
from tailrace.sweep.plan import Combination, Plan
from tailrace.sweep.ranking import Ranked, trusted_rounds
from tailrace.units import mebi, plural

_most_interactions = 5
_titles = {
    "durable": "durable total: create to synced close",
    "write": "time in write calls",
    "aggregate": "open, write and close, without the sync",
}


def show(output: Output, plan: Plan, found: Findings, experiment: Experiment) -> None:
    ranked, runs = found.ranked, found.runs
    many = plural(len(ranked), "combination")
    output.line(f"{plan.kernel}, {_titles[runs.metric]}; {many}", "bold")
    output.show(_table(ranked))
    for line in _words(ranked, runs):
        wrapped(output, line)
    _show_list(output, "What each value costs, and why", [one.text for one in found.explanations])
    if found.effects.unpaired:
        names = ", ".join(f"{factor}={level}" for factor, level in found.effects.unpaired)
        wrapped(output, f"note: no two combinations that ran differ in one of these alone: {names}")
    together = [interaction_words(one) for one in found.effects.together]
    _show_list(output, "Two together", together[:_most_interactions])
    if len(together) > _most_interactions:
        output.line(f"and {len(together) - _most_interactions} more (--json has all)")
    _show_list(output, "Left out", left_out_lines(experiment.left_out))
    _show_list(
        output, "Given up",
        [f"{one.name}, after round {one.round}: {one.why}" for one in experiment.dropped],
    )  # fmt: skip
    _show_list(output, "Not tried", _untried_lines(plan, experiment.not_tried()))


def _untried_lines(plan: Plan, untried: list[Combination]) -> list[str]:
    """How many, and the values of which nothing is known at all."""
    if not untried:
        return []
    many = f"{len(untried)} of {len(plan.combinations)} combinations"
    lines = [f"{many}: the budget was over; the best may be among them"]
    tried = {one.name for one in plan.combinations} - {one.name for one in untried}
    for at, factor in enumerate(plan.factors):
        seen = {one.places[at] for one in plan.combinations if one.name in tried}
        never = [level.text for place, level in enumerate(factor.levels) if place not in seen]
        if never:
            lines.append(f"never {factor.name}={', '.join(never)}")
    return lines


def _show_list(output: Output, title: str, lines: list[str]) -> None:
    if lines:
        output.line()
        output.line(title, "bold")
    for line in lines:
        wrapped(output, line, "  ")


def wrapped(output: Output, text: str, indent: str = "") -> None:
    """Lines of the terminal's width; later ones are set in."""
    lines = textwrap.wrap(
        printable(text), max(output.width, 40), initial_indent=indent,
        subsequent_indent=indent + "  ", break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    for line in lines:
        output.line(line)


def _table(ranked: list[Ranked]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    stalls = all(one.stall_s is not None for one in ranked)
    titles = ["", "s", "95 %", "MiB/s", "x best", "95 %", "", *(["stall, s"] if stalls else [])]
    for title in titles:
        table.add_column(title, justify="left" if title in {"", "95 %"} else "right", no_wrap=True)
    table.add_column("settings", overflow="fold")
    for one in ranked:
        against = one.against
        table.add_row(
            str(one.place), f"{one.median_s:.3g}", _interval(one.interval_s),
            f"{one.rate_bytes_per_s / mebi:.4g}",
            f"{against.value:.2f}" if against else "1",
            _interval(against.interval) if against else "",
            {True: "=", None: "?", False: ""}[one.among_best],
            *([f"{one.stall_s:.3g}"] if stalls else []),
            Text(printable(one.case.shown)),
            style="bold" if one.place == 1 else "",
        )  # fmt: skip
    return table


def _interval(found: tuple[float, float] | None) -> str:
    return f"{found[0]:.3g}-{found[1]:.3g}" if found else ""


def _words(ranked: list[Ranked], runs: Runs) -> list[str]:
    marks = [one.among_best for one in ranked]
    words = ["=: not to be told from the best"] if marks.count(True) > 1 else []
    words += ["?: too few repetitions to tell"] if None in marks else []
    fewest = min(len(one.case.values) for one in ranked)
    if fewest < trusted_rounds:
        words.append(
            f"note: some have {plural(fewest, 'repetition')} only; below {trusted_rounds} nothing "
            "is told from the best, and the table has no intervals"
        )
    words += [
        f"note: {one.name} wrote wrong data in a run that was read back; it is not ranked"
        for one in runs.wrong
    ]
    if not runs.same_bytes:
        words.append("note: not all wrote the same bytes; times are for those of the first")
    return words


def as_json(plan: Plan, found: Findings, experiment: Experiment) -> dict[str, Any]:
    return {
        "command": "sweep",
        "kernel": plan.kernel,
        "sweep": plan.sweep,
        "seed": plan.seed,
        "results": str(plan.results),
        "metric": found.runs.metric,
        "factors": {one.name: [level.text for level in one.levels] for one in plan.factors},
        **found.as_json(),
        "left_out": left_out_json(experiment.left_out),
        "dropped": [vars(one) for one in experiment.dropped],
        "not_tried": [one.name for one in experiment.not_tried()],
    }
