# SPDX-License-Identifier: Apache-2.0
"""Exit codes of `profile` and `apply`, which end as the program does that they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from tailrace.cli.output import Output
from tailrace.errors import ExitCode, TailraceError

if TYPE_CHECKING:
    from tailrace.intent.record import Ended

_commands = {"profile", "apply"}
_kept = {ExitCode.NOT_STARTED, ExitCode.NOT_FOUND}


def of_own_failure(words: Sequence[str], code: ExitCode) -> ExitCode:
    """One that few programs end with, where these words run a program and end as it does."""
    command = next((word for word in words if not word.startswith("-")), "")
    options = words[: words.index("--")] if "--" in words else words
    if command not in _commands or any(word.startswith("--from-spools") for word in options):
        return code
    return code if code in _kept else ExitCode.OWN_FAILURE


@contextmanager
def stays(output: Output, ended: Ended) -> Iterator[None]:
    """The exit code of a program that failed; what fails of ours after it is said besides."""
    try:
        yield
    except OSError as error:  # standard output, for the JSON, say
        if not ended.code:
            raise
        tell(output, ended)
        raise typer.Exit(ended.code) from error
    except TailraceError as error:
        if not ended.code:
            raise
        tell(output, ended)
        output.error(error)
        output.json({"error": error.as_json(), "program_exit_code": ended.code})
        raise typer.Exit(ended.code) from error


def tell(output: Output, ended: Ended, more: str = "") -> None:
    """Whose exit code it is, where it is not 0."""
    if ended.code:
        output.note(f"the program ended with {ended.how}{more}", always=True)
