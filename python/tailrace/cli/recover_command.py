# SPDX-License-Identifier: Apache-2.0
"""`tailrace recover`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output
from tailrace.errors import ExitCode, TailraceError

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="The output.")]
Remove = Annotated[bool, typer.Option("--remove", help="Remove every part that no run has.")]
Finish = Annotated[
    bool,
    typer.Option("--finish", help="Give a part that can be read to its end its final name."),
]


def recover(
    folder: Folder,
    remove: Remove = False,
    finish: Finish = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """List what a run that was killed has left in a folder: files that are whole, and parts.

    A file has its final name only when it is complete and synced; until then it is NAME.part. A
    part that can be read may lack its last records: what of them is there is said. Nothing is
    changed without --remove or --finish; with both, what can be read is finished, the rest removed.
    """
    from tailrace import recover as recovering

    output = Output(as_json=as_json, quiet=quiet)
    found = recovering.look(folder)
    failed: list[TailraceError] = []
    for one in found:
        try:
            if finish and one.state == "readable":
                recovering.finish(one)
            elif (
                remove
                and one.state in {"readable", "empty", "damaged"}
                and one.path.suffix == ".part"
            ):
                recovering.remove(one)
        except TailraceError as error:
            failed.append(error)
    if as_json:
        output.json({"files": [one.as_json() for one in found]})
    for one in [] if as_json else found:
        done = f" -> {one.done}" if one.done else ""
        about = f", {one.about}" if one.about else ""
        output.line(f"{one.path}: {one.state}, {one.bytes} bytes{about}{done}")
    if not found and not as_json:
        output.line(f"{folder}: no file of HDF5 or netCDF, and no part of one")
    for failure in failed:
        output.error(failure)
    damaged = any(one.state == "damaged" and not one.done for one in found)
    return ExitCode.RUN_FAILED if failed or damaged else ExitCode.OK
