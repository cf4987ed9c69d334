# SPDX-License-Identifier: Apache-2.0
"""Options that every command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON (keys: see the documentation).")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only; the exit code says the rest.")
]
Declare = Annotated[
    list[Path],
    typer.Option(
        "--declare",
        metavar="FILE",
        show_default=False,
        help="What the files are meant for, by pattern: declared intents, which win.",
    ),
]
_words = typer.Argument(
    metavar="-- COMMAND...",
    show_default=False,
    help="The program and its arguments, with its launcher where it has one.",
)
Command = Annotated[list[str], _words]
MaybeCommand = Annotated[list[str] | None, _words]
