# SPDX-License-Identifier: Apache-2.0
"""`tailrace compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tailrace.cli.compare_show import print_analysis
from tailrace.cli.options import Json, Metrics, Quiet
from tailrace.cli.output import Output
from tailrace.cli.run_command import (
    DryRun,
    Launcher,
    Ranks,
    plain_launcher,
    program_name,
)
from tailrace.errors import TailraceError
from tailrace.run import programs

if TYPE_CHECKING:
    from tailrace.compare.plan import Plan

SideA = Annotated[
    str,
    typer.Argument(
        metavar="A",
        help="A results file, or a part of one: FILE::KEY=VALUE,KEY=VALUE.",
        show_default=False,
    ),
]
SideB = Annotated[
    str, typer.Argument(metavar="B", help="The same for the other side.", show_default=False)
]
Kernel = Annotated[
    list[str],
    typer.Argument(
        metavar="[-- KERNEL KEY=VALUE...]",
        help="With --run: the kernel, and the inputs that A and B share.",
        show_default=False,
    ),
]
Run = Annotated[
    bool,
    typer.Option(
        "--run",
        help='Make the runs: A and B are inputs in quotes, for example "collective_write".',
    ),
]
Metric = Annotated[
    Metrics,
    typer.Option(
        "--metric",
        metavar="durable|write|aggregate",
        help="The rate for the verdict.",
    ),
]


def compare(
    a: SideA,
    b: SideB,
    kernel: Kernel = [],  # noqa: B006  (read only)
    metric: Metric = "durable",
    makes_runs: Run = False,
    ranks: Ranks = None,
    launcher: Launcher = "",
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compare two results files, or two parts of one: is B faster than A, and what differs?

    If A and B ran in turns, the verdict comes after 6, 10 or 16 pairs. If they did not, the
    verdict says that the machine may have drifted. With --run the command makes the runs: A against
    A first, then A and B in turns.
    """
    output = Output(as_json=as_json, quiet=quiet)
    if makes_runs:
        from tailrace.cli.compare_run import compare_runs

        plan = _plan(a, b, kernel, ranks, launcher)
        return compare_runs(output, plan, metric, dry_run=dry_run)
    if kernel or dry_run or ranks or launcher:
        raise TailraceError(
            f'"{kernel[0]}" is too much' if kernel else "an option belongs to --run",
            where="compare",
            hint="two results files are compared; `tailrace compare --run A B -- KERNEL ...` makes "
            "runs",
        )
    from tailrace.compare.analysis import analyse
    from tailrace.results import Selection

    return print_analysis(output, analyse(Selection.parse(a), Selection.parse(b), metric))


def _plan(a: str, b: str, kernel: list[str], ranks: int | None, launcher: str) -> Plan:
    from tailrace.compare.plan import make_plan

    if not kernel:
        raise TailraceError(
            "which kernel?",
            where="compare --run",
            hint='for example tailrace compare --run "" "collective_write" -- seism '
            "processor=2x2x1 domain=64x64x64 time=4",
        )
    path = programs.program(program_name(kernel[0]))
    return make_plan(kernel[0], path, a, b, kernel[1:], ranks, plain_launcher(launcher))
