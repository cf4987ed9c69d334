# SPDX-License-Identifier: Apache-2.0
"""A plan for a person, in 80 columns."""

from __future__ import annotations

import textwrap
from typing import Any

from tailrace.cli.output import Output
from tailrace.intent.verdict import place, settings_in, verdict
from tailrace.units import mebi

# In brackets, with a space before; nothing where it is always.
_when = {"any": "", "create": " (when it is created)", "open": " (when it is opened)"}


def _advised(output: Output, advice: list[dict[str, Any]], width: int) -> None:
    for one in advice:
        wrapped(output, f"{place(one)}: {one['text']}", width, "  ")
        for command in one.get("commands", []):
            output.line(f"    {command}")
        _because(output, one["because"], width)


def show(output: Output, plan: dict[str, Any]) -> None:
    """The verdict, what would be set, and what to do yourself."""
    width = min(output.width, 80)
    entries, variables = plan.get("entries", []), plan.get("environment", [])
    failing = [one for one in plan.get("advice", []) if one.get("failing")]
    advice = [one for one in plan.get("advice", []) if one not in failing]
    _verdict(output, plan, width)
    _advised(output, failing, width)
    if entries:
        output.line("Settings, and why", "bold")
    for entry in entries:
        _entry(output, entry, width)
    if variables:
        output.line("Environment", "bold")
    for variable in variables:
        kind = "  [collective]" if variable.get("class") == "collective" else ""
        wrapped(output, f"{variable['name']}={variable['value']}{kind}", width, "  ")
        _because(output, variable["because"], width)
    if advice:
        output.line("What a plan cannot do", "bold")
    _advised(output, advice, width)


def show_held(output: Output, plan: dict[str, Any]) -> None:
    """What was held back, and notes."""
    width = min(output.width, 80)
    failing = [_where(one) for one in plan.get("advice", []) if one.get("failing")]
    held = [one for one in plan.get("held_back", []) if _where(one) not in failing]
    if held:
        output.line("Considered and held back", "bold")
    for rule, text, places in _held(held):
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        wrapped(output, f"rule {rule}, {places[0]}{more}: {text[0]}", width, "  ")
        wrapped(output, text[1], width, "    ")
    for note in plan["origin"].get("notes", []):
        wrapped(output, f"note: {note}", width, "")


def _where(one: dict[str, Any]) -> tuple[str, str, str]:
    return one["file"], one["dataset"], one["because"]["rule"]


def _verdict(output: Output, plan: dict[str, Any], width: int) -> None:
    """In a sentence, and what nobody knows yet."""
    wrapped(output, verdict(plan), width, "", "bold")
    if settings_in(plan):
        wrapped(
            output, "Nothing is measured yet: `tailrace tune -- COMMAND` tries these settings and "
            "keeps those that are faster with equal content.", width, "  ",
        )  # fmt: skip


def _held(held: list[dict[str, Any]]) -> list[tuple[str, tuple[str, str], list[str]]]:
    """Rule, guard and reason, with the places where they are the same; in their order."""
    together: dict[tuple[str, tuple[str, str]], list[str]] = {}
    for one in held:
        because = one["because"]
        same = (because["rule"], (one["guard"], because["text"]))
        together.setdefault(same, []).append(place(one))
    return [(*same, places) for same, places in together.items()]


def _entry(output: Output, entry: dict[str, Any], width: int) -> None:
    wrapped(output, place(entry) + _when[entry["when"]], width, "", "bold")
    reasons: dict[str, dict[str, Any]] = {}
    for setting in entry.get("settings", []):
        reasons.setdefault(setting["because"]["rule"], setting["because"])
    for rule, because in reasons.items():
        for setting in entry["settings"]:
            if setting["because"]["rule"] == rule:
                ranks = f", with {setting['ranks']} ranks" if "ranks" in setting else ""
                kind = setting["class"].replace("_", "-")
                wrapped(
                    output,
                    f"{setting['key']} = {value_text(setting)}  [{kind}{ranks}]",
                    width,
                    "  ",
                )
        _because(output, because, width)


def _because(output: Output, because: dict[str, Any], width: int) -> None:
    rule = because["rule"]
    named = "rules" if "," in rule else "rule"
    wrapped(output, f"why: {because['text']}", width, "    ")
    wrapped(
        output, f"expected: {because['effect']}  ({named} {rule}; {because['source']})", width,
        "    ",
    )  # fmt: skip


def value_text(setting: dict[str, Any]) -> str:
    """A literal: of a function its value for the sizes of the profile, or it in words."""
    if "function" not in setting:
        return _literal(setting["key"], setting["value"])
    if "profiled" in setting:
        return f"{_literal(setting['key'], setting['profiled'])}, computed anew for other sizes"
    call = setting["function"]
    words = [f"{name} {number}" for name, number in call.get("numbers", {}).items()]
    if call.get("extents"):
        words.append(
            "of " + " x ".join(str(extent) if extent else "all" for extent in call["extents"])
        )
    return f"{call['name']}({', '.join(words)})"


def _literal(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " x ".join(str(extent) for extent in value)
    if key.endswith("_bytes") and value >= mebi:
        return f"{value} ({value / mebi:.4g} MiB)"
    return str(value)


def wrapped(
    output: Output, text: str, width: int, indent: str, style: str = "", hang: int = 2
) -> None:
    """In lines of `width`, those after the first further in by `hang`."""
    lines = textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent + " " * hang,
        break_on_hyphens=False,
    )  # fmt: skip
    for line in lines:
        output.line(line, style)
