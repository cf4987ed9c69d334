# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have: one name, one meaning (docs/user/options.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tailrace.cli.output import Output
from tailrace.errors import TailraceError, did_you_mean
from tailrace.units import span_of

Metrics = Literal["durable", "write", "aggregate"]
_classes = ("collective", "opt-in")  # of settings, as they are typed and printed

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
Allow = Annotated[
    list[str],
    typer.Option(
        "--allow", metavar="CLASS,...", show_default=False,
        autocompletion=lambda incomplete: several(_classes, incomplete),
        help="Settings of these classes too: collective (all ranks have to take part), opt-in.",
    ),
]  # fmt: skip
_words = typer.Argument(
    metavar="-- COMMAND...",
    show_default=False,
    help="Your program and its arguments, with the launcher if it has one.",
)
Command = Annotated[list[str], _words]
MaybeCommand = Annotated[list[str] | None, _words]


def several(known: Sequence[str], incomplete: str) -> list[str]:
    """Completions of a list with commas between its words."""
    begun, comma, last = incomplete.rpartition(",")
    return [begun + comma + word for word in known if word.startswith(last)]


def one_of(*known: str) -> Callable[[str], list[str]]:
    """Completions of a word."""
    return lambda incomplete: several(known, incomplete)


def allowed(output: Output, given: Sequence[str]) -> tuple[str, ...]:
    """The classes of --allow, by their names in plans."""
    found = []
    for word in filter(None, ",".join(given).split(",")):
        if word == "opt_in":
            output.note(
                "--allow opt_in is called opt-in now; the old name works in this version only"
            )
        elif word not in _classes:
            raise TailraceError(
                f'there is no class "{word}" to allow.{did_you_mean(word, _classes)}',
                where="--allow", hint=" or ".join(_classes),
            )  # fmt: skip
        found.append(word.replace("-", "_"))
    return tuple(found)


def old_name(name: str) -> Any:
    """An option under the name that it had before: not in the help."""
    return typer.Option(name, hidden=True)


def renamed(output: Output, old: str, given: Any, new: str, value: Any) -> Any:
    """The value of an option that may be given by its old name, which is said."""
    if given in {None, ""}:
        return value
    output.note(f"{old} is called {new} now; the old name works in this version only")
    return given


def minutes_of(output: Output, text: str, option: str) -> float:
    """Of a TIME; "0" and "" are none, and a number without a unit are minutes, which is said."""
    try:
        minutes = float(text or 0)
    except ValueError:
        return span_of(text, option) / 60
    if not 0 <= minutes < math.inf:
        return span_of(text, option)  # raises
    if minutes:
        output.note(
            f"{option} {text} is written {text}m now; numbers without a unit work in this "
            "version only"
        )
    return minutes
