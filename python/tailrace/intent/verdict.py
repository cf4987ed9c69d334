# SPDX-License-Identifier: Apache-2.0
"""A plan in one sentence: what is slow, what to do, and what to expect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tailrace.units import plural

Document = dict[str, Any]


def place(one: Document) -> str:
    """Where it is about."""
    return f"{one['file']}:{one['dataset']}" if one["dataset"] else one["file"] or "the run"


def settings_in(plan: Document) -> int:
    """Settings and variables of the environment."""
    entries = plan.get("entries") or []
    return sum(len(one["settings"]) for one in entries) + len(plan.get("environment") or [])


def verdict(plan: Document) -> str:
    """Of what fails, else of what costs most, else why nothing would be set."""
    advice = plan.get("advice") or []
    for one in advice:
        if one.get("failing"):
            because = one["because"]
            return (
                f"The program fails at {place(one)}: {because['text']}; to do: change "
                f"the program as said below; to expect: {because['effect']}"
            )
    found = list(_reasons(plan))
    if not found:
        return "No settings: " + _why_nothing(plan)
    where, because, commands = max(found, key=_cost)
    slow = "is slow" if _estimated(because) else "may be slow"
    steps = []
    if count := settings_in(plan):
        steps.append(f"let `tailrace tune -- COMMAND` try {plural(count, 'setting')} of a plan")
    if advice and not count and commands and commands[0].startswith("tailrace "):
        steps.append(f"type `{commands[0]}`")
    elif advice:
        steps.append(f"look below for {plural(len(advice), 'change')} to make yourself")
    return (
        f"{where} {slow}: {because['text']}; to do: {', and '.join(steps)}; to expect: "
        + (because["effect"])
    )


_Reason = tuple[str, Document, list[str]]  # where, why, and what to type


def _reasons(plan: Document) -> Iterator[_Reason]:
    for entry in plan.get("entries") or []:
        for setting in entry["settings"]:
            yield place(entry), setting["because"], []
    for variable in plan.get("environment") or []:
        yield "the run", variable["because"], []
    for one in plan.get("advice") or []:
        yield place(one), one["because"], one.get("commands") or []


def _cost(reason: _Reason) -> tuple[float, float, bool]:
    """Seconds that are to be saved, else how many times less is moved; what is about a dataset goes
    before what is about its file. Of equals the first: what moves most bytes."""
    where, because, _ = reason
    return (
        _estimated(because, "estimated.saved"), _estimated(because, "estimated.times"),
        ":" in where,
    )  # fmt: skip


def _estimated(because: Document, *names: str) -> float:
    wanted = names or ("estimated.saved", "estimated.times")
    facts = because.get("evidence") or []
    return next((float(one["value"]) for one in facts if one["name"] in wanted), 0.0)


def _why_nothing(plan: Document) -> str:
    if plan.get("held_back"):
        return "all rules that fit are held back; see below"
    return (
        "no rule fits this profile; `tailrace rules` lists the rules, `tailrace intents` says what "
        "the program does"
    )
