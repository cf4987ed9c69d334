# SPDX-License-Identifier: Apache-2.0
"""What became of a plan, for a person."""

from __future__ import annotations

from typing import Any

from tailrace.cli.output import Output, printable
from tailrace.intent.apply import Line
from tailrace.units import plural

_said = {
    "applied": "applied",
    "kept": "not applied",
    "misfit": "dropped",
    "held": "held back",
    "refused": "refused by the library",
    "disagreed": "off",
    "unavailable": "not there",
    "failed": "made a call of the program fail",
    "not met": "not met",
}
_most_places = 3


def show(output: Output, lines: list[Line], found: dict[str, Any]) -> None:
    """A line per rule and what became of it, then what is missing."""
    if not lines:
        output.line("The plan has nothing to apply.")
    for line in lines:
        output.line(printable(text_of(line)))
    for note in found["notes"]:
        output.line(printable(note))
    if found["dropped"]:
        output.line(f"{plural(found['dropped'], 'outcome')} lost, for want of room")


def text_of(line: Line) -> str:
    """'rule 13, chunk_cache_bytes = 28800000: applied 3 times: f.h5:/rows'."""
    words = f"rule {line.rule}, " if line.rule else ""
    words += line.setting or "the plan"
    words += f" = {line.value}" if line.value else ""
    words += f": {_said[line.became]}"
    if line.count and line.became == "applied":
        words += f" {plural(line.count, 'time')}"
    if line.reason:
        words += f": {line.reason}"
    if line.places:
        shown = ", ".join(line.places[:_most_places])
        more = len(line.places) - _most_places
        words += f": {shown}" + (f" and {plural(more, 'other place')}" if more > 0 else "")
    return words
