# SPDX-License-Identifier: Apache-2.0
"""`tailrace sweep`: what is said before, during and after the runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.cli.output import Output
from tailrace.cli.rounds_display import rounds_display
from tailrace.cli.sweep_show import as_json, show
from tailrace.errors import ExitCode, TailraceError, did_you_mean
from tailrace.run.kernels import kernels
from tailrace.run.variant import gathered
from tailrace.sweep.check import Checked, check
from tailrace.sweep.data import metrics
from tailrace.sweep.experiment import Experiment
from tailrace.sweep.findings import findings
from tailrace.sweep.plan import Plan, make_plan
from tailrace.sweep.resume import last_sweep
from tailrace.units import plural, span, span_of


@dataclass(frozen=True)
class Asked:
    """The command line."""

    kernel: str
    program: Path
    words: Sequence[str]
    vary: Sequence[str]
    repeat: int
    budget: str
    seed: int | None
    resume: bool
    metric: str
    ranks: int | None
    launcher: str
    dry_run: bool


def sweep_runs(output: Output, asked: Asked) -> int:
    """Exit code: 130 after an interrupt, 1 where it ended early, else 0."""
    plan, budget_s = _planned(output, asked)
    with output.progress("looking at the combinations") as meter:
        checked = check(plan, meter)
    _say_left_out(output, checked)
    if asked.dry_run:
        return _show_plan(output, asked, plan, checked, budget_s)
    output.note(_intention(asked, checked, budget_s))
    code, ended = ExitCode.OK, None
    with rounds_display(output) as display:
        experiment = Experiment(
            plan, checked, asked.metric, asked.repeat, budget_s=budget_s, say=display.say,
            tell=display.tell,
        )  # fmt: skip
        try:
            experiment.run()
        except KeyboardInterrupt:
            code = ExitCode.INTERRUPTED
        except TailraceError as error:
            code, ended = error.code, error
    runs = experiment.runs()
    if code and runs.measured:
        output.note("ended early: what follows is of the runs so far; --resume goes on with them")
    if runs.measured:
        found = findings(runs)
        show(output, plan, found, experiment)
        output.json(as_json(plan, found, experiment, interrupted=code == ExitCode.INTERRUPTED))
    if ended is not None:
        if not runs.measured:
            raise ended
        output.error(ended)
    return int(code)


def _planned(output: Output, asked: Asked) -> tuple[Plan, float | None]:
    if asked.metric not in metrics:
        raise TailraceError(
            f'there is no metric "{asked.metric}".{did_you_mean(asked.metric, metrics)}',
            where="--metric", hint="durable, write or aggregate",
        )  # fmt: skip
    if not asked.vary:
        raise TailraceError(
            "what shall vary?", where="sweep",
            hint="for example --vary collective=on,off --vary cb_nodes=1,2",
        )  # fmt: skip
    budget_s = span_of(asked.budget, "--budget") if asked.budget else None
    words = _with_geometry(output, asked)
    plan = make_plan(
        asked.kernel, asked.program, words, asked.vary, ranks=asked.ranks,
        launcher=asked.launcher, seed=asked.seed,
    )  # fmt: skip
    if asked.resume:
        sweep = last_sweep(plan)
        if sweep is None:
            output.note(f"{plan.results} holds no such sweep; a new one is begun")
        else:
            plan = plan.resumed(sweep)
            output.note(f"going on with {sweep}")
    for note in dict.fromkeys(n for one in plan.combinations for n in one.variant.launch.notes):
        output.note(note)
    return plan, budget_s


def _with_geometry(output: Output, asked: Asked) -> list[str]:
    """Without any geometry a small one, and it is said."""
    geometry = kernels[asked.kernel].geometry
    varied = {text.partition("=")[0] for text in asked.vary}
    given = gathered([*asked.words, "results=results.jsonl"]).settings.keys() | varied
    if given & geometry.keys():
        return list(asked.words)
    words = [f"{key}={value}" for key, value in geometry.items()]
    output.note(f"no geometry is given: {' '.join(words)}")
    return [*words, *asked.words]


def _say_left_out(output: Output, checked: Checked) -> None:
    for one in checked.left_out:
        output.note(f"{one.combination.name} is left out because: {one.why}")


def _intention(asked: Asked, checked: Checked, budget_s: float | None) -> str:
    count = len(checked.runnable)
    each = plural(asked.repeat, "repetition")
    text = f"{plural(count, 'combination')}, a warm-up and {each} of each"
    if budget_s is not None:
        text += f" as far as they go in {span(budget_s)}"
    return f"{text}: up to {plural(count * (asked.repeat + 1), 'run')}"


def _show_plan(
    output: Output, asked: Asked, plan: Plan, checked: Checked, budget_s: float | None
) -> int:
    """The estimate is a start of the program, which was measured, and the bytes at an assumed
    rate."""
    folder = Path("FRESH")
    commands = {
        one.name: one.variant.command(plan.program, folder, folder / "results.jsonl")
        for one in checked.runnable
    }
    environments = {one.name: one.variant.launch.environment for one in checked.runnable}
    for name, command in commands.items():
        settings = [f"{key}={value}" for key, value in environments[name].items()]
        output.line(f"{name}:")
        output.line(f"  {shlex.join([*settings, *command])}")
    seconds = estimate_s(checked, asked.repeat)
    output.line(_intention(asked, checked, budget_s))
    output.line(
        f"about {span(seconds)}: {checked.start_s:.1f} s for each start (measured), and the bytes "
        f"at {assumed_mib_per_s} MiB/s (assumed)"
    )
    output.line(f"FRESH: a folder of its own for every run. Records: {plan.results}")
    output.json({
        "command": "sweep", "dry_run": True, "argv": commands, "environment": environments,
        "left_out": [{"name": one.combination.name, "why": one.why} for one in checked.left_out],
        "runs": len(commands) * (asked.repeat + 1), "estimate_s": seconds, "budget_s": budget_s,
        "results": str(plan.results),
    })  # fmt: skip
    return 0


assumed_mib_per_s = 200


def estimate_s(checked: Checked, repeat: int) -> float:
    each = [
        checked.start_s + checked.logical_bytes[one.name] / (assumed_mib_per_s * 2**20)
        for one in checked.runnable
    ]
    return sum(each) * (repeat + 1)
