# SPDX-License-Identifier: Apache-2.0
"""`tailrace submit`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import typer

from tailrace.cli.matrix_run import check_words
from tailrace.cli.options import Json, Quiet, old_name, renamed
from tailrace.cli.output import Output
from tailrace.cli.run_command import Input, Kernel, Words, plain_launcher, program_name
from tailrace.cli.versions import version
from tailrace.errors import TailraceError
from tailrace.run import programs
from tailrace.run.inputs import RunInputs, gather
from tailrace.run.kernels import kernel_of
from tailrace.run.launcher import words_of
from tailrace.submit import handover, pbs, request, slurm
from tailrace.submit.check import check_inputs, self_contained, text_of
from tailrace.submit.request import Request
from tailrace.submit.script import Work

schedulers: dict[str, ModuleType] = {"slurm": slurm, "pbs": pbs}


def _text(name: str, metavar: str, help_text: str) -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=help_text, show_default=False)


Nodes = Annotated[int, typer.Option("--nodes", min=1, help="Number of nodes.")]
RanksPerNode = Annotated[
    int | None,
    typer.Option("--ranks-per-node", min=1, show_default=False,
                 help="Ranks on each node. [default: product of processor / nodes]"),
]  # fmt: skip
Time = Annotated[str, _text("time", "TIME", "Time limit: minutes, HH:MM:SS or D-HH:MM:SS.")]
Account = Annotated[str, _text("account", "NAME", "Account that pays.")]
Partition = Annotated[str, _text("partition", "NAME", "Partition, or queue of PBS.")]
Qos = Annotated[str, _text("qos", "NAME", "Quality of service (Slurm).")]
Constraint = Annotated[str, _text("constraint", "TEXT", "Features of the nodes.")]
CoreSpec = Annotated[
    int | None,
    typer.Option("--core-spec", min=0, help="Cores per node left to the system (Slurm).",
                 show_default=False),
]  # fmt: skip
Directive = Annotated[
    list[str], _text("directive", "TEXT", "A further option of the scheduler, as it is.")
]
RunFolder = Annotated[
    Path | None,
    _text("run-folder", "FOLDER", "Where the job runs. [default: tailrace-KERNEL here]"),
]
OldRunDir = Annotated[Path | None, old_name("--rundir")]
StripeCount = Annotated[
    int | None,
    typer.Option("--stripe-count", help="Lustre targets per file; -1: all.", show_default=False),
]
StripeSize = Annotated[str, _text("stripe-size", "SIZE", "Size of a Lustre stripe, such as 1M.")]
Schedulers = Literal["slurm", "pbs"]
Scheduler = Annotated[
    Schedulers, typer.Option("--scheduler", metavar="slurm|pbs", help="The batch system.")
]
JobLauncher = Annotated[
    str, _text("launcher", "COMMAND", "The launcher within the job, with all its options.")
]
Matrix = Annotated[
    bool, typer.Option("--matrix", help="Run the table of `tailrace run slab --matrix`.")
]
Interactive = Annotated[
    bool,
    typer.Option("--interactive", help="Print the command for an interactive job; submit nothing."),
]
NoCheck = Annotated[
    bool, typer.Option("--no-check", help="Do not check the inputs on this machine.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the script; submit nothing.")]


def submit(
    kernel: Kernel,
    words: Words = [],  # noqa: B006  (read only)
    input_file: Input = None,
    nodes: Nodes = 1,
    ranks_per_node: RanksPerNode = None,
    time: Time = "",
    account: Account = "",
    partition: Partition = "",
    qos: Qos = "",
    constraint: Constraint = "",
    core_spec: CoreSpec = None,
    directive: Directive = [],  # noqa: B006  (read only)
    run_folder: RunFolder = None,
    old_rundir: OldRunDir = None,
    stripe_count: StripeCount = None,
    stripe_size: StripeSize = "",
    scheduler: Scheduler = "slurm",
    launcher: JobLauncher = "",
    matrix: Matrix = False,
    interactive: Interactive = False,
    no_check: NoCheck = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Write the batch script that runs a kernel on the nodes of a real machine, and submit it.

    The run folder keeps the script and the output of the job; Records go to results.jsonl.
    """
    output = Output(as_json=as_json, quiet=quiet)
    batch = schedulers[scheduler]
    name = program_name(kernel)
    if matrix:
        _check_matrix(kernel, words, input_file)
    inputs = RunInputs([], None, {})
    if words or input_file or not (interactive or matrix):
        inputs = gather(words, input_file, sys.stdin.buffer, kernel=kernel_of(kernel, "submit"))
    asked = Request(
        nodes=nodes,
        ranks_per_node=request.ranks_per_node(ranks_per_node, nodes, inputs.ranks(), kernel),
        time_s=request.seconds_of(time),
        account=request.one_line(account, "--account"),
        partition=request.one_line(partition, "--partition"),
        qos=request.one_line(qos, "--qos"),
        constraint=request.one_line(constraint, "--constraint"),
        core_spec=core_spec,
        stripe_count=request.checked_stripe_count(stripe_count),
        stripe_size_bytes=request.stripe_bytes_of(stripe_size),
        directives=[request.one_line(line, "--directive") for line in directive],
    )
    run_folder = renamed(output, "--rundir", old_rundir, "--run-folder", run_folder)
    folder = request.run_folder(run_folder, kernel)
    if interactive:
        return _show_interactive(output, batch.interactive(asked))
    path = programs.program(name)
    inputs = self_contained(inputs, inputs.file)
    if not (no_check or matrix):
        check_inputs(output.note, path, inputs, asked.ranks, folder)
    results = str(folder / inputs.settings.get("results", "results.jsonl"))
    # The launcher belongs to the nodes: whether it is there is not for this machine to say.
    launcher = request.one_line(plain_launcher(launcher), "--launcher")
    start = words_of(launcher)
    job_words = inputs.arguments
    if matrix:
        given = ["--launcher", launcher] if launcher else []
        job_words = ["run", kernel, "--matrix", "--ranks", str(asked.ranks), *given, *job_words]
    program = _this_command() if matrix else [str(path)]
    work = Work(kernel, folder, program, job_words, text_of(inputs.stdin), results, once=matrix)
    mpi = programs.mpi_library(path)
    flavour = mpi.flavour if mpi else "unknown"
    text = batch.write(asked, work, start, flavour, f"tailrace {version()}")
    facts = {
        "command": "submit",
        "kernel": kernel,
        "scheduler": scheduler,
        "nodes": asked.nodes,
        "ranks": asked.ranks,
        "rundir": str(folder),
        "results": results,
        "script": text,
        "dry_run": dry_run,
    }
    if dry_run:
        output.file(text)
        output.json(facts)
        return 0
    script = handover.keep(text, folder, kernel, batch.suffix)
    done = handover.hand_over(batch.submit_command, script, scheduler)
    if done.said:
        output.note(f"{batch.submit_command[0]}: {done.said}")
    output.line(f"job {done.job}: {script}")
    output.line(f"Records: {results}")
    output.json({**facts, "job": done.job, "file": str(script)})
    return 0


def _check_matrix(kernel: str, words: list[str], input_file: Path | None) -> None:
    if kernel != "slab":
        raise TailraceError(f"{kernel} has no matrix", where="--matrix", hint="slab has one")
    if input_file is not None or "-" in words:
        raise TailraceError(
            "inputs of a matrix are words, no file", where="--matrix",
            hint="give them as KEY=VALUE, for example n1=400000 n2=50",
        )  # fmt: skip
    check_words(words)


def _show_interactive(output: Output, command: str) -> int:
    output.line(command)
    output.json({"command": "submit", "interactive": command})
    return 0


def _this_command() -> list[str]:
    found = shutil.which("tailrace")
    return [found] if found else [sys.executable, "-m", "tailrace"]
