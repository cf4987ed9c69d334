# SPDX-License-Identifier: Apache-2.0
"""MPI-IO hints: for ROMIO a file that ROMIO_HINTS names, one line per hint."""

from __future__ import annotations

from typing import Any

from tailrace.intent.snippets.unsaid import unsaid
from tailrace.intent.snippets.values import Place, Setting, one_line, places

_prefix = "hint."


def hint_lines(plan: dict[str, Any]) -> tuple[list[str], list[str]]:
    """`NAME VALUE` lines, and what the environment sets. A hint holds for all files of the run.

    ROMIO reads the beginning of the file only: hints come before comments.
    """
    found = places(plan, advised=False)
    seen: dict[str, str] = {}
    origins: list[str] = []
    for place in found:
        fresh = _fresh(place, seen)
        if fresh:
            origins.append(f"#   {', '.join(fresh)}: {place.hint_title}")
            origins += [f"#     {text}" for text in place.reasons(hints=True)]
            seen |= fresh
    lines = [f"{name} {value}" for name, value in seen.items()]
    if lines:
        lines += ["# ROMIO_HINTS=FILE with these lines, or MPI_Info_set in the program", *origins]
    comments = unsaid("hints of MPI-IO", found, plan, lambda one: _how(one, seen))
    return lines, [f"# {text}" for text in comments]


def _fresh(place: Place, seen: dict[str, str]) -> dict[str, str]:
    """Hints of a place that no other place set, and that a line can hold."""
    fresh: dict[str, str] = {}
    for key in [key for key in place.settings if key.startswith(_prefix)]:
        name, value = key.removeprefix(_prefix), str(place.value(key))
        if len(value.split()) != 1 or one_line(value) != value or name.startswith("#"):
            continue
        if seen.get(name, value) == value:
            place.say(key)
            if name not in seen:
                fresh[name] = value
    return fresh


def _how(one: Setting, seen: dict[str, str]) -> str:
    if not one.key.startswith(_prefix):
        return ""
    if one.key.removeprefix(_prefix) in seen:
        return "MPI_Info_set for that file alone: this file is for all of them, see above"
    return "MPI_Info_set in the program: ROMIO_HINTS takes no values with blanks"
