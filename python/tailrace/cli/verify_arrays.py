# SPDX-License-Identifier: Apache-2.0
"""What is particular to the check of a kernel with several arrays."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.table import Table

from tailrace.cli.output import json_safe
from tailrace.verify.check_arrays import ArraysReport


def wrong_table(report: ArraysReport) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, title_justify="left")
    for name in ("dataset", "position", "rank", "expected", "found"):
        table.add_column(name, justify="left" if name == "dataset" else "right")
    for item in report.first:
        rank = "nobody" if item.rank < 0 else str(item.rank)
        position = item.where or ", ".join(str(n) for n in item.position)
        table.add_row(item.path, position, rank, f"{item.expected:.17g}", f"{item.found:.17g}")
    return table


def about_run(report: ArraysReport) -> dict[str, Any]:
    run = report.run
    return {
        "kernel": run.kernel,
        "fill": run.fill,
        "ranks": run.ranks,
        "steps": run.steps,
        "datasets": [one.path for one in run.arrays],
    }


def first_wrong(report: ArraysReport) -> list[dict[str, Any]]:
    return [
        {
            "dataset": item.path,
            "step": item.step,
            "position": list(item.position),
            "rank": item.rank,
            "expected": json_safe(item.expected),
            "found": json_safe(item.found),
        }
        for item in report.first
    ]
