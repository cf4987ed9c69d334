# SPDX-License-Identifier: Apache-2.0
"""`tailrace intents`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from tailrace.cli.options import Declare, Json, Quiet
from tailrace.cli.output import Output
from tailrace.errors import TailraceError

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...", show_default=False,
        help="Profiles of `tailrace profile`, or Darshan logs: of one program, also at several "
        "sizes, or of programs that hand files to each other.",
    ),
]  # fmt: skip
Target = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", show_default=False,
                 help="Write the intents into this file."),
]  # fmt: skip
Forms = Literal["tailrace", "h5intent"]
Format = Annotated[
    Forms,
    typer.Option(
        "--format",
        metavar="tailrace|h5intent",
        help="tailrace (schema tailrace-intents/1), or the published H5Intent form.",
    ),
]
_of_declarations = ("declared of ", "a declaration is left out: ")
Partial = Annotated[
    bool,
    typer.Option("--partial", help="Read a damaged Darshan log as far as possible."),
]


def intents(
    files: Files = [],  # noqa: B006  (read only)
    target: Target = None,
    form: Format = "tailrace",
    partial: Partial = False,
    declared: Declare = [],  # noqa: B006  (read only)
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Say in words what a program does with its files: why, what and how."""
    output = Output(as_json=as_json, quiet=quiet)
    if not files:
        raise TailraceError(
            "no profile is given", where="intents",
            hint="tailrace intents profile.json, or tailrace intents job.darshan",
        )  # fmt: skip
    from tailrace.cli.intents_show import show
    from tailrace.intent.declarations import read_all
    from tailrace.intent.native_calls import intents_of
    from tailrace.intent.sources import lost_in_profiles, read_profiles
    from tailrace.intent.target import check_target
    from tailrace.whole_files import write_text

    if target is not None:
        check_target(target, [*files, *declared])
    profiles, notes = read_profiles(files, partial=partial)
    for note in notes:
        output.note(note)
    declarations = read_all(declared)
    own = intents_of(profiles, declarations)
    for note in lost_in_profiles(profiles):
        output.note(note)
    text = own if form == "tailrace" else intents_of(profiles, declarations, classic=True)
    if target is not None:
        write_text(target, text)
    found = json.loads(own)
    for profile in found["profiles"]:
        for note in profile.get("notes", []):
            if note.startswith(_of_declarations):
                output.note(note)
    show(output, found)
    if target is not None:
        output.line()
        output.line(f"written: {target}")
    output.json(json.loads(text))
    return 0
