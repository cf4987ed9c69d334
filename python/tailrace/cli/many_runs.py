# SPDX-License-Identifier: Apache-2.0
"""What `sweep` and `scale` do alike: look at what is to be run, run it, say how it goes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.cli.output import Output
from tailrace.cli.rounds_display import rounds_display
from tailrace.errors import ExitCode, TailraceError
from tailrace.run.kernels import kernels
from tailrace.run.variant import gathered
from tailrace.sweep.check import Checked, LeftOut, check
from tailrace.sweep.data import Runs
from tailrace.sweep.experiment import Experiment
from tailrace.sweep.plan import Plan
from tailrace.sweep.resume import last_sweep
from tailrace.units import plural, span

_assumed_mib_per_s = 200
_most_left_out = 12


@dataclass(frozen=True)
class Asked:
    """What the command line has in common."""

    kernel: str
    program: Path
    words: Sequence[str]
    repeat: int
    seed: int | None
    resume: bool
    metric: str
    launcher: str
    dry_run: bool
    report: Path | None


@dataclass(frozen=True)
class Made:
    """error: why the runs ended early; code: the exit code that follows."""

    experiment: Experiment
    runs: Runs
    code: ExitCode
    error: TailraceError | None


def check_asked(asked: Asked) -> None:
    """Raises TailraceError for what no run is needed to find out."""
    if asked.report is not None:
        from tailrace.report.store import check_target

        check_target(asked.report)


def with_geometry(output: Output, asked: Asked, vary: Sequence[str]) -> list[str]:
    """Without any geometry a small one, and it is said. vary: NAME=A,B texts, or names."""
    kernel = kernels[asked.kernel]
    settings = gathered([*asked.words, "results=results.jsonl"], kernel).settings
    varied = {text.partition("=")[0]: text.partition("=")[2] for text in vary}
    places = any(word.isdigit() for word in asked.words)  # tailrace-slab N1 N2 T|F
    if places or (settings.keys() | varied.keys()) & kernel.geometry.keys():
        return list(asked.words)
    chunks = [settings.get("chunk", ""), *varied.get("chunk", "").split(",")]
    geometry = holding(kernel.geometry, chunks)
    words = [f"{key}={value}" for key, value in geometry.items()]
    output.note(f"no geometry is given: {' '.join(words)}")
    return [*words, *asked.words]


def holding(geometry: Mapping[str, str], chunks: Sequence[str]) -> dict[str, str]:
    """The geometry with a domain so large that each of the chunks fits into a time step. A text
    that is no chunk is for the kernel to refuse."""
    if "domain" not in geometry:
        return dict(geometry)
    grid, domain = (_numbers(geometry[key]) for key in ("processor", "domain"))
    for text in chunks:
        chunk = _numbers(text)
        if len(chunk) == len(domain):
            domain = [max(d, -(-c // p)) for d, c, p in zip(domain, chunk, grid, strict=True)]
    return {**geometry, "domain": "x".join(map(str, domain))}


def _numbers(text: str) -> list[int]:
    parts = text.replace("x", " ").split()
    return [int(part) for part in parts] if all(part.isdigit() for part in parts) else []


def begun(output: Output, asked: Asked, plan: Plan) -> Plan:
    """With --resume the last such one in the results file."""
    for note in dict.fromkeys(n for one in plan.combinations for n in one.variant.launch.notes):
        output.note(note)
    if not asked.resume:
        return plan
    last = last_sweep(plan)
    if last is None:
        output.note(f"{plan.results} holds no such run; a new one begins")
        return plan
    output.note(f"going on with {last}")
    return plan.resumed(last)


def looked_at(output: Output, plan: Plan) -> Checked:
    """The kernel's word on every combination."""
    with rounds_display(output) as display:
        checked = check(plan, display.tell)
    for line in left_out_lines(checked.left_out, " is left out because"):
        output.note(line)
    return checked


