# SPDX-License-Identifier: Apache-2.0
"""Writes the page and the CSV files: whole or not at all, and never over what is not ours."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from tailrace.report.model import Page, Table
from tailrace.report.page import generator
from tailrace.report.sections import repetition_rows
from tailrace.report.view import View
from tailrace.whole_files import check_place, is_stream, refused, write_text

__all__ = ["check_target", "csv_text", "is_report", "write_csv", "write_text"]

_sign = f'<meta name="generator" content="{generator}">'
_begins = 2000  # bytes in which the sign of a report stands


def check_target(path: Path) -> None:
    """Raises TailraceError where the page cannot be written, before any work is done."""
    if path.is_dir():
        raise refused(path, "is a folder", "name a file in it, for example report.html")
    check_place(path)
    if path.exists() and not is_stream(path) and not is_report(path):
        raise refused(
            path, "is there and is no report of tailrace; it is not overwritten",
            "give another name with -o, or remove it",
        )  # fmt: skip


def is_report(path: Path) -> bool:
    """Whether the file is one that this command has written (or is empty)."""
    try:
        with path.open("rb") as stream:
            begin = stream.read(_begins)
    except OSError as error:
        raise refused(path, f"cannot be read: {error.strerror}", "give another name") from error
    return not begin or _sign.encode() in begin


def write_csv(folder: Path, page: Page, views: Iterable[View]) -> list[Path]:
    """One file for each plot, and one with every repetition of each section."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise refused(
            folder, f"cannot be made: {error.strerror}", "name another with --csv"
        ) from error
    tables = {figure.name: figure.table for figure in page.figures()}
    for view in views:
        tables[f"{view.name}-repetitions"] = repetition_rows(view, range(len(view.group.records)))
    written = []
    for name, table in tables.items():
        path = folder / f"{name}.csv"
        write_text(path, csv_text(table))
        written.append(path)
    return written


def csv_text(table: Table) -> str:
    """All digits; what was not measured is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(["" if value is None else value for value in row] for row in table.rows)
    return text.getvalue()
