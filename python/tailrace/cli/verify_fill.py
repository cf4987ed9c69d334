# SPDX-License-Identifier: Apache-2.0
"""Prints the check of kernels' files against their fill."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from tailrace.cli.output import Output, json_safe
from tailrace.cli.verify_arrays import about_run, first_wrong, wrong_table
from tailrace.errors import ExitCode, TailraceError
from tailrace.units import grouped, mib, plural
from tailrace.verify.check_arrays import ArraysReport, check_kernel_file
from tailrace.verify.close import EXACT, Tolerance
from tailrace.verify.seism import FillReport


def check_files(
    output: Output,
    files: list[Path],
    *,
    plugin_library: str = "",
    tolerance: Tolerance = EXACT,
    most: int = 10,
) -> int:
    """Checks one after another; the exit code is the worst one."""
    results: list[dict[str, Any]] = []
    codes: list[int] = []
    for path in files:
        try:
            with output.progress(path.name) as meter:
                report = check_kernel_file(
                    path,
                    plugin_library=plugin_library,
                    tolerance=tolerance,
                    most=most,
                    meter=meter,
                )
        except TailraceError as error:
            output.error(error)
            results.append({"file": str(path), "ok": False, "error": error.as_json()})
            codes.append(error.code)
            continue
        _print(output, report)
        results.append(_as_json(report))
        codes.append(report.code)
    output.json({"command": "verify", "mode": "fill", "files": results, "ok": not any(codes)})
    return worst(codes)


def worst(codes: list[int]) -> int:
    """3 (wrong content) before 4, 2 and 1 (could not be judged)."""
    order = (ExitCode.VERIFICATION_FAILED, ExitCode.CAPABILITY_MISSING, ExitCode.USAGE)
    return next((code for code in order if code in codes), max(codes, default=0))


Report = FillReport | ArraysReport


def _print(output: Output, report: Report) -> None:
    kernel = report.run.kernel if isinstance(report, ArraysReport) else "seism"
    what = report.run.about if isinstance(report, ArraysReport) else report.run.describe()
    rate = report.read_bytes / report.elapsed_s if report.elapsed_s > 0 else 0.0
    output.line(f"{report.path}: {kernel}, {report.format}")
    output.line(f"  {what}")
    output.line(f"  correct  {grouped(report.correct):>20}")
    output.line(f"  wrong    {grouped(report.wrong):>20}", "bold red" if report.wrong else "")
    if report.unwritten:
        output.line(f"  unwritten{grouped(report.unwritten):>20}  (no storage)", "bold red")
    output.line(f"  read {mib(report.read_bytes)} in {report.elapsed_s:.2f} s ({mib(rate)}/s)")
    if report.wrong:
        _print_wrong(output, report)
    verdict = "verified: every element is as its fill says" if report.ok else "VERIFICATION FAILED"
    if report.ok and not report.tolerance.exact:
        verdict += f", within {report.tolerance.describe()}"
    if report.quantized:
        verdict += f" (numbers quantised: {report.quantized})"
    output.line(verdict, "green" if report.ok else "bold red")


def _print_wrong(output: Output, report: Report) -> None:
    ranks, steps = report.wrong_by_rank, report.wrong_by_step
    output.line(f"  wrong in {plural(len(steps), 'step')}: {_most(steps)}")
    output.line(f"  wrong in blocks of {plural(len(ranks), 'rank')}: {_most(ranks)}")
    output.show(_table(report))
    if report.wrong > len(report.first):
        output.line(f"  ... and {grouped(report.wrong - len(report.first))} more")


def _table(report: Report) -> Table:
    if isinstance(report, ArraysReport):
        return wrong_table(report)
    table = Table(box=box.SIMPLE, pad_edge=False, title_justify="left")
    for name in ("step", "x", "y", "z", "rank", "expected", "found"):
        table.add_column(name, justify="right")
    for item in report.first:
        places = (item.step, item.x, item.y, item.z, item.rank)
        table.add_row(*(str(n) for n in places), f"{item.expected:.9g}", f"{item.found:.9g}")
    return table


def _most(counts: Counter[int]) -> str:
    first = sorted(counts)[:8]
    more = ", ..." if len(counts) > len(first) else ""
    return ", ".join(str(number) for number in first) + more


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "file": str(report.path),
        "ok": report.ok,
        "format": report.format,
        **(about_run(report) if isinstance(report, ArraysReport) else _about_seism(report)),
        "quantized": report.quantized or None,
        "rtol": report.tolerance.relative,
        "atol": report.tolerance.absolute,
        "correct": report.correct,
        "wrong": report.wrong,
        "unwritten": report.unwritten,
        "read_bytes": report.read_bytes,
        "elapsed_s": report.elapsed_s,
        "wrong_by_rank": {str(rank): n for rank, n in sorted(report.wrong_by_rank.items())},
        "wrong_by_step": {str(step): n for step, n in sorted(report.wrong_by_step.items())},
        "first_wrong": (
            first_wrong(report) if isinstance(report, ArraysReport) else _first_of_seism(report)
        ),
    }


def _about_seism(report: FillReport) -> dict[str, Any]:
    run = report.run
    plugin = {
        "library": run.library,
        "function": run.function,
        "arguments": list(run.arguments),
    }
    return {
        "kernel": "seism",
        "fill": run.fill,
        "plugin": plugin if run.fill == "plugin" else None,
        "processor": list(run.processor),
        "domain": list(run.domain),
        "steps": run.steps,
    }


def _first_of_seism(report: FillReport) -> list[dict[str, Any]]:
    return [
        {
            "step": item.step,
            "position": [item.x, item.y, item.z],
            "rank": item.rank,
            "expected": json_safe(item.expected),
            "found": json_safe(item.found),
        }
        for item in report.first
    ]
