# SPDX-License-Identifier: Apache-2.0
"""Intents for a person: a few lines and a short table, within 80 columns."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from tailrace.cli.output import Output, printable, shortened
from tailrace.units import plural

Intent = dict[str, Any]

MOST_ROWS = 12
_name_width = 34


def show(output: Output, intents: Intent) -> None:
    """The workload, its files by pattern, and what the profiles do not agree about."""
    workload = intents["workload"]
    for word in ("why", "what", "how"):
        output.line(f"{word:<5}{workload['words'][word]}")
    reliability = workload["reliability"]
    sure = reliability["confidence"]
    how_sure = "declared" if sure == "full" else f"confidence: {sure}"
    output.line(f"     {reliability['value']} ({how_sure})")
    output.line()
    output.show(_table("File", _files(intents)))
    datasets = _datasets(intents)
    if datasets:
        output.line()
        output.show(_table("Dataset", datasets))
    for line in _left_out(intents) + declared(intents) + disagreements(intents):
        output.line(line)


def _table(title: str, rows: list[list[str]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    table.add_column(title, no_wrap=True)
    table.add_column("#", justify="right")
    table.add_column("Why and how")
    for row in rows[:MOST_ROWS]:
        table.add_row(*row)
    return table


def _files(intents: Intent) -> list[list[str]]:
    """A row per pattern of files."""
    rows = []
    for pattern in intents["workload"].get("patterns", []):
        one = _one_of(pattern, intents["files"])
        if one is None:
            continue
        what = one["type"]["value"].replace("_", "-")
        text = f"{what}: {one['words']['what']}; {one['words']['how']}"
        rows.append([_name(pattern["naming"]["pattern"]), str(pattern["files"]), text])
    return rows


def _one_of(pattern: Intent, files: Intent) -> Intent | None:
    """A file of a pattern. Where runs are joined, a file has the name that one of them gave it."""
    for name in pattern["examples"]:
        if name in files:
            return files[name]
    named = pattern["naming"]["pattern"]
    return next((one for one in files.values() if one["naming"]["pattern"] == named), None)


def _datasets(intents: Intent) -> list[list[str]]:
    """A row for each kind of dataset: those of which there is the same to say."""
    groups: dict[str, list[str]] = {}
    for one in intents.get("datasets", {}).values():
        words = one["words"]
        text = f"{one['type']['value'].replace('_', '-')}: {words['what']}; {words['how']}"
        groups.setdefault(text, []).append(one["naming"]["pattern"])
    rows = []
    for text, names in groups.items():
        others = len(set(names)) - 1
        more = f" and {others} more" if others else ""
        rows.append([_name(names[0], more), str(len(names)), text])
    return rows


def _left_out(intents: Intent) -> list[str]:
    """How many rows there would be more."""
    more = []
    for noun, rows in (("file", _files(intents)), ("dataset", _datasets(intents))):
        if len(rows) > MOST_ROWS:
            patterns = plural(len(rows) - MOST_ROWS, "more pattern")
            more.append(f"({patterns} of {noun}s)")
    return more


def disagreements(intents: Intent) -> list[str]:
    """Statements that differ between the profiles, at most a few."""
    lines = []
    places = [("workload", intents["workload"]), *intents["files"].items(),
              *intents.get("datasets", {}).items()]  # fmt: skip
    for where, intent in places:
        for key, statement in intent.items():
            if isinstance(statement, dict) and statement.get("changes"):
                values = ", ".join(
                    f"{one['value']} (profile {one['profile']})" for one in statement["by_profile"]
                )
                lines.append(f"differs: {_name(where)} {key}: {values}")
    return lines[:MOST_ROWS]


def declared(intents: Intent) -> list[str]:
    """What was declared, in a line; and what the profiles have against it, at most a few."""
    lines, statements, objects = [], 0, 0
    for where, intent in [*intents["files"].items(), *intents.get("datasets", {}).items()]:
        said = intent.get("declared", [])
        statements += len(said)
        objects += bool(said)
        for one in said:
            if text := one.get("contradiction"):
                source = one["from"].replace("_", " ")
                lines.append(
                    f"declared of {_name(where)}: {one['name']} {one['value']} ({source}), but "
                    f"{printable(text)}"
                )
    if not objects:
        return []
    more = (
        [f"({len(lines) - MOST_ROWS} more such contradictions)"] if len(lines) > MOST_ROWS else []
    )
    found = f"declared: {plural(statements, 'statement')} of {plural(objects, 'file or dataset')}"
    return [found.replace("file or datasets", "files or datasets"), *lines[:MOST_ROWS], *more]


def _name(text: str, more: str = "") -> str:
    return printable(shortened(text, _name_width - len(more)) + more)
