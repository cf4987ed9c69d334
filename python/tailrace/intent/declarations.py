# SPDX-License-Identifier: Apache-2.0
"""Files of declarations, for programs that cannot be changed: --declare and TAILRACE_INTENTS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.intent.given_files import DECLARATIONS, Kind, check_it_is_a_file
from tailrace.intent.native_calls import call
from tailrace.intent.sources import read_text

variable = "TAILRACE_INTENTS"


def read_all(files: Sequence[Path], kind: Kind = DECLARATIONS) -> list[tuple[str, str]]:
    """Name and text of each file, for the compiled helper, which checks them."""
    for file in files:
        check_it_is_a_file(file, kind)
    return [(str(file), read_text(file)) for file in files]


def file_for(file: Path | None, given: Mapping[str, str]) -> list[Path]:
    """The file that is read for a run, of --declare or of the environment; none where there is
    none."""
    text = given.get(variable, "").strip()
    if file is None and text and not text.startswith("{"):
        file = Path(text)
    return [file] if file is not None else []


def environment_for(file: Path | None, given: Mapping[str, str]) -> dict[str, str]:
    """What a program needs in its environment so that what is declared is noted down; checked.

    Args:
        file: of --declare; it takes the place of what the environment says.
        given: the environment.

    Raises:
        TailraceError: the declarations are wrong.
    """
    text = given.get(variable, "")
    named = file_for(file, given)
    if not named and not text.strip():
        return {}
    if not named:
        check(text, variable)
        return {variable: text}  # named, so that launchers hand it on
    if file is None and not named[0].is_file():
        raise TailraceError(
            f'the file of declarations is not there: {variable}="{text}"', where=variable,
            hint="name a file, or give the JSON itself, which begins with {",
        )  # fmt: skip
    check(read_all(named)[0][1], str(named[0]))
    return {variable: str(named[0].absolute())}


def check(text: str, where: str) -> None:
    """Raises: the text is no tailrace-declarations/1."""
    call("checked_declarations", text, where)
