# SPDX-License-Identifier: Apache-2.0
"""MPI-IO hints: for ROMIO a file that ROMIO_HINTS names, one line per hint."""

from __future__ import annotations

from typing import Any

from tailrace.intent.snippets.values import places

_prefix = "hint."


def hint_lines(plan: dict[str, Any]) -> list[str]:
    """`NAME VALUE` lines, and what the environment sets. A hint holds for all files of the run."""
    lines: list[str] = []
    seen: dict[str, str] = {}
    for place in places(plan):
        hints = {
            key.removeprefix(_prefix): str(value)
            for key, value in place.values.items()
            if key.startswith(_prefix)
        }
        fresh = {name: value for name, value in hints.items() if name not in seen}
        if fresh:
            lines.append(f"# {place.title}")
            lines += [f"{name} {value}" for name, value in fresh.items()]
            seen |= fresh
    if lines:
        lines.insert(0, "# ROMIO_HINTS=FILE with these lines, or MPI_Info_set in the program")
    for one in plan.get("environment", []):
        lines.append(f"# export {one['name']}='{one['value']}'")
    return lines
