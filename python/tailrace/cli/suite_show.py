# SPDX-License-Identifier: Apache-2.0
"""Prints a suite at the width of the terminal, 80 columns and more."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from tailrace.cli.output import Output, printable
from tailrace.suite.summary import Rate, Row
from tailrace.units import mebi, plural

_words = {
    "write": "write calls",
    "aggregate": "create to close",
    "open_to_close": "open to close",
}


def show(output: Output, rows: Sequence[Row], repeat: int) -> None:
    output.line("MiB/s; here: median and 95 % interval, the durable rate below it", "bold")
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    for title in ("case", "published", "here (interval)", "scaled by"):
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(
            f"{row.job.case.name}\n  {_words[row.figure]}",
            _published(row),
            _here(row),
            row.job.scaled.by,
        )
    output.show(table)
    for text in dict.fromkeys(
        f"not run: {row.job.case.name}: {row.job.why_not}" for row in rows if row.job.why_not
    ):
        output.line(printable(text))
    if any(row.here and row.here.interval is None for row in rows):
        output.line(f"{plural(repeat, 'repetition')}: too few for an interval, six are enough")
    for text in dict.fromkeys(
        f"published ({row.job.case.machine}): {row.job.case.source}"
        for row in rows
        if row.published
    ):
        output.line(text)


def _published(row: Row) -> str:
    if row.published is None:
        return "none"
    return f"{row.published / mebi:.4g}\n({row.job.case.where})"


def _here(row: Row) -> str:
    if row.here is None:
        return "not run"
    return f"{_rate(row.here)}\ndurable {_rate(row.durable)}"


def _rate(rate: Rate | None) -> str:
    if rate is None:
        return "not measured"
    text = f"{rate.median / mebi:.4g}"
    if rate.interval is None:
        return text
    low, high = (bound / mebi for bound in rate.interval)
    return f"{text} ({low:.4g}-{high:.4g})"
