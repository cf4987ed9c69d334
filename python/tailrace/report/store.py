# SPDX-License-Identifier: Apache-2.0
"""Writes the page and the CSV files: whole or not at all, and never over what is not ours."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.report.model import Page, Table
from tailrace.report.page import generator
from tailrace.report.sections import repetition_rows
from tailrace.report.view import View

_sign = f'<meta name="generator" content="{generator}">'
_begins = 2000  # bytes in which the sign of a report stands


def check_target(path: Path) -> None:
    """Raises TailraceError where the page cannot be written, before any work is done."""
    if path.is_dir():
        raise _refused(path, "is a folder", "name a file in it, for example report.html")
    _check_folder(path.parent)
    if path.exists() and not is_report(path):
        raise _refused(
            path, "is there and is no report of tailrace; it is not overwritten",
            "give another name with -o, or remove it",
        )  # fmt: skip


def is_report(path: Path) -> bool:
    """Whether the file is one that this command has written (or is empty)."""
    try:
        with path.open("rb") as stream:
            begin = stream.read(_begins)
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}", "give another name") from error
    return not begin or _sign.encode() in begin


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise _refused(folder, "there is no such folder", "make it first, or name another with -o")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _refused(
            folder, f"cannot be written: {error.strerror}", "name another folder"
        ) from error


def write_text(path: Path, text: str) -> None:
    """Under a temporary name, synced, then renamed."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise _lost(path, error) from error
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except OSError as error:
        raise _lost(path, error) from error
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    """What the files of this process are made with."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_csv(folder: Path, page: Page, views: Iterable[View]) -> list[Path]:
    """One file for each plot, and one with every repetition of each section."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise _refused(
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


def _lost(path: Path, error: OSError) -> TailraceError:
    """It was possible before the work, and is no longer."""
    return TailraceError(
        f"could not be written: {error.strerror}",
        where=str(path),
        hint="what was there before is untouched; make room, or name another file",
        code=ExitCode.RUN_FAILED,
    )


def _refused(path: Path, what: str, hint: str) -> TailraceError:
    return TailraceError(what, where=str(path), hint=hint)
