# SPDX-License-Identifier: Apache-2.0
"""The man pages, made of what `--help` says:   python -m tailrace.cli.man_pages FOLDER"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from tailrace.cli.app import app_for
from tailrace.cli.versions import version

Entries = list[tuple[str, str]]


@dataclass
class Page:
    """A command: `tailrace` itself, or one of its commands."""

    name: str  # tailrace-tune
    synopsis: str
    paragraphs: list[str]
    sections: list[tuple[str, Entries]]  # OPTIONS and the like: terms and what they mean

    @property
    def purpose(self) -> str:
        """The first sentence."""
        return self.paragraphs[0].split(". ")[0].rstrip(".")


def _page(name: str, command: Any, context: Any) -> Page:
    arguments: Entries = []
    options: Entries = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:  # None: hidden
            text = " ".join(record[1].split())
            if parameter.param_type_name == "argument":
                arguments.append((record[0], text))
            else:
                options.append((record[0], text))
    commands = [
        (f"tailrace {one}", _page(one, sub, context).purpose + ".")
        for one, sub in getattr(command, "commands", {}).items()
        if not sub.hidden
    ]
    sections = [("Arguments", arguments), ("Commands", commands), ("Options", options)]
    text = f"{command.help or ''}\n\n{command.epilog or ''}"
    return Page(
        name,
        " ".join([name.replace("-", " "), *command.collect_usage_pieces(context)]),
        [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())],
        [(title, entries) for title, entries in sections if entries],
    )


def pages() -> list[Page]:
    """Of `tailrace`, and of each command in the order of the help."""
    top: Any = typer.main.get_command(app_for([]))
    context = top.make_context("tailrace", [], resilient_parsing=True)
    found = [_page("tailrace", top, context)]
    for name, command in top.commands.items():
        found.append(_page(f"tailrace-{name}", command, context))
    return found


def escaped(text: str) -> str:
    """For roff: a backslash, dashes that are to be pasted, and no line that is a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"`(.+?)`", r"\\fB\1\\fR", re.sub(r"^(?=[.'])", r"\\&", text))


def roff(page: Page, others: list[Page]) -> str:
    """The source of a man page."""
    lines = [
        f'.TH {page.name.upper()} 1 "" "Tailrace {version()}"',
        f".SH NAME\n{page.name} \\- {escaped(page.purpose)}",
        f".SH SYNOPSIS\n{escaped(page.synopsis)}",
        ".SH DESCRIPTION",
        "\n.PP\n".join(escaped(text) for text in page.paragraphs),
    ]
    for title, entries in page.sections:
        lines.append(f".SH {title.upper()}")
        lines += [f".TP\n\\fB{escaped(term)}\\fR\n{escaped(text)}" for term, text in entries]
    also = ", ".join(f".BR {other.name} (1)" for other in others if other.name != page.name)
    lines.append(".SH SEE ALSO\n" + also.replace(", ", " ,\n"))
    return "\n".join(lines) + "\n"


def write(folder: Path) -> None:
    """All of them, as FOLDER/NAME.1."""
    folder.mkdir(parents=True, exist_ok=True)
    top, *commands = pages()
    for page in (top, *commands):
        others = commands if page is top else [top]
        (folder / f"{page.name}.1").write_text(roff(page, others), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
