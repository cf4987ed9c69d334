# SPDX-License-Identifier: Apache-2.0
"""`tailrace scale`: from the command line to the curve."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from tailrace.cli import many_runs
from tailrace.cli.output import Output
from tailrace.cli.report_command import write_report
from tailrace.cli.sweep_show import wrapped
from tailrace.errors import ExitCode
from tailrace.scale.curve import Point
from tailrace.scale.model import Model, NoModel
from tailrace.scale.plan import ScalePlan, make_scale_plan, ranks_of
from tailrace.scale.scaling import Scaling, scaling
from tailrace.sweep.ranking import trusted_rounds
from tailrace.units import mebi


def scale_runs(output: Output, asked: many_runs.Asked, ranks: str, mode: str) -> int:
    """Exit code: 130 after an interrupt, 1 where it ended early, else 0."""
    many_runs.check_asked(asked)
    words = many_runs.with_geometry(output, asked, ["processor"])
    plan = make_scale_plan(
        asked.kernel, asked.program, words, ranks_of(ranks), mode, launcher=asked.launcher,
        seed=asked.seed,
    )  # fmt: skip
    for count, one in plan.placed.items():
        if one.note:
            output.note(f"ranks={count}: {one.note}")
    plan = plan.named_as(many_runs.begun(output, asked, plan.plan))
    checked = many_runs.looked_at(output, plan.plan)
    if asked.dry_run:
        return many_runs.show_plan(output, "scale", asked, plan.plan, checked)
    made = many_runs.make_runs(output, asked, plan.plan, checked)
    if made.runs.measured:
        found = scaling(made.runs, mode)
        _show(output, plan, found)
        write_report(output, asked.report, plan.plan.selection())
        output.json({
            **_facts(plan, found), "interrupted": made.code == ExitCode.INTERRUPTED,
            "left_out": many_runs.left_out_json(made.experiment.left_out),
        })  # fmt: skip
    if made.error is not None:
        output.error(made.error)
    return int(made.code)


def _show(output: Output, plan: ScalePlan, found: Scaling) -> None:
    output.line(f"{plan.plan.kernel}, {found.mode} scaling, {found.runs.metric} time", "bold")
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    for title in ("ranks", "blocks", "s", "95 %", "MiB/s", "effic.", "95 %", ""):
        left = title in {"blocks", "95 %", ""}
        table.add_column(title, justify="left" if left else "right", no_wrap=True)
    for point in found.points:
        table.add_row(*_row(plan, point))
    output.show(table)
    if any(point.oversubscribed for point in found.points):
        output.line("*: more ranks than cores, left out of the model")
    for line in _model_words(found):
        wrapped(output, line)


def _row(plan: ScalePlan, point: Point) -> list[str]:
    placed = plan.placed.get(point.ranks)
    return [
        str(point.ranks), placed.shape if placed else "",
        f"{point.median_s:.3g}", _range(point.interval_s),
        f"{point.rate_bytes_per_s / mebi:.4g}", f"{point.efficiency:.2f}",
        _range(point.efficiency_interval), "*" if point.oversubscribed else "",
    ]  # fmt: skip


def _range(found: tuple[float, float] | None) -> str:
    return f"{found[0]:.3g}-{found[1]:.3g}" if found else ""


def _model_words(found: Scaling) -> list[str]:
    model = found.model
    if isinstance(model, NoModel):
        return [f"no model: {model.why}"]
    parts = ", ".join(
        f"{name} {low:.3g} to {high:.3g}" for name, (low, high) in model.intervals.items()
    )
    quality = f"within {model.worst * 100:.0f} % of every point"
    if not model.describes:
        return [f"model: {model.text()} does not describe these points ({quality})"]
    sure = f"95 %: {parts} s" if parts else f"intervals from {trusted_rounds} rounds on"
    words = [f"model: {model.text()}; {sure}; {quality}"]
    for one in model.beyond:
        interval = one.interval_s
        within = f" ({interval[0]:.3g} to {interval[1]:.3g} s)" if interval else ""
        words.append(f"extrapolated, not measured: {one.ranks} ranks {one.seconds:.3g} s{within}")
    return words


def _facts(plan: ScalePlan, found: Scaling) -> dict[str, Any]:
    model = found.model
    return {
        "command": "scale", "kernel": plan.plan.kernel, "mode": found.mode,
        "scaling": plan.plan.sweep, "seed": plan.plan.seed, "results": str(plan.plan.results),
        "metric": found.runs.metric, "points": [one.as_json() for one in found.points],
        "model": model.as_json() if isinstance(model, Model) else None,
        "no_model": model.why if isinstance(model, NoModel) else None,
        "notes": {count: one.note for count, one in plan.placed.items() if one.note},
    }  # fmt: skip
