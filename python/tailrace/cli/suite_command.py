# SPDX-License-Identifier: Apache-2.0
"""`tailrace suite`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailrace.cli.options import Json, Quiet, old_name, one_of, renamed
from tailrace.cli.output import Output
from tailrace.cli.run_command import DryRun
from tailrace.errors import ExitCode, TailraceError
from tailrace.units import plural

if TYPE_CHECKING:
    from tailrace.suite.experiment import Plan
    from tailrace.suite.scale import Limits

Name = Annotated[
    str,
    typer.Argument(
        metavar="quick|full|cori-2018",
        help="The cases.",
        show_default=False,
        autocompletion=one_of("quick", "full", "cori-2018"),
    ),
]
Folder = Annotated[
    Path,
    typer.Option(
        "--run-folder",
        metavar="FOLDER",
        help="Folder in which the kernels write; they remove their files.",
    ),
]
OldDir = Annotated[Path | None, old_name("--dir")]
Results = Annotated[
    Path, typer.Option("--results", metavar="FILE", help="File to which Records are appended.")
]
Repeat = Annotated[
    int, typer.Option("--repeat", metavar="N", min=1, help="Repetitions of each case.")
]
MostBytes = Annotated[
    str,
    typer.Option("--most-bytes", metavar="SIZE", show_default=False,
                 help="Limit for the size of files, such as 64M. [default: that of the suite]"),
]  # fmt: skip


def suite(
    name: Name,
    folder: Folder = Path(),
    old_dir: OldDir = None,
    results: Results = Path("results.jsonl"),
    repeat: Repeat = 6,
    most_bytes: MostBytes = "",
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run the published configurations of the kernels, and show the published figures beside.

    A case that is too large for the memory or disk of this machine is made smaller, with a message.
    After a warm-up of each case all cases run in turns, in random order. All Records are kept.
    """
    from tailrace.cli.rounds_display import rounds_display
    from tailrace.cli.suite_show import show
    from tailrace.suite.experiment import Experiment, make_plan
    from tailrace.suite.scale import limits_of
    from tailrace.suite.summary import rows_of
    from tailrace.suite.table import suite_of
    from tailrace.units import bytes_of

    output = Output(as_json=as_json, quiet=quiet)
    wanted = suite_of(name)
    folder = renamed(output, "--dir", old_dir, "--run-folder", folder)
    if not folder.is_dir():
        raise TailraceError(
            "there is no such folder", where=f"--run-folder {folder}", hint="create it"
        )
    most = bytes_of(most_bytes, "--most-bytes") if most_bytes else wanted.most_bytes
    if most == 0:
        raise TailraceError("nothing is that small", where="--most-bytes", hint="give 1M, say")
    limits = limits_of(folder, most)
    plan = make_plan(wanted, limits, folder.absolute(), results)
    for note in dict.fromkeys(note for job in plan.jobs for note in job.notes):
        output.note(note)
    runnable = [job for job in plan.jobs if not job.why_not]
    facts = {"command": "suite", "suite": name, "limit_bytes": limits.bytes,
             "repeat": repeat, "results": str(results)}  # fmt: skip
    if dry_run:
        return _show_plan(output, plan, limits, facts)
    if not runnable:
        raise TailraceError(
            f"no case of {name} can be run here: {plan.jobs[0].why_not}", where="suite",
            hint="`tailrace doctor` tells what is missing", code=ExitCode.CAPABILITY_MISSING,
        )  # fmt: skip
    output.note(
        f"{plural(len(runnable), 'case')}, a warm-up and {plural(repeat, 'repetition')} of each; "
        f"files of at most {limits.why}"
    )
    code = ExitCode.OK
    with rounds_display(output) as display:
        try:
            Experiment(plan, repeat, display.say, display.tell).run()
        except KeyboardInterrupt:
            code = ExitCode.INTERRUPTED
            display.say("interrupted: what follows is of the runs so far")
    if code == ExitCode.OK and any(job.why_not for job in runnable):
        code = ExitCode.RUN_FAILED
    rows = rows_of(plan)
    show(output, rows, repeat)
    output.json({**facts, "interrupted": code == ExitCode.INTERRUPTED, "comparison": plan.name,
                 "dry_run": False, "cases": [row.as_json() for row in rows]})  # fmt: skip
    return int(code)


def _show_plan(output: Output, plan: Plan, limits: Limits, facts: dict[str, Any]) -> int:
    fresh = Path("FRESH")
    commands = {}
    output.line(f"files of at most {limits.why}; ranks at most {limits.ranks}")
    for job in plan.jobs:
        output.line(f"{job.case.name} (scaled by {job.scaled.by}):")
        if job.why_not:
            output.line(f"  not run: {job.why_not}")
            continue
        assert job.variant is not None
        environment = [f"{key}={value}" for key, value in job.variant.launch.environment.items()]
        words = job.command(fresh, fresh / "results.jsonl")
        commands[job.case.name] = words
        output.line(f"  {shlex.join([*environment, *words])}")
    output.line(f"FRESH: a folder of its own for every run. Records: {plan.results}")
    output.json({
        **facts, "dry_run": True, "argv": commands,
        "scaled_by": {job.case.name: job.scaled.by for job in plan.jobs},
        "not_run": {job.case.name: job.why_not for job in plan.jobs if job.why_not},
    })  # fmt: skip
    return 0
