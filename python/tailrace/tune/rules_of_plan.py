# SPDX-License-Identifier: Apache-2.0
"""The rules of a plan one by one: which there are, which are suspect, the plan without some."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from tailrace.intent.apply import Line

Document = dict[str, Any]

# Those that can block come first, then those whose files differ, then what only moves caches.
_suspicion = {"collective": 0, "opt_in": 1, "layout": 2, "safe": 3}


@dataclass
class RuleUse:
    """What one rule sets. kinds: classes of its settings. places: files and datasets. saved_s: of a
    run, by the estimates at all its places; None: one of them has none."""

    id: str
    kinds: set[str] = field(default_factory=set)
    settings: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    why: str = ""
    effect: str = ""
    saved_s: float | None = 0.0

    @property
    def kind(self) -> str:
        """Its most suspect class."""
        return min(self.kinds, key=lambda kind: _suspicion.get(kind, 0))


def rules_of(plan: Document) -> list[RuleUse]:
    """In the order of the plan."""
    found: dict[str, RuleUse] = {}

    def note(because: Document, kind: str, setting: str, place: str) -> None:
        rule = found.setdefault(because["rule"], RuleUse(because["rule"]))
        rule.kinds.add(kind)
        rule.why = rule.why or because.get("text", "")
        rule.effect = rule.effect or because.get("effect", "")
        if setting not in rule.settings:
            rule.settings.append(setting)
        if place and place not in rule.places:
            rule.places.append(place)
            rule.saved_s = added(rule.saved_s, _saved_s(because))
        elif not place:
            rule.saved_s = None

    for entry in plan.get("entries", []):
        dataset = entry.get("dataset", "")
        place = f"{entry['file']}:{dataset}" if dataset else entry["file"]
        for setting in entry["settings"]:
            note(setting["because"], setting["class"], setting["key"], place)
    for variable in plan.get("environment", []):
        note(variable["because"], variable.get("class", "safe"), variable["name"], "")
    return list(found.values())


def added(one: float | None, other: float | None) -> float | None:
    """Of estimates; None: one of them is not known."""
    return None if one is None or other is None else one + other


def times_of(run_s: float | None, saved_s: float | None) -> float | None:
    """How many times as fast a run is that saves so much; None: not known."""
    if run_s is None or saved_s is None or saved_s >= run_s:
        return None
    return run_s / (run_s - saved_s)


def _saved_s(because: Document) -> float | None:
    facts = because.get("evidence") or []
    return next((float(one["value"]) for one in facts if one["name"] == "estimated.saved"), None)


def without(plan: Document, rules: Collection[str]) -> Document:
    """The plan without what these rules set."""
    entries = []
    for entry in plan.get("entries", []):
        kept = [one for one in entry["settings"] if one["because"]["rule"] not in rules]
        if kept:
            entries.append({**entry, "settings": kept})
    variables = [one for one in plan.get("environment", []) if one["because"]["rule"] not in rules]
    changed = {key: value for key, value in plan.items() if key != "hash"}
    return {**changed, "entries": entries, "environment": variables}


def by_suspicion(plan: Document, files: Iterable[str] = ()) -> list[RuleUse]:
    """Rules that are to be doubted first come first.

    files: names of files whose content is in doubt; rules that touch those come before others of
    their class.
    """
    names = list(files)

    def order(rule: RuleUse) -> tuple[int, int]:
        touches = any(_names(place, names) for place in rule.places)
        return (_suspicion.get(rule.kind, 0), 0 if touches or not names else 1)

    return sorted(rules_of(plan), key=order)


def _names(place: str, files: list[str]) -> bool:
    """Whether a place is about one of these files, by the last part of its path."""
    pattern = place.partition(":")[0].rpartition("/")[2].partition("*")[0].replace("\\", "")
    return any(name.rpartition("/")[2].startswith(pattern) for name in files)


def not_in_force(plan: Document, lines: Iterable[Line]) -> dict[str, str]:
    """Rules of which no setting was applied anywhere, and what became of them instead."""
    became: dict[str, Line] = {}
    applied = set()
    for line in lines:
        if line.became == "applied":
            applied.add(line.rule)
        else:
            became.setdefault(line.rule, line)
    return {rule.id: _why(became.get(rule.id)) for rule in rules_of(plan) if rule.id not in applied}


def _why(line: Line | None) -> str:
    if line is None:
        return "no process reported it"
    return f"{line.became}: {line.reason}" if line.reason else line.became
