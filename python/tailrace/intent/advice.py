# SPDX-License-Identifier: Apache-2.0
"""Plans: from profiles and rules, by the compiled helper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError

Document = dict[str, Any]


def native(what: str) -> Any:
    """The helper."""
    from tailrace.native import core

    module = core()
    if module is None or not hasattr(module, "advise"):
        raise TailraceError(
            "the compiled helper that knows the rules is missing",
            where=what,
            hint="install a C++ compiler (Debian: apt-get install g++), then `pip install "
            "--force-reinstall` tailrace again; or `make build` in a clone",
            code=ExitCode.CAPABILITY_MISSING,
        )
    return module


def texts(files: Sequence[Path]) -> list[tuple[str, str]]:
    """Names and texts of files."""
    return [(str(file), read_text(file)) for file in files]


def read_text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        raise TailraceError("there is no such file", where=str(file)) from None
    except IsADirectoryError:
        raise TailraceError("this is a folder", where=str(file), hint="name a file") from None


def advise(inputs: Sequence[Path], rules: Sequence[Path], allow: Sequence[str]) -> Document:
    """The plan that follows."""
    found: Document = json.loads(
        calling(native("advise").advise, texts(inputs), texts(rules), list(allow))
    )
    return found


def load(file: Path) -> Document:
    """A plan, checked."""
    found: Document = json.loads(calling(native("plan").checked_plan, read_text(file), str(file)))
    return found


def rule_table(rules: Sequence[Path]) -> Document:
    """All rules, conflicts, measures, settings and functions."""
    found: Document = json.loads(calling(native("rules").rule_table, texts(rules)))
    return found


def calling(function: Any, *arguments: Any) -> Any:
    """A function of the helper; what it throws becomes an error of ours."""
    try:
        return function(*arguments)
    except ValueError as error:
        raise TailraceError(
            getattr(error, "what", str(error)),
            where=getattr(error, "where", ""),
            hint=getattr(error, "hint", ""),
            code=ExitCode(getattr(error, "exit_code", ExitCode.USAGE)),
        ) from None
