# SPDX-License-Identifier: Apache-2.0
"""What a tune has come to, as a document: schemas/tune-1.schema.json."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from tailrace import statistics
from tailrace.tune.loop import Found
from tailrace.tune.pairs import speedup
from tailrace.tune.request import Asked
from tailrace.tune.rules_of_plan import rules_of, times_of

Document = dict[str, Any]


def document(
    asked: Asked, found: Found, plan: Path | None, runs: list[Document], *, confined: bool
) -> Document:
    """The keys that --json prints and that result.json holds."""
    verdict = found.verdict
    report = found.report
    return {
        "schema": "tailrace-tune/1",
        "command": "tune",
        "argv": asked.command,
        "folder": str(asked.home),
        "verdict": verdict.name,
        "reason": verdict.reason,
        "kept": verdict.name == "kept",
        "equal_content": None if report is None else report.equal,
        "speedup": _speedup(found),
        "times": {
            "default_s": _median(found.times.one),
            "tuned_s": _median(found.times.other),
            "pairs_s": found.times.pairs,
            "cache": "cold" if asked.is_cold else "warm",
        },
        "a_against_a": found.same.as_json() if found.same else None,
        "trial": found.trial.as_json() if found.trial else None,
        "confirmation": found.confirmed.as_json() if found.confirmed else None,
        "content": {
            "compared": report.what if report else "nothing",
            "left_out": found.known.names if found.known else [],
            "report": asdict(report) if report else None,
        },
        "rules": _rules(found),
        "changes": found.changes,
        "in_force": [asdict(line) for line in found.lines],
        "held_back": [
            {"rule": one["because"]["rule"], "guard": one["guard"],
             "reason": one["because"]["text"]}
            for one in found.plan.get("held_back") or []
        ],
        "advice": [one["text"] for one in found.plan.get("advice") or []],
        "repack": found.repacked.as_json(asked.home, str(asked.output / "profile.json"))
        if found.repacked
        else None,
        "plan": str(plan) if plan else None,
        "profile": str(asked.output / "profile.json"),
        "report": str(asked.output / "report.html"),
        "runs": runs,
        "confined": confined,
        "notes": found.notes,
    }  # fmt: skip


def _speedup(found: Found) -> Document | None:
    """Of the confirmation, else of the trial: then it is no proof."""
    of = found.confirmed or found.trial
    if of is None:
        return None
    return {**speedup(of, found.times), "confirmed": found.confirmed is not None}


def _rules(found: Found) -> list[Document]:
    """All of the first plan, with what became of each."""
    if found.candidate is None:
        return []
    kept = {rule.id for rule in found.candidate.rules} if found.verdict.name == "kept" else set()
    return [
        {
            "rule": rule.id,
            "class": rule.kind,
            "settings": rule.settings,
            "places": rule.places,
            "kept": rule.id in kept,
            "reason": found.candidate.dropped.get(rule.id, "" if kept else found.verdict.reason),
            "without_it": found.ratios.get(rule.id),
            "why": rule.why,
            "effect": rule.effect,
            "estimated": times_of(found.recorded_s, rule.saved_s),
        }
        for rule in rules_of(found.plan)
    ]


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None
