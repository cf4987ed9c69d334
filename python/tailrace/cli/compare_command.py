# SPDX-License-Identifier: Apache-2.0
"""`tailrace compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output
from tailrace.errors import TailraceError, did_you_mean

SideA = Annotated[
    str,
    typer.Argument(
        metavar="A",
        help="Results file, or a part of one: FILE::KEY=VALUE,KEY=VALUE.",
        show_default=False,
    ),
]
SideB = Annotated[
    str, typer.Argument(metavar="B", help="The same for the other side.", show_default=False)
]
Metric = Annotated[
    str,
    typer.Option(
        "--metric",
        metavar="durable|write|aggregate",
        help="Which rate the verdict is about.",
    ),
]


def compare(
    a: SideA,
    b: SideB,
    metric: Metric = "durable",
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compare two results files, or two parts of one: is B faster than A, and what differs?

    Pairs of runs that were made in turns are judged at 6, 10 and 16 pairs; runs that were not are
    compared as they are, and the verdict says that the machine may have drifted.
    """
    from tailrace.cli.compare_show import show
    from tailrace.compare.analysis import analyse
    from tailrace.results import Selection

    output = Output(as_json=as_json, quiet=quiet)
    _check_metric(metric)
    found = analyse(Selection.parse(a), Selection.parse(b), metric)
    show(output, found)
    output.json({"command": "compare", **found.as_json()})
    return 0


def _check_metric(metric: str) -> None:
    known = ("durable", "write", "aggregate")
    if metric not in known:
        raise TailraceError(
            f'there is no metric "{metric}".{did_you_mean(metric, known)}',
            where="--metric",
            hint="durable (create to synced close), write (in write calls only) or aggregate "
            "(open, write and close)",
        )
