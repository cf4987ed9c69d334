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
    typer.Option("--plan", metavar="PLAN", help="What `tailrace advise -o` wrote.",
                 show_default=False),
]  # fmt: skip
ProfileFile = Annotated[
    Path | None,
    typer.Option(
        "--profile", metavar="PROFILE", show_default=False,
        help="Of a program that reads the file (`tailrace profile -o`, or a Darshan log): chunks "
        "for its reads, and their price.",
    ),
]  # fmt: skip
Chunks = Annotated[
    list[str],
    typer.Option(
        "--chunk", metavar="DATASET=AxB", show_default=False,
        help="A chunk shape in elements, slowest dimension first; or contiguous, or compact. "
        "Goes before what the plan says; may be given several times.",
    ),
]  # fmt: skip
FilterList = Annotated[
    list[str],
    typer.Option(
        "--filters", metavar="DATASET=LIST", show_default=False,
        help="none, or some of shuffle,deflate=1..9,fletcher32. Without it filters stay.",
    ),
]  # fmt: skip
Reads = Annotated[
    list[str],
    typer.Option(
        "--read", metavar="DATASET=AxB", show_default=False,
        help="What your program reads at a time, for the price. Without it: one new chunk.",
    ),
]  # fmt: skip
To = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", show_default=False,
                 help="Write another file, and leave the given one as it is."),
]  # fmt: skip
PlanPath = Annotated[
    str,
    typer.Option("--plan-path", metavar="PATH", show_default=False,
                 help="The path under which the plan or the profile knows the file."),
]  # fmt: skip
OldAs = Annotated[str, old_name("--as")]
MemoryLimit = Annotated[
    str, typer.Option("--memory", metavar="SIZE", help="The most memory that the program takes.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would change, and its price.")]


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
    """Rewrite an HDF5 or netCDF-4 file with the chunks of a plan, and prove that it says the same.

    First it prints what would change, and what that costs and brings. Then the new file is written
    beside the old one, compared with it element by element, synced, and put in its place; until
    then the old one is untouched.
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
