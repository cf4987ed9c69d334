# SPDX-License-Identifier: Apache-2.0
"""Prints the comparison of two files."""

from __future__ import annotations

from pathlib import Path

from tailrace.cli.output import Output
from tailrace.units import mib, plural
from tailrace.verify.compare import CompareOptions, compare_files
from tailrace.verify.differences import CompareReport, Difference

_words = {
    "only": "is in one only",
    "kind": "is of another kind",
    "link": "points elsewhere",
    "type": "has another type",
    "extents": "has other extents",
    "limits": "has other greatest extents",
    "dimensions": "has other dimensions",
}


def compare_two(output: Output, one: Path, other: Path, options: CompareOptions) -> int:
    with output.progress(f"{one.name} | {other.name}") as meter:
        report = compare_files(one, other, options, meter)
    for pattern in report.unused_patterns:
        output.note(f"--ignore {pattern}: nothing has that name")
    _print(output, report)
    output.json(
        {
            "command": "verify",
            "mode": "compare",
            "a": {"file": str(one), "format": report.formats[0]},
            "b": {"file": str(other), "format": report.formats[1]},
            "ok": report.ok,
            "compared_as": report.model,
            "objects": report.objects,
            "attributes": report.attributes,
            "read_bytes": report.read_bytes,
            "elapsed_s": report.elapsed_s,
            "differences": report.total,
            "differing_elements": report.differing_elements,
            "first_differences": [item.as_json() for item in report.first],
        }
    )
    return int(report.code)


def _print(output: Output, report: CompareReport) -> None:
    output.line(f"A: {report.one} ({report.formats[0]})")
    output.line(f"B: {report.other} ({report.formats[1]})")
    if report.formats[0] != report.formats[1]:
        output.line(f"  compared as {report.model}")
    last: tuple[str, str] | None = None
    for item in report.first:
        if item.index is not None and last != (item.path, item.kind):
            output.line(f"  {item.path}: {plural(item.count, 'element')} differ{_s(item.count)}")
        last = (item.path, item.kind)
        _print_one(output, item)
    printed = len({(item.path, item.kind, item.attribute) for item in report.first})
    if report.total > printed:
        output.line(f"  ... and {plural(report.total - printed, 'difference')} more")
    output.line(
        f"  {plural(report.objects, 'object')}, {plural(report.attributes, 'attribute')}, "
        f"{mib(report.read_bytes)} of each, {report.elapsed_s:.2f} s"
    )
    if report.ok:
        output.line("same logical content", "green")
        return
    elements = report.differing_elements
    what = f" ({plural(elements, 'element')})" if elements else ""
    text = f"DIFFERENT: {plural(report.total, 'difference')}{what}"
    output.line(text, "bold red")


def _print_one(output: Output, item: Difference) -> None:
    title = f"  {item.where}"
    if item.kind in _words:
        title += f" {_words[item.kind]}"
    elif item.attribute:
        title += " has another value"
    texts = f"A: {item.one}", f"B: {item.other}"
    line = f"{title}: {texts[0]}  {texts[1]}"
    if len(line) <= output.width:
        output.line(line)
        return
    output.line(f"{title}:")
    for text in texts:
        output.line(f"      {text}")


def _s(count: int) -> str:
    return "s" if count == 1 else ""