def left_out_lines(left_out: Sequence[LeftOut], joint: str = "") -> list[str]:
    """One for each reason, with the first of those that it holds for."""
    by_reason: dict[str, list[LeftOut]] = {}
    for one in left_out:
        by_reason.setdefault(one.reason, []).append(one)
    lines = []
    for reason, those in by_reason.items():
        name = those[0].combination.name
        if len(those) > 1:
            lines.append(f"{name} and {len(those) - 1} more{_plural(joint)}: {reason}")
        else:
            lines.append(f"{name}{joint}: {those[0].why}")
    more = len(lines) - _most_left_out
    return [*lines[:_most_left_out], *([f"and {more} more (--json has all)"] if more > 0 else [])]


def _plural(words: str) -> str:
    return words.replace(" is ", " are ")


def make_runs(
    output: Output, asked: Asked, plan: Plan, checked: Checked, budget_s: float | None = None
) -> Made:
    """Raises TailraceError where nothing was measured."""
    output.note(_intention(asked, checked, budget_s))
    with rounds_display(output) as display:
        experiment = Experiment(
            plan, checked, asked.metric, asked.repeat, budget_s=budget_s, say=display.say,
            tell=display.tell,
        )  # fmt: skip
        code, ended = until_ended(experiment.run)
    runs = experiment.runs()
    if ended is not None and not runs.measured:
        raise ended
    if code:
        output.note("ended early: the results below are of the runs so far; --resume continues")
    return Made(experiment, runs, code, ended)


def until_ended(runs: Callable[[], object]) -> tuple[ExitCode, TailraceError | None]:
    """How they ended: OK, or why early; the Records so far are kept."""
    try:
        runs()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED, None
    except TailraceError as error:
        return error.code, error
    return ExitCode.OK, None


def _intention(asked: Asked, checked: Checked, budget_s: float | None) -> str:
    count = len(checked.runnable)
    each = plural(asked.repeat, "repetition")
    text = f"{plural(count, 'combination')}, a warm-up and {each} of each"
    if budget_s is not None:
        text += f" as far as they go in {span(budget_s)}"
    return f"{text}: up to {plural(count * (asked.repeat + 1), 'run')}"


def show_plan(
    output: Output, command: str, asked: Asked, plan: Plan, checked: Checked,
    budget_s: float | None = None,
) -> int:  # fmt: skip
    """The estimate is a start of the program, which was measured, and the bytes at an assumed
    rate."""
    folder = Path("FRESH")
    argv = {
        one.name: one.variant.command(plan.program, folder, folder / "results.jsonl")
        for one in checked.runnable
    }
    environments = {one.name: one.variant.launch.environment for one in checked.runnable}
    for name, words in argv.items():
        settings = [f"{key}={value}" for key, value in environments[name].items()]
        output.line(f"{name}:")
        output.line(f"  {shlex.join([*settings, *words])}")
    seconds = _estimate_s(checked, asked.repeat)
    output.line(_intention(asked, checked, budget_s))
    output.line(
        f"about {span(seconds)}: {checked.start_s:.1f} s for each start (measured), and the bytes "
        f"at {_assumed_mib_per_s} MiB/s (assumed)"
    )
    output.line(f"FRESH: a folder of its own for every run. Records: {plan.results}")
    output.json({
        "command": command, "dry_run": True, "argv": argv, "environment": environments,
        "left_out": left_out_json(checked.left_out), "runs": len(argv) * (asked.repeat + 1),
        "estimate_s": seconds, "budget_s": budget_s, "results": str(plan.results),
    })  # fmt: skip
    return 0


def left_out_json(left_out: Sequence[LeftOut]) -> list[dict[str, str]]:
    return [{"name": one.combination.name, "why": one.why} for one in left_out]


def _estimate_s(checked: Checked, repeat: int) -> float:
    each = [
        checked.start_s + checked.logical_bytes[one.name] / (_assumed_mib_per_s * 2**20)
        for one in checked.runnable
    ]
    return sum(each) * (repeat + 1)
