# SPDX-License-Identifier: Apache-2.0
"""Intents for a person: a few lines and a short table, within 80 columns."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.table import Table

from tailrace.cli.advise_show import wrapped
from tailrace.cli.output import Output, printable, shortened
from tailrace.units import grouped, mib, plural

Intent = dict[str, Any]

MOST_ROWS = 12
_name_width = 34


def show(output: Output, intents: Intent) -> None:
    """The workload, its files by pattern, and what the profiles do not agree about."""
    workload = intents["workload"]
    for word in ("why", "what", "how"):
        wrapped(output, f"{word:<5}{workload['words'][word]}", min(output.width, 80), "", hang=5)
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
    """A row per pattern of files, of all of them together."""
    members: dict[str, list[Intent]] = {}
    for one in intents["files"].values():
        members.setdefault(one["naming"]["pattern"], []).append(one)
    rows = []
    for pattern in intents["workload"].get("patterns", []):
        name = pattern["naming"]["pattern"]
        if name in members:
            rows.append([_name(name), str(pattern["files"]), _text(members[name])])
    return rows


def _text(files: list[Intent]) -> str:
    """What is said of one file, or what several come to together and in what they differ."""
    types = _told([one["type"]["value"].replace("_", "-") for one in files])
    what = files[0]["words"]["what"] if len(files) == 1 else together(files)
    hows = [one["words"]["how"] for one in files if _moved(one)] or [files[0]["words"]["how"]]
    return f"{types}: {what}{_directions(files)}; {_told(hows, most=1)}"


def together(files: list[Intent]) -> str:
    """'12 datasets, at least 100.0 MiB': the sums over files of one pattern."""
    datasets = sum(sum(one.get("ap_distribution", {}).values()) for one in files)
    sizes = [one["fs_size"] for one in files if "fs_size" in one]
    # What a file without a size has moved nothing of is no part that is missing.
    least = any(one.get("at_least") for one in sizes) or any(
        "fs_size" not in one and _moved(one) for one in files
    )
    size = "at least " * least + mib(sum(one["bytes"] for one in sizes)) if sizes else ""
    texts = [plural(datasets, "dataset") if datasets else "", size]
    return ", ".join(text for text in texts if text) or "nothing moved"


def _directions(files: list[Intent]) -> str:
    """', 3.0 GiB read': what was moved, where the size does not say it already."""
    text = ""
    size = sum(one["fs_size"]["bytes"] for one in files if "fs_size" in one)
    for word in ("written", "read"):
        moved = sum(one["volume"].get(f"bytes_{word}") or 0 for one in files)
        if moved and abs(moved - size) * 50 > size:
            text += f", {mib(moved)} {word}"
    return text


def _moved(one: Intent) -> int:
    return sum(one["volume"].get(f"bytes_{word}") or 0 for word in ("written", "read"))


def _told(values: list[str], most: int = 3) -> str:
    """What all say; else what how many say, the most frequent first."""
    counts = Counter(values).most_common()
    if len(counts) == 1:
        return counts[0][0]
    text = ", ".join(f"{value} ({grouped(count)})" for value, count in counts[:most])
    left = len(values) - sum(count for _, count in counts[:most])
    return text + (f", others ({grouped(left)})" if left else "")


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
