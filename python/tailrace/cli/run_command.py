# SPDX-License-Identifier: Apache-2.0
"""`tailrace run`."""

from __future__ import annotations

import fcntl
import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.cli.options import Json, Quiet, one_of
from tailrace.cli.output import Output
from tailrace.cli.run_display import ToStdout, display
from tailrace.errors import ExitCode, TailraceError
from tailrace.run import dry, programs, progress
from tailrace.run.execute import Ended, execute
from tailrace.run.inputs import RunInputs, gather
from tailrace.run.kernels import kernel_of
from tailrace.run.launcher import Launch, launch_for

Kernel = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="The kernel: seism, slab, particle, amr, history, limit.",
        show_default=False,
        autocompletion=one_of("seism", "slab", "particle", "amr", "history", "limit"),
    ),
]
Words = Annotated[
    list[str],
    typer.Argument(
        metavar="KEY=VALUE|-",
        help="Inputs, for example processor=2x2x2 time=4; - reads lines from standard input.",
        show_default=False,
    ),
]
Input = Annotated[
    Path | None,
    typer.Option("--input", metavar="FILE", help="Read inputs from a file.", show_default=False),
]
Ranks = Annotated[
    int | None,
    typer.Option("--ranks", min=1, show_default=False,
                 help="Number of ranks. [default: product of processor; else the cores here]"),
]  # fmt: skip
Launcher = Annotated[
    str,
    typer.Option(
        "--launcher", metavar="COMMAND", show_default=False,
        help='The MPI launcher with options, for example "mpiexec --mca io romio321".',
    ),
]  # fmt: skip
Limit = Annotated[
    bool,
    typer.Option(
        "--limit", help="Also write the same bytes by plain means, to see what is possible."
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Make only the repetitions of the last such run that the results lack."
    ),
]
Watch = Annotated[bool, typer.Option("--watch", help="Show the steps live: rates and stalls.")]
Matrix = Annotated[
    bool,
    typer.Option(
        "--matrix",
        help="slab: run the table of modes, axes, hints and MPI-IO in turns, and explain it.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the command and its inputs; run nothing.")
]


