# SPDX-License-Identifier: Apache-2.0
"""`tailrace sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import Json, Metrics, Quiet, one_of
from tailrace.cli.output import Output
from tailrace.cli.run_command import DryRun, Input, Launcher, Ranks, plain_launcher
from tailrace.errors import TailraceError
from tailrace.run import programs
from tailrace.run.kernels import kernel_of, limit

Kernel = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="The kernel: seism, slab, particle, amr, history.",
        show_default=False,
        autocompletion=one_of("seism", "slab", "particle", "amr", "history"),
    ),
]
Words = Annotated[
    list[str],
    typer.Argument(
        metavar="KEY=VALUE", show_default=False,
        help="Inputs that all runs share, for example processor=2x2x1 time=4.",
    ),
]  # fmt: skip
Vary = Annotated[
    list[str],
    typer.Option(
        "--vary", metavar="NAME=A,B,...", show_default=False,
        help="What varies: an input (chunk=64x64x64,none), an MPI-IO hint (cb_nodes=1,2), "
        "mpiio=ompio,romio, mca.NAME=, env.NAME=, hint.NAME=. Give it once for each NAME.",
    ),
]  # fmt: skip
Repeat = Annotated[
    int, typer.Option("--repeat", metavar="N", min=1, help="Repetitions of each combination.")
]
Budget = Annotated[
    str,
    typer.Option(
        "--budget", metavar="TIME", show_default=False,
        help="Time for all runs: 10m, 90s, 1h30m. Slow combinations are given up round by round.",
    ),
]  # fmt: skip
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, help="Seed of the random order. [default: random]",
                 show_default=False),
]  # fmt: skip
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue the last such sweep in the results file.")
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FOLDER", show_default=False,
        help="Verify the best settings and write them here: hints, environment, kernel input.",
    ),
]  # fmt: skip
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", show_default=False,
                 help="Also make a page, as `tailrace report` does."),
]  # fmt: skip
Metric = Annotated[
    Metrics,
    typer.Option("--metric", metavar="durable|write|aggregate", help="The time that is ranked."),
]


def sweep(
    kernel: Kernel,
    words: Words = [],  # noqa: B006  (read only)
    input_file: Input = None,
    vary: Vary = [],  # noqa: B006
    repeat: Repeat = 6,
    budget: Budget = "",
    seed: Seed = None,
    resume: Resume = False,
    metric: Metric = "durable",
    folder: Folder = None,
    report: Report = None,
    ranks: Ranks = None,
    launcher: Launcher = "",
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run a kernel with every combination of some settings, and rank the combinations.

    Each run is a process of its own in a fresh folder. After a warm-up of each combination,
    repetitions run in random order, round by round. All Records are appended to results.jsonl.
    """
    from tailrace.cli.sweep_run import SweepAsked, sweep_runs

    output = Output(as_json=as_json, quiet=quiet)
    asked = SweepAsked(
        kernel, programs.program(sweepable(kernel)), common_words(words, input_file), repeat, seed,
        resume, metric, plain_launcher(launcher), dry_run, report, vary, budget, ranks, folder,
    )  # fmt: skip
    return sweep_runs(output, asked)


def common_words(words: list[str], input_file: Path | None) -> list[str]:
    """Those of the command line take the place of the file's lines."""
    from tailrace.run.inputs import words_of
    from tailrace.run.variant import joined

    return joined(words_of(input_file), words, without=()) if input_file is not None else words


def sweepable(kernel: str, where: str = "sweep") -> str:
    """The program of a kernel that has a durable rate of its own."""
    of = kernel_of(kernel, where)
    if of is limit:
        raise TailraceError(
            "the kernel limit has no settings: it writes by plain means", where=where,
            hint=f"`tailrace run limit` shows the machine's best; {where} takes another kernel",
        )  # fmt: skip
    return of.program
