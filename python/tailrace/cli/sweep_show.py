# SPDX-License-Identifier: Apache-2.0
"""Prints a sweep at the width of the terminal, 80 columns and more."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from tailrace.cli.output import Output, printable
from tailrace.sweep.data import Runs
from tailrace.sweep.experiment import Experiment
from tailrace.sweep.plan import Plan
from tailrace.sweep.ranking import Ranked, ranking, trusted_rounds
from tailrace.units import mebi, plural

_titles = {
    "durable": "durable total: create to synced close",
    "write": "time in write calls",
    "aggregate": "open, write and close, without the sync",
}


def show(output: Output, plan: Plan, runs: Runs, experiment: Experiment) -> None:
    ranked = ranking(runs)
    output.line(
        f"{plan.kernel}, {_titles[runs.metric]}; {plural(len(ranked), 'combination')}", "bold"
    )
    output.show(_table(ranked))
    for line in _words(ranked, runs):
        output.line(line)


def _table(ranked: list[Ranked]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    for title in ("", "s", "95 %", "MiB/s", "x best", "95 %", ""):
        table.add_column(title, justify="left" if title in {"", "95 %"} else "right", no_wrap=True)
    table.add_column("settings", overflow="fold")
    for one in ranked:
        against = one.against
        table.add_row(
            str(one.place), f"{one.median_s:.4g}", _interval(one.interval_s),
            f"{one.rate_bytes_per_s / mebi:.1f}",
            f"{against.value:.2f}" if against else "1",
            _interval(against.interval) if against else "",
            "=" if one.among_best else "",
            Text(printable(one.case.name)),
            style="bold" if one.place == 1 else "",
        )  # fmt: skip
    return table


def _interval(found: tuple[float, float] | None) -> str:
    return f"{found[0]:.3g}-{found[1]:.3g}" if found else ""


def _words(ranked: list[Ranked], runs: Runs) -> list[str]:
    best = sum(one.among_best for one in ranked)
    words = ["=: not to be told from the best"] if best > 1 else []
    fewest = min(len(one.case.values) for one in ranked)
    if fewest < trusted_rounds:
        words.append(
            f"note: {plural(fewest, 'repetition')} at the least; intervals of fewer than "
            f"{trusted_rounds} are too narrow"
        )
    if not runs.same_bytes:
        words.append("note: not all wrote the same bytes; times are for those of the first")
    return words


def as_json(plan: Plan, runs: Runs, experiment: Experiment, *, interrupted: bool) -> dict[str, Any]:
    return {
        "command": "sweep",
        "kernel": plan.kernel,
        "sweep": plan.sweep,
        "seed": plan.seed,
        "results": str(plan.results),
        "metric": runs.metric,
        "interrupted": interrupted,
        "factors": {one.name: [level.text for level in one.levels] for one in plan.factors},
        "ranking": [one.as_json() for one in ranking(runs)],
        "left_out": [{"name": one.combination.name, "why": one.why} for one in experiment.left_out],
        "dropped": [vars(one) for one in experiment.dropped],
    }
