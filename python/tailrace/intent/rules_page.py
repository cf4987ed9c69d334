# SPDX-License-Identifier: Apache-2.0
"""docs/reference/rules.md, from the table of rules."""

from __future__ import annotations

from typing import Any

_head = """# Rules

This page is generated: `tailrace rules --markdown > docs/reference/rules.md`; a test keeps it equal.

[`tailrace advise`](../user/advise.md) makes plans by these rules. A rule fires where its trigger is seen in a profile; a guard may hold it back, and the plan says so with numbers. Safe and layout rules
are allowed by default, `--allow collective,opt_in` adds the others.

| class | what it can do |
|---|---|
| safe | no change of meaning or of the file's layout; nothing that can block |
| layout | new files are laid out differently; whoever could read them still can |
| collective | ranks wait for each other: only for as many ranks as it was proven for |
| opt-in | changes what files are, or may lose what is not written |
| advice | said, not set |
"""


def page(table: dict[str, Any]) -> str:
    """The page as Markdown."""
    lines = [_head]
    for rule in table["rules"]:
        lines += _rule(rule)
    lines += ["## Where two rules meet", "", "| applies | gives way | why |", "|---|---|---|"]
    lines += [f"| {c['winner']} | {c['loser']} | {c['why']} |" for c in table["conflicts"]]
    lines += ["", "## Settings", "", "| key | of | values | what |", "|---|---|---|---|"]
    lines += [
        f"| `{s['key']}` | {s['of']} | {_values(s)} | {s['sentence']} |" for s in table["settings"]
    ]
    lines += ["", "## Functions", "", "| name | arguments | what |", "|---|---|---|"]
    for one in table["functions"]:
        arguments = ", ".join([*one["numbers"], *(["extents"] if one["extents"] else [])])
        lines.append(f"| `{one['name']}` | {arguments} | {one['sentence']} |")
    lines += ["", "## Measures for a site's own rules", "", "| name | what |", "|---|---|"]
    lines += [f"| `{one['name']}` | {one['sentence']} |" for one in table["measures"]]
    lines += ["", "## Sources", ""]
    for one in table["sources"]:
        where = f": <{one['address']}>" if one["address"] else ""
        lines.append(f"- {one['letter']}: {one['title']}{where}")
    return "\n".join(lines) + "\n"


def _rule(rule: dict[str, Any]) -> list[str]:
    lines = [f"## Rule {rule['id']}: {rule['title']}", ""]
    kind = rule["class"].replace("_", "-")
    lines += [f"Class {kind}, of a {rule['scope']}. Sources: {rule['source']}.", ""]
    lines += [f"- Fires: {rule['trigger']}."]
    if rule["guards"]:
        lines += [f"- Guards: {'; '.join(rule['guards'])}."]
    return [*lines, f"- Does: {rule['action']}.", f"- Expected: {rule['effect']}.", ""]


def _values(setting: dict[str, Any]) -> str:
    if setting["words"]:
        return ", ".join(setting["words"].split())
    if setting["high"] <= 0:
        return "text"
    return f"{setting['low']:.0f} to {setting['high']:.0f}"
