# SPDX-License-Identifier: Apache-2.0
"""`tailrace repack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import Json, Quiet, old_name, renamed
from tailrace.cli.output import Output
from tailrace.errors import TailraceError

File = Annotated[
    Path, typer.Argument(metavar="FILE", show_default=False, help="An HDF5 or netCDF-4 file.")
]
PlanFile = Annotated[
    Path | None,
    typer.Option("--plan", metavar="PLAN", help="A plan of `tailrace advise -o`.",
                 show_default=False),
]  # fmt: skip
ProfileFile = Annotated[
    Path | None,
    typer.Option(
        "--profile", metavar="PROFILE", show_default=False,
        help="A profile of a program that reads the file, or a Darshan log: choose chunks for its "
        "reads, and show their price.",
    ),
]  # fmt: skip
Chunks = Annotated[
    list[str],
    typer.Option(
        "--chunk", metavar="DATASET=AxB", show_default=False,
        help="A chunk shape in elements, slowest dimension first; or contiguous, or compact. "
        "It wins over the plan. You may give it several times.",
    ),
]  # fmt: skip
FilterList = Annotated[
    list[str],
    typer.Option(
        "--filters", metavar="DATASET=LIST", show_default=False,
        help="none, or some of shuffle,deflate=1..9,fletcher32. [default: the filters stay]",
    ),
]  # fmt: skip
Reads = Annotated[
    list[str],
    typer.Option(
        "--read", metavar="DATASET=AxB", show_default=False,
        help="The piece that your program reads at a time, for the price. [default: one new chunk]",
    ),
]  # fmt: skip
To = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", show_default=False,
                 help="Give the new file this name, and keep the old one."),
]  # fmt: skip
PlanPath = Annotated[
    str,
    typer.Option("--plan-path", metavar="PATH", show_default=False,
                 help="The path under which the plan or profile knows the file."),
]  # fmt: skip
OldAs = Annotated[str, old_name("--as")]
MemoryLimit = Annotated[
    str, typer.Option("--memory", metavar="SIZE", help="Limit for the memory of the process.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the new layout and its price, and stop.")
]


def repack(
    file: File,
    plan: PlanFile = None,
    profile: ProfileFile = None,
    chunks: Chunks = [],  # noqa: B006  (read only)
    filters: FilterList = [],  # noqa: B006  (read only)
    reads: Reads = [],  # noqa: B006  (read only)
    output_file: To = None,
    plan_path: PlanPath = "",
    old_as: OldAs = "",
    memory: MemoryLimit = "256M",
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Rewrite an HDF5 or netCDF-4 file in other chunks, and prove that its content is the same.

    First it prints the new layout and its price. Then it writes the new file beside the old one,
    compares both element by element, syncs the new one and puts it in the place of the old one.
    Until then the old file stays untouched.
    """
    from tailrace.cli.repack_show import show, show_done
    from tailrace.repack import Memory, Options
    from tailrace.repack import repack as rewrite
    from tailrace.units import bytes_of

    output = Output(as_json=as_json, quiet=quiet)
    if plan is None and profile is None and not chunks and not filters:
        raise TailraceError(
            "nothing is said about the new layout", where="repack",
            hint="--plan plan.json (of `tailrace advise`), --profile profile.json, or "
            "--chunk /dataset=100x200",
        )  # fmt: skip
    name = renamed(output, "--as", old_as, "--plan-path", plan_path)
    options = Options(
        chunks=chunks, filters=filters, reads=reads, profile=profile, name=name,
        memory=Memory(bytes_of(memory, "--memory")), dry_run=dry_run,
    )  # fmt: skip
    report = rewrite(
        file, plan, output_file, options,
        hear=lambda report: show(output, report), meters=output.progress,
    )  # fmt: skip
    show_done(output, report)
    return 0
