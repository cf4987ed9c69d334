# SPDX-License-Identifier: Apache-2.0
"""`tailrace rules`."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output
from tailrace.errors import TailraceError, did_you_mean

Words = Annotated[
    list[str],
    typer.Argument(metavar="show ID...", show_default=False, help="Print this rule in full."),
]
Rules = Annotated[
    list[Path],
    typer.Option("--rules", metavar="FILE", show_default=False, help="Rules of your site."),
]
Measures = Annotated[
    bool, typer.Option("--measures", help="List what conditions of rules can look at.")
]
Markdown = Annotated[
    bool, typer.Option("--markdown", help="Print the reference page, as Markdown.")
]


def rules(
    words: Words = [],  # noqa: B006  (read only)
    site: Rules = [],  # noqa: B006
    measures: Measures = False,
    markdown: Markdown = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """List the rules by which plans are made; `show 13` prints one in full."""
    from tailrace.intent import advice

    output = Output(as_json=as_json, quiet=quiet)
    table = advice.rule_table(site)
    if markdown:
        from tailrace.intent.rules_page import page

        output.file(page(table))
        output.json({"command": "rules", **table})
        return 0
    if words:
        if words[0] != "show" or len(words) < 2:
            raise TailraceError(
                f'"{words[0]}" is not understood', where="rules",
                hint="`tailrace rules` lists all; `tailrace rules show 13` prints one",
            )  # fmt: skip
        chosen = [_one(table["rules"], word) for word in words[1:]]
        for rule in chosen:
            show_rule(output, rule, table)
        output.json({"command": "rules", "rules": chosen})
        return 0
    if measures:
        for one in table["measures"]:
            output.line(f"{one['name']:<27} {one['sentence']}")
        output.json({"command": "rules", "measures": table["measures"]})
        return 0
    _list(output, table["rules"])
    output.json({"command": "rules", **table})
    return 0


def _one(all_rules: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for rule in all_rules:
        if rule["id"] == name:
            return rule
    known = [rule["id"] for rule in all_rules]
    raise TailraceError(
        f'there is no rule "{name}".{did_you_mean(name, known)}', where="rules show",
        hint="`tailrace rules` lists them",
    )  # fmt: skip


def _list(output: Output, all_rules: list[dict[str, Any]]) -> None:
    listed = Table(box=None, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    for title in ("id", "class", "of", "what"):
        listed.add_column(title, no_wrap=title != "what")
    for rule in all_rules:
        what = rule["title"]
        if rule["origin"] != "tailrace":
            what += f" ({rule['origin']})"
        listed.add_row(rule["id"], rule["class"].replace("_", "-"), rule["scope"], what)
    output.show(listed)


def _sources(rule: dict[str, Any], table: dict[str, Any]) -> list[str]:
    if rule["origin"] != "tailrace":
        return [rule["source"]]
    letters = rule["source"].split(", ")
    return [
        f"{one['title']} {one['address']}".rstrip()
        for one in table["sources"]
        if one["letter"] in letters
    ]


def show_rule(output: Output, rule: dict[str, Any], table: dict[str, Any]) -> None:
    """A rule in full."""
    width = min(output.width, 80)
    output.line(f"Rule {rule['id']}: {rule['title']}", "bold")
    facts = [
        ("class", f"{rule['class'].replace('_', '-')}, of a {rule['scope']}"),
        ("when", rule["trigger"]),
        ("guard", "; ".join(rule["guards"]) or "none"),
        ("sets", rule["action"]),
        ("expected", rule["effect"]),
        *(("source", text) for text in _sources(rule, table)),
        ("origin", rule["origin"]),
    ]
    for conflict in table["conflicts"]:
        if conflict["loser"] == rule["id"]:
            facts.append(("gives way", f"to rule {conflict['winner']}: {conflict['why']}"))
        if conflict["winner"] == rule["id"]:
            facts.append(("before", f"rule {conflict['loser']}: {conflict['why']}"))
    for name, text in facts:
        lines = textwrap.wrap(
            text, width, initial_indent=f"  {name:<10}", subsequent_indent=" " * 12,
            break_on_hyphens=False,
        )  # fmt: skip
        for line in lines:
            output.line(line)
