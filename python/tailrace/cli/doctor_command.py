# SPDX-License-Identifier: Apache-2.0
"""`tailrace doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output, printable
from tailrace.doctor.model import Section
from tailrace.errors import ExitCode

_marks = {"ok": ("ok", "green"), "missing": ("MISSING", "bold red"), "note": ("-", "yellow")}

Folder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="The folder for your files. [default: here]",
                   show_default=False),
]  # fmt: skip


def doctor(folder: Folder = Path(), as_json: Json = False, quiet: Quiet = False) -> int:
    """Show what is here, what is missing, and how to get it.

    The exit code is 0, even if something is missing.
    """
    from tailrace.doctor.examine import examine

    output = Output(as_json=as_json, quiet=quiet)
    sections = examine(folder.absolute())
    for section in sections:
        output.line(section.title, "bold")
        output.show(Padding(_table(section), (0, 0, 0, 2)))
    lacking = [
        f"{section.title}: {finding.name}"
        for section in sections
        for finding in section.findings
        if finding.state == "missing" and section.key != "commands"
    ]
    if lacking:
        output.line(f"missing: {'; '.join(lacking)}")
    else:
        output.line("nothing is missing", "green")
    output.json(_as_json(folder, sections, lacking))
    return ExitCode.OK


def _table(section: Section) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(width=7)
    table.add_column(width=14)
    table.add_column(overflow="fold")
    for finding in section.findings:
        mark, style = _marks[finding.state]
        table.add_row(
            Text(mark, style=style), printable(finding.name), Text(printable(finding.value))
        )
        if finding.remedy:
            table.add_row("", "", Text(f"> {printable(finding.remedy)}", style="italic"))
    return table


def _as_json(folder: Path, sections: list[Section], lacking: list[str]) -> dict[str, Any]:
    return {
        "command": "doctor",
        "folder": str(folder.absolute()),
        "missing": lacking,
        "sections": {
            section.key: {
                finding.name: {
                    "state": finding.state,
                    "value": finding.value,
                    "remedy": finding.remedy or None,
                    **finding.data,
                }
                for finding in section.findings
            }
            for section in sections
        },
    }
