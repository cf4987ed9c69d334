# SPDX-License-Identifier: Apache-2.0
"""Which rules pay: each is left out once, and stays out where that costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tailrace import statistics
from tailrace.tune.candidate import Candidate
from tailrace.tune.pairs import Times, ratio_of_few
from tailrace.tune.rules_of_plan import by_suspicion, without

Document = dict[str, Any]
_clearly_faster = 0.9  # of few pairs of a plan that makes no difference
few = 3  # pairs for each rule; the plan that is left is confirmed with fresh ones

# Pairs of a plan and of the same with less: their times, under a name.
TimesOf = Callable[[str, Document, Document], Times]


def that_pay(
    candidate: Candidate, times_of: TimesOf, say: Callable[[str], None]
) -> dict[str, float]:
    """Drops from the candidate what does not pay; gives for each rule that was looked at how many
    times longer the run took without it. A plan of one rule is left to the confirmation."""
    return _dropped(
        candidate, times_of, say, 1 + statistics.effect, f"does not pay: {few} pairs without it"
    )


def that_hinder(
    candidate: Candidate, times_of: TimesOf, say: Callable[[str], None]
) -> dict[str, float]:
    """The same of a plan that makes no difference: drops rules that take away what others give."""
    return _dropped(
        candidate, times_of, say, _clearly_faster, f"slows down: {few} pairs without it"
    )


def _dropped(
    candidate: Candidate, times_of: TimesOf, say: Callable[[str], None], limit: float, why: str
) -> dict[str, float]:
    """limit: a rule goes where the run without it takes at most so many times as long."""
    ratios: dict[str, float] = {}
    for rule in by_suspicion(candidate.plan):
        if len(candidate.rules) < 2:
            break
        less = without(candidate.plan, {rule.id})
        stage = f"without rule {rule.id} ({len(candidate.dropped)} dropped)"
        ratio = ratio_of_few(times_of(stage, candidate.plan, less))
        ratios[rule.id] = ratio
        if ratio <= limit:
            reason = f"{why} took {_percent(ratio)}"
            candidate.drop(rule.id, reason)
            say(f"rule {rule.id} ({', '.join(rule.settings)}) {reason}")
    return ratios


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %"
