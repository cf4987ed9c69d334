# SPDX-License-Identifier: Apache-2.0
"""What a tune has come to, for a person."""

from __future__ import annotations

import shlex
from typing import Any

from tailrace.cli.output import Output
from tailrace.tune.words import (
    apply_command,
    chunk_text,
    content_text,
    itself_text,
    repack_text,
    rule_text,
    speed_text,
    verdict_text,
)
from tailrace.units import mib, plural

Document = dict[str, Any]


def show(output: Output, result: Document) -> None:
    """The verdict, the times, the rules, and what to do with it."""
    kept = result["kept"]
    output.line(verdict_text(result), "bold green" if kept else "bold")
    if speed := speed_text(result):
        output.line(f"  {speed}")
    if result["verdict"] == "no_verdict" and (itself := itself_text(result)):
        output.line(f"  the default against itself: {itself}")
    output.line(f"  content: {content_text(result)}")
    for rule in result["rules"]:
        output.line(f"  {rule_text(rule)}")
    for change in result["changes"]:
        output.line(f"  {change}")
    if arm := result["repack"]:
        output.line(f"  repack: {repack_text(arm)}")
        if arm["content"]:
            equal = "equal" if arm["became"] != "not_proven" else "NOT proven equal"
            output.line(f"    content: {equal} in {arm['content']['what'] or 'nothing'}")
        for file in arm["files"]:
            for dataset in file["datasets"]:
                output.line(f"    {chunk_text(dataset)}")
    report = result["content"]["report"]
    for note in [*result["notes"], *(report["notes"] if report else [])]:
        output.line(f"note: {note}")
    if kept:
        output.line(f"plan: {apply_command(result)}")
    if arm and arm["became"] == "faster":
        for file in arm["files"]:
            output.line(f"repack: {file['command']}")
    output.line(f"report: {result['report']}")


def show_preview(output: Output, before: Document) -> None:
    """What --dry-run tells."""
    output.line(f"runs: {shlex.join(before['argv'])}")
    output.line(f"in: {before['folder']}, a fresh folder for each run")
    output.line(
        f"copied first: {plural(before['copied_files'], 'file')} ({mib(before['copied_bytes'])}), "
        f"and {mib(before['free_bytes'])} are free"
    )
    if before["linked"]:
        output.line(f"linked: {', '.join(before['linked'])}")
    for note in before["notes"]:
        output.line(f"note: {note}")
    output.line(
        "one recorded run, two default runs whose files are kept, one without hooks, one with the "
        "plan, one without each rule if the plan is much faster, and 3 to 16 pairs of default and "
        "plan, as long as --budget allows"
    )
