# SPDX-License-Identifier: Apache-2.0
"""`tailrace recover`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output
from tailrace.errors import ExitCode, TailraceError

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", show_default=False, help="The folder with the output.")
]
Remove = Annotated[
    bool, typer.Option("--remove", help="Remove every part that no living run holds.")
]
Finish = Annotated[
    bool,
    typer.Option("--finish", help="If a part can be read to its end, give it its final name."),
]


def recover(
    folder: Folder,
    remove: Remove = False,
    finish: Finish = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """List the files that a killed run has left in a folder: complete files, and parts.

    A file gets its final name when it is complete and synced; until then it is NAME.part. A
    readable part may lack its last records; the list says which ones it has. Without --remove or
    --finish nothing changes; with both, readable parts are finished and the others removed.
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
