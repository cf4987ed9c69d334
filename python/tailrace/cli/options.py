# SPDX-License-Identifier: Apache-2.0
"""Options that every command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print the result as JSON; the page of the command lists the keys."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Declare = Annotated[
    list[Path],
    typer.Option(
        "--declare",
        metavar="FILE",
        show_default=False,
        help="Declarations: what the files are for, by pattern. They win over the profile.",
    ),
]
_words = typer.Argument(
    metavar="-- COMMAND...",
    show_default=False,
    help="Your program and its arguments, with the launcher if it has one.",
)
Command = Annotated[list[str], _words]
MaybeCommand = Annotated[list[str] | None, _words]
