# SPDX-License-Identifier: Apache-2.0
"""`tailrace compare --run`: what is said before, during and after the runs."""

from __future__ import annotations

import shlex
from pathlib import Path

from tailrace import statistics
from tailrace.cli.compare_show import print_analysis
from tailrace.cli.output import Output
from tailrace.compare.plan import Plan, check_inputs
from tailrace.compare.rounds import Experiment


def compare_runs(output: Output, plan: Plan, metric: str, *, dry_run: bool) -> int:
    """Exit code: of a program that does not like its inputs, else 0."""
    for note in dict.fromkeys([*plan.a.launch.notes, *plan.b.launch.notes]):
        output.note(note)
    code = check_inputs(plan)
    if code:
        return code
    if dry_run:
        return _show_plan(output, plan)
    found = Experiment(plan, metric, output.note).run()
    return print_analysis(output, found, comparison_id=plan.comparison, results=str(plan.results))


def _show_plan(output: Output, plan: Plan) -> int:
    folder = Path("FRESH")
    commands = {
        name: plan.command(variant, folder, folder / "results.jsonl")
        for name, variant in (("A", plan.a), ("B", plan.b))
    }
    for name, command in commands.items():
        output.line(f"{name}: {shlex.join(command)}")
    looks = statistics.looks
    output.line(
        f"a warm-up of each; A against A, {looks[0]} pairs; then A and B in turns, a verdict at "
        f"{', '.join(map(str, looks))} pairs. FRESH: a folder of its own for every run"
    )
    output.line(f"Records: {plan.results}")
    output.json({"command": "compare", "dry_run": True, "argv": commands,
                 "results": str(plan.results)})  # fmt: skip
    return 0
