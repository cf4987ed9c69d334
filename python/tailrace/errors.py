# SPDX-License-Identifier: Apache-2.0
"""Errors as the user sees them: what, where, the next step, and the exit code."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command."""

    OK = 0
    RUN_FAILED = 1
    USAGE = 2
    VERIFICATION_FAILED = 3
    CAPABILITY_MISSING = 4
    # Of commands that else end as the program does that they run; as of env, timeout and shells.
    OWN_FAILURE = 125
    NOT_STARTED = 126
    NOT_FOUND = 127
    INTERRUPTED = 130


class TailraceError(Exception):
    """Something the user can act on; printed in one line and a hint, without a traceback."""

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", code: ExitCode = ExitCode.USAGE
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint
        self.code = code

    def text(self) -> str:
        """The lines for stderr."""
        where = f"{self.where}: " if self.where else ""
        lines = f"tailrace: error: {where}{_sentence(self.what)}"
        if self.hint:
            lines += f"\n       hint: {_sentence(self.hint)}"
        return lines

    def as_json(self) -> dict[str, str | int]:
        """The value of the key `error`."""
        return {
            "what": self.what,
            "where": self.where,
            "hint": self.hint,
            "exit_code": int(self.code),
        }


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean "..."?` for a word that resembles a known one; else nothing."""
    near = get_close_matches(word, list(known), 1)
    return f' Did you mean "{near[0]}"?' if near else ""


def _sentence(text: str) -> str:
    """One line, ended by a full stop."""
    line = " ".join(text.split())
    return line if line.endswith((".", "?", "!")) else f"{line}."
