# SPDX-License-Identifier: Apache-2.0
"""Prints a comparison at the width of the terminal, 80 columns and more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from tailrace import statistics
from tailrace.cli.output import Output, printable
from tailrace.compare.words import effect_text

if TYPE_CHECKING:
    from tailrace.compare.analysis import Analysis
    from tailrace.compare.differences import Difference
    from tailrace.compare.sides import Side

_titles = {"durable": "durable rate", "write": "raw write rate", "aggregate": "aggregate rate"}
_colours = {"faster": "green", "slower": "red"}
_mib = 1 << 20


def print_analysis(output: Output, found: Analysis, **more: Any) -> int:
    """For a person or, with `more` keys, for a program."""
    show(output, found)
    output.json({"command": "compare", **found.as_json(), **more})
    return 0


def show(output: Output, found: Analysis) -> None:
    a, b = found.sides.a, found.sides.b
    output.line(f"A: {a.selection.text}")
    output.line(f"B: {b.selection.text}")
    output.line()
    output.show(_figures(found))
    output.line()
    _show_verdict(output, found)
    _show_phases(output, found)
    for title, rows in (
        ("Who wrote (per repetition, below all libraries)", found.writers),
        ("Steps (of the median repetition)", found.steps),
        ("In the configuration", found.configuration),
        ("In force, as read back", found.in_force),
        ("In the context", found.context),
    ):
        _show_differences(output, title, rows)
    if found.notes:
        output.line()
    for note in found.notes:
        output.line(f"note: {note}")


def _table(*titles: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, justify="right" if title in {"A", "B", "B - A"} else "left")
    return table


def _figures(found: Analysis) -> Table:
    a, b = found.sides.a, found.sides.b
    table = _table("", "A", "B")
    table.add_row("repetitions", str(len(a.timed)), str(len(b.timed)))
    shown = dict.fromkeys(["durable", "write", found.metric])
    for metric in (one for one in _titles if one in shown):
        medians, ranges = zip(_rate(a, metric), _rate(b, metric), strict=True)
        table.add_row(f"{_titles[metric]}, MiB/s, median", *medians)
        table.add_row("  range", *ranges)
    stalls = [side.values("stall_s") for side in (a, b)]
    if all(stalls):
        shown_s = (f"{statistics.median(values):,.4g}" for values in stalls)
        table.add_row("stall of the model, s, median", *shown_s)
    return table


def _rate(side: Side, metric: str) -> tuple[str, str]:
    values = [value / _mib for value in side.values(f"{metric}_bytes_per_s")]
    if not values:
        return "not measured", ""
    found = statistics.summarize(values)
    return f"{found.median:,.1f}", f"{found.min:,.1f} to {found.max:,.1f}"


def _show_verdict(output: Output, found: Analysis) -> None:
    comparison = found.comparison
    ratio = f"B / A    {comparison.ratio:.3f}"
    if comparison.interval:
        low, high = comparison.interval
        ratio += f"   95 % interval {low:.3f} to {high:.3f}"
    output.line(f"{ratio}   effect {effect_text(comparison.ratio)}")
    if found.same and found.same.interval:
        low, high = found.same.interval
        output.line(f"A / A    {found.same.ratio:.3f}   95 % interval {low:.3f} to {high:.3f}")
    first, *more = found.verdict
    _wrapped(output, f"verdict  {first}", _colours.get(comparison.verdict, "bold"))
    for sentence in more:
        _wrapped(output, f"         {sentence}")


def _wrapped(output: Output, text: str, style: str = "") -> None:
    """Later lines begin under the first word of the sentence."""
    lead = "verdict  "
    table = Table(box=None, padding=0, show_edge=False, show_header=False)
    table.add_column(width=len(lead))
    table.add_column()
    table.add_row(text[: len(lead)].rstrip(), Text(printable(text[len(lead) :]), style=style))
    output.show(table)


def _show_phases(output: Output, found: Analysis) -> None:
    if not found.phases:
        return
    table = _table("Phases that differ, s", "A", "B", "B - A", "")
    for one in found.phases:
        mark = "" if one.apart else "ranges overlap"
        table.add_row(
            one.name, f"{one.a_s:.4f}", f"{one.b_s:.4f}", f"{one.difference_s:+.4f}", mark
        )
    output.line()
    output.show(table)


def _show_differences(output: Output, title: str, rows: list[Difference]) -> None:
    if not rows:
        return
    output.line()
    output.line(title, "bold")
    for row in rows:
        key, a, b = (printable(text) for text in (row.key, row.a, row.b))
        line = f"  {key}: A {a}, B {b}"
        if len(line) <= output.width:
            output.line(line)
            continue
        output.line(f"  {key}:")
        output.line(f"      A {a}")
        output.line(f"      B {b}")
