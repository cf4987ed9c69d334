# SPDX-License-Identifier: Apache-2.0
"""Tailrace: measure, understand, tune and hide the output of parallel programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from tailrace.intent.declare import Intents


def load(paths: Iterable[Path | str] | Path | str) -> pd.DataFrame:
    """The Records of one or several results files (`results.jsonl`) as a pandas table."""
    from tailrace.results.frame import load as load_frame  # heavy: only where it is asked for

    return load_frame(paths)


def intent_set(target: Any, declarations: Mapping[str, Any]) -> None:
    """Declares what is to be done with the files or datasets of a property list.

    Args:
        target: a list of h5py, or the number of one (hid_t).
        declarations: such as {"reliability": "scratch"}; docs/user/declare.md.
    """
    from tailrace.intent import declare

    declare.intent_set(target, declarations)


def intent_get(target: Any) -> dict[str, Any]:
    """What is declared on a property list; empty: nothing."""
    from tailrace.intent import declare

    return declare.intent_get(target)


def intent_clear(target: Any) -> None:
    """Takes a declaration off a property list."""
    from tailrace.intent import declare

    declare.intent_clear(target)


def intents(declarations: Mapping[str, Any], pattern: str | Sequence[str] | None = None) -> Intents:
    """A block within which files of a pattern are declared, whichever library opens them.

    Args:
        declarations: such as {"reliability": "scratch"}, or {"files": {PATTERN: ...}}.
        pattern: of the files; left out where the declarations have patterns themselves.
    """
    from tailrace.intent.declare import Intents as Block

    return Block(declarations, pattern)
