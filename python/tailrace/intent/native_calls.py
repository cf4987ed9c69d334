# SPDX-License-Identifier: Apache-2.0
"""The functions of the compiled helper on profiles and intents; its errors as ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tailrace.errors import ExitCode, TailraceError
from tailrace.native import core, missing


def intents_of(
    profiles: Sequence[tuple[str, str]],
    declarations: Sequence[tuple[str, str]] = (),
    *,
    classic: bool = False,
    brief: bool = False,
) -> str:
    """The intents in profiles, as tailrace-intents/1 or in the published H5Intent form.

    Args:
        profiles: paths, for messages, and texts of schema tailrace-profile/1.
        declarations: the same of schema tailrace-declarations/1.
        classic: in the published form.
        brief: of datasets only what they are and how much they move.

    Raises:
        TailraceError: a text is no profile, or the compiled helper is missing.
    """
    return str(call("intents", list(profiles), list(declarations), classic, brief))


def checked_profile(text: str, where: str) -> str:
    """A profile read and written again."""
    return call("checked_profile", text, where)


def checked_intents(text: str, where: str) -> str:
    """Intents read and written again."""
    return call("checked_intents", text, where)


def call(name: str, *arguments: Any) -> Any:
    """A function of the helper; what it throws becomes an error of ours."""
    module = core()
    function: Callable[..., Any] | None = getattr(module, name, None)
    if function is None:
        raise missing("profiles, intents and plans need the compiled part of this package")
    try:
        return function(*arguments)
    except ValueError as error:
        what = getattr(error, "what", None)
        if what is None:
            raise
        raise TailraceError(
            str(what),
            where=str(getattr(error, "where", "")),
            hint=str(getattr(error, "hint", "")),
            code=ExitCode(getattr(error, "exit_code", 2)),
        ) from None
