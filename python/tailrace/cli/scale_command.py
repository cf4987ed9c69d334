# SPDX-License-Identifier: Apache-2.0
"""`tailrace scale`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output
from tailrace.cli.run_command import DryRun, Input, Launcher, plain_launcher
from tailrace.cli.sweep_command import (
    Kernel,
    Metric,
    Repeat,
    Report,
    Resume,
    Seed,
    Words,
    common_words,
    sweepable,
)
from tailrace.errors import TailraceError
from tailrace.run import programs

Ranks = Annotated[
    str,
    typer.Option("--ranks", metavar="1,2,4,...", show_default=False, help="Numbers of ranks."),
]
Modes = Literal["weak", "strong"]
Mode = Annotated[
    Modes | None,
    typer.Option(
        "--mode", metavar="weak|strong", show_default=False,
        help="weak: each rank writes the same for any number of ranks; strong: all together do.",
    ),
]  # fmt: skip


def scale(
    kernel: Kernel,
    words: Words = [],  # noqa: B006  (read only)
    input_file: Input = None,
    ranks: Ranks = "",
    mode: Mode = None,
    repeat: Repeat = 6,
    seed: Seed = None,
    resume: Resume = False,
    metric: Metric = "durable",
    report: Report = None,
    launcher: Launcher = "",
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run a kernel on several numbers of ranks: times, efficiency, a fitted cost.

    The numbers run in turns, in random order, round by round. Points with more ranks than cores
    are marked and left out of the fit. Values beyond the measured points are marked as well.
    """
    from tailrace.cli.many_runs import Asked
    from tailrace.cli.scale_run import scale_runs

    output = Output(as_json=as_json, quiet=quiet)
    program = programs.program(sweepable(kernel, "scale"))
    if not ranks or mode is None:
        raise TailraceError(
            f"{'--mode' if ranks else '--ranks'} is missing", where="scale",
            hint=f"for example tailrace scale {kernel} --ranks 1,2,4,8 --mode weak "
            "domain=64x64x64 time=4",
        )  # fmt: skip
    asked = Asked(
        kernel, program, common_words(words, input_file), repeat, seed, resume, metric,
        plain_launcher(launcher), dry_run, report,
    )  # fmt: skip
    return scale_runs(output, asked, ranks, mode)
