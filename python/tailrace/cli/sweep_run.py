# SPDX-License-Identifier: Apache-2.0
"""`tailrace sweep`: from the command line to the ranking."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tailrace.cli import many_runs
from tailrace.cli.output import Output
from tailrace.cli.report_command import write_report
from tailrace.cli.rounds_display import rounds_display
from tailrace.cli.sweep_show import as_json, show, wrapped
from tailrace.errors import ExitCode, TailraceError
from tailrace.sweep.findings import Findings, findings
from tailrace.sweep.plan import Plan, make_plan
from tailrace.sweep.proof import Proof, prove
from tailrace.sweep.recommend import check_folder, write_recommended
from tailrace.units import span_of


@dataclass(frozen=True)
class SweepAsked(many_runs.Asked):
    vary: Sequence[str]
    budget: str
    ranks: int | None
    folder: Path | None


def sweep_runs(output: Output, asked: SweepAsked) -> int:
    """Exit code: 130 after an interrupt, 1 where it ended early, else 0."""
    plan, budget_s = _planned(output, asked)
    started = time.monotonic()
    checked = many_runs.looked_at(output, plan)
    if budget_s is not None:
        budget_s = max(budget_s - (time.monotonic() - started), 0.0)
    if asked.dry_run:
        return many_runs.show_plan(output, "sweep", asked, plan, checked, budget_s)
    made = many_runs.make_runs(output, asked, plan, checked, budget_s)
    proof = None
    if asked.folder is not None and made.runs.measured:
        made, proof = _proved(output, plan, made)
    if made.runs.measured:
        found = findings(made.runs)
        show(output, plan, found, made.experiment)
        files = _take_along(output, asked, plan, found, proof)
        write_report(output, asked.report, plan.selection())
        more = {
            "interrupted": made.code == ExitCode.INTERRUPTED, "output": files,
            "verification": vars(proof) if proof else None,
        }  # fmt: skip
        output.json({**as_json(plan, found, made.experiment), **more})
    if made.error is not None:
        output.error(made.error)
    return int(made.code)


def _proved(output: Output, plan: Plan, made: many_runs.Made) -> tuple[many_runs.Made, Proof]:
    """Settings that are taken along must write right data."""
    if made.code:
        return made, Proof(0, "the sweep ended early")
    proof = Proof(0, "that ended early")
    with rounds_display(output) as display:

        def proving() -> None:
            nonlocal proof
            found = made.experiment
            proof = prove(
                plan, made.runs, found.left_out, found.told, say=display.say, tell=display.tell
            )

        code, error = many_runs.until_ended(proving)
    return replace(made, code=code, error=error), proof


def _planned(output: Output, asked: SweepAsked) -> tuple[Plan, float | None]:
    many_runs.check_asked(asked)
    if asked.folder is not None:
        check_folder(asked.folder, asked.kernel)
    if not asked.vary:
        raise TailraceError(
            "what shall vary?", where="sweep",
            hint="for example --vary collective=on,off --vary cb_nodes=1,2",
        )  # fmt: skip
    budget_s = span_of(asked.budget, "--budget") if asked.budget else None
    plan = make_plan(
        asked.kernel, asked.program, many_runs.with_geometry(output, asked, asked.vary), asked.vary,
        ranks=asked.ranks, launcher=asked.launcher, seed=asked.seed,
    )  # fmt: skip
    return many_runs.begun(output, asked, plan), budget_s


def _take_along(
    output: Output, asked: SweepAsked, plan: Plan, found: Findings, proof: Proof | None
) -> list[str]:
    if asked.folder is None or proof is None:
        return []
    files = write_recommended(asked.folder, plan, found, proof)
    output.line()
    output.line(f"settings of the best: {', '.join(map(str, files))}")
    wrapped(output, proof.text)
    return [str(file) for file in files]