def run(
    kernel: Kernel,
    words: Words = [],  # noqa: B006  (read only)
    input_file: Input = None,
    ranks: Ranks = None,
    launcher: Launcher = "",
    limit: Limit = False,
    resume: Resume = False,
    watch: Watch = False,
    matrix: Matrix = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run a kernel under MPI, with the launcher that fits it.

    The exit code is that of the kernel. Records are appended to results.jsonl (input `results`).
    `tailrace-seism --help` lists all inputs of seism, which limit takes too. So do
    `tailrace-slab --help`, `tailrace-particle --help`, `tailrace-amr --help` and
    `tailrace-history --help` for their kernels.
    """
    output = Output(as_json=as_json, quiet=quiet)
    of = kernel_of(kernel, "run")
    if matrix:
        return _matrix(
            output, kernel, words, input_file, ranks, plain_launcher(launcher), resume, dry_run
        )
    path = programs.program(of.program)
    mpi = programs.mpi_library(path)
    if "-" in words and sys.stdin.isatty():
        output.note("type lines `key value...`; DONE ends them")
    words = [*words, *(["limit"] if limit else [])]
    inputs = gather(words, input_file, sys.stdin.buffer, kernel=of)
    count = ranks or inputs.ranks() or of.usual_ranks()
    if count is None:
        return _let_it_explain(path, inputs)
    launch = launch_for(mpi, count, plain_launcher(launcher))
    for note in launch.notes:
        output.note(note)
    options = [*(["--resume"] if resume else []), *([] if quiet else [progress.flag])]
    job = Job(kernel, path, inputs, launch, count, [] if dry_run else options)
    return _show(output, job) if dry_run else _run(output, job, watch=watch)


def _matrix(
    output: Output, kernel: str, words: list[str], input_file: Path | None, ranks: int | None,
    launcher: str, resume: bool, dry_run: bool,
) -> int:  # fmt: skip
    from tailrace.cli.matrix_run import matrix_runs

    if kernel != "slab":
        raise TailraceError(f"{kernel} has no matrix", where="--matrix", hint="slab has one")
    if input_file is not None or "-" in words:
        raise TailraceError("inputs of a matrix are words", where="--matrix", hint="KEY=VALUE ...")
    return matrix_runs(
        output, words, ranks=ranks, launcher=launcher, resume=resume, dry_run=dry_run
    )


@dataclass(frozen=True)
class Job:
    """What is to be run."""

    kernel: str
    path: Path
    inputs: RunInputs
    launch: Launch
    ranks: int
    options: list[str]

    @property
    def command(self) -> list[str]:
        return [*self.launch.words, str(self.path), *self.options, *self.inputs.arguments]

    def facts(self) -> dict[str, Any]:
        return {
            "command": "run",
            "kernel": self.kernel,
            "ranks": self.ranks,
            "argv": self.command,
            "environment": self.launch.environment,
        }


def program_name(kernel: str) -> str:
    return kernel_of(kernel, "run").program


def plain_launcher(launcher: str) -> str:
    from tailrace.cli.main import plain_dashes

    return " ".join(plain_dashes(word) for word in launcher.split(" "))


def _show(output: Output, job: Job) -> int:
    """The command, then what the program itself says to a dry run on one process."""
    settings = [f"{key}={value}" for key, value in job.launch.environment.items()]
    output.line(shlex.join([*settings, *job.command]))
    stdin = job.inputs.stdin
    lines: list[str] = []
    ended = execute(
        [str(job.path), *dry.options(job.launch.ranks), *job.inputs.arguments],
        stdin=stdin,
        environment=job.launch.environment,
        line=lines.append,
    )
    for line in lines:
        output.line(line)
    output.json(
        {
            **job.facts(),
            "dry_run": True,
            "exit_code": ended.code,
            "output": lines,
            "stdin": None if stdin is None else stdin.decode("utf-8", "replace"),
        }
    )
    return ended.code


def _let_it_explain(path: Path, inputs: RunInputs) -> int:
    """Without a usable `processor` there is no number of ranks; the program says what is wrong."""
    ended = execute(
        [str(path), "--dry-run", *inputs.arguments],
        stdin=inputs.stdin,
        environment={},
        line=lambda _line: None,
    )
    if ended.code != ExitCode.OK:
        return ended.code
    raise TailraceError(
        "how many ranks? `processor` is missing, or is not three numbers above zero",
        where="run",
        hint="give processor=2x2x2 for 8 ranks, or --ranks",
    )


def _run(output: Output, job: Job, *, watch: bool) -> int:
    results = job.inputs.path("results", "results.jsonl")
    known = _size(results)
    lines: list[str] = []
    stdout = ToStdout()
    result = lines.append if output.as_json or output.quiet else stdout
    with display(output, watch=watch, result=result) as line:
        ended = execute(
            job.command,
            stdin=job.inputs.stdin,
            environment=job.launch.environment,
            line=line,
        )
    if ended.signal_number:
        _clear_up(output, job.inputs, ended)
    output.json(
        {
            **job.facts(),
            "dry_run": False,
            "exit_code": ended.code,
            "elapsed_s": ended.elapsed_s,
            "interrupted_by_signal": ended.signal_number or None,
            "output": lines,
            "results": str(results),
            "records": _records(results, known),
        }
    )
    if stdout.lost and ended.code == ExitCode.OK:
        raise TailraceError(
            f"the run ended well, but its text could not be printed: {stdout.lost}",
            where="standard output",
            hint=f"its Records are in {results}; free space, or send standard output elsewhere",
            code=ExitCode.RUN_FAILED,
        )
    return ended.code


def _clear_up(output: Output, inputs: RunInputs, ended: Ended) -> None:
    """The program removes its unfinished file itself; this is for the case that it could not."""
    file = inputs.path("filename", inputs.kernel.filename)
    lock = file.with_name(f"{file.name}.part.lock")
    if _given_up(lock):
        for left in (file.with_name(f"{file.name}.part"), lock):
            if left.is_file():
                left.unlink(missing_ok=True)
                output.note(f"removed the unfinished {left}")
    output.note(f"interrupted by signal {ended.signal_number}; the run was ended")


def _given_up(lock: Path) -> bool:
    """True where nobody holds the lock: the run of somebody else must not lose its file."""
    try:
        with lock.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def _records(file: Path, known: int) -> list[Any]:
    """The records that this run has appended."""
    if _size(file) <= known:
        return []
    with file.open("rb") as stream:
        stream.seek(known)
        return [record for line in stream if (record := _parsed(line)) is not None]


def _parsed(line: bytes) -> Any:
    """None for a line that is no record: half a line of a killed run is kept in the file."""
    try:
        return json.loads(line)
    except ValueError:
        return None
