# SPDX-License-Identifier: Apache-2.0
"""A plan that the program can live with: what hangs, fails or changes content is found and dropped,
the most suspect rule first. Then each rule is left out once, and stays out where that costs
nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tailrace import statistics
from tailrace.intent.apply import Line
from tailrace.sandbox.supervision import Outcome
from tailrace.tune.content import Report
from tailrace.tune.pairs import Times, ratio_of_few
from tailrace.tune.rules_of_plan import RuleUse, by_suspicion, rules_of, without

Document = dict[str, Any]
_clearly_faster = 0.9  # of few pairs of a plan that makes no difference
_matters = 1.1  # what a rule has to bring by one run, in a plan that brings much more
few = 3  # pairs for each rule; the plan that is left is confirmed with fresh ones


@dataclass(frozen=True)
class Checked:
    """One run with a plan: how it ended, what became of the settings, rules that were in force
    nowhere, and its content. again: what else is to be said of one that failed."""

    outcome: Outcome
    lines: list[Line]
    idle: dict[str, str]
    report: Report | None
    again: str = ""

    @property
    def problem(self) -> str:
        """What is wrong with it, as the end of a sentence; "": nothing."""
        if self.outcome.stopped == "limit":
            return f"with it the program hung: {self.outcome.words}"
        if self.report is None or self.outcome.code:
            return f"with it the program failed: {self.outcome.words}{self.again}"
        if self.report.differences:
            return f"with it the content differs: {self.report.differences[0]}"
        return ""


# Makes a run with a plan; with its number, from 1.
Check = Callable[[Document, int], Checked]
# Seconds of one run with a plan, under a name; infinite: it goes wrong.
Seconds = Callable[[str, Document], float]
# Pairs of a plan and of the same with less: their times, under a name.
TimesOf = Callable[[str, Document, Document], Times]


@dataclass
class Candidate:
    """plan: what is left. dropped: rules by id, and why. report: of the last good run."""

    plan: Document
    dropped: dict[str, str] = field(default_factory=dict)
    report: Report | None = None

    @property
    def rules(self) -> list[RuleUse]:
        return rules_of(self.plan)

    def drop(self, rule: str, why: str) -> None:
        self.plan = without(self.plan, {rule})
        self.dropped[rule] = why

    def drop_what_saves_less(self, least_s: float) -> None:
        """Rules that are estimated to save less of a run, all together, than can be measured."""
        known = [(rule.saved_s, rule.id) for rule in self.rules if rule.saved_s is not None]
        for saved_s, rule in sorted(known):
            least_s -= saved_s
            if least_s <= 0:
                break
            self.drop(rule, f"estimated to save {saved_s:.2g} s: too little to measure")


def that_works(found: Candidate, check: Check, say: Callable[[str], None]) -> None:
    """Runs the plan, and less of it each time something is wrong."""
    plan = found.plan
    number = 0
    doubted: list[str] = []
    while found.rules:
        number += 1
        checked = check(found.plan, number)
        if not checked.problem:
            checked = _given_back(plan, found, doubted[:-1], checked, check, number)
            found.report = checked.report
            for rule, why in checked.idle.items():
                found.drop(rule, f"not in force: {why}")
            return
        files = checked.report.files if checked.report else []
        suspect = _suspect(found.plan, files, hung=checked.outcome.stopped == "limit")
        say(f"rule {suspect.id} ({', '.join(suspect.settings)}) is dropped: {checked.problem}")
        found.drop(suspect.id, checked.problem)
        if checked.outcome.stopped != "limit":
            doubted.append(suspect.id)


def _given_back(
    plan: Document, found: Candidate, doubted: list[str], good: Checked, check: Check, number: int
) -> Checked:
    """The last rule that was dropped was to blame; those before it may have been dropped without
    reason. Each gets one more run; gives the last good one."""
    for rule in doubted:
        number += 1
        wider = without(plan, set(found.dropped) - {rule})
        checked = check(wider, number)
        if not checked.problem:
            found.plan, good = wider, checked
            del found.dropped[rule]
    return good


def _suspect(plan: Document, files: list[str], *, hung: bool) -> RuleUse:
    """A hang is blamed on what makes ranks wait for each other, where there is such a rule."""
    order = by_suspicion(plan, files)
    if files and not hung:  # safe settings move no content
        for rule in order:
            if rule.kind in {"layout", "opt_in"}:
                return rule
    return order[0]


def that_matter(
    candidate: Candidate, seconds: Seconds, plan_s: float, say: Callable[[str], None]
) -> dict[str, float]:
    """Drops from a plan that is much faster the rules without which one run is as fast; gives for
    each rule how many times longer the run took without it. plan_s: of a run with all."""
    return _dropped(
        candidate, lambda stage, less: seconds(stage, less) / plan_s, say, _matters,
        "does not pay: one run without it",
    )  # fmt: skip


def that_pay(
    candidate: Candidate, times_of: TimesOf, say: Callable[[str], None]
) -> dict[str, float]:
    """The same by a few pairs. A plan of one rule is left to the confirmation."""
    return _dropped(
        candidate, lambda stage, less: ratio_of_few(times_of(stage, candidate.plan, less)), say,
        1 + statistics.effect, f"does not pay: {few} pairs without it",
    )  # fmt: skip


def that_hinder(
    candidate: Candidate, seconds: Seconds, plan_s: float, times_of: TimesOf,
    say: Callable[[str], None],
) -> dict[str, float]:  # fmt: skip
    """Drops from a plan that makes no difference rules that take away what others give: where one
    run without it is clearly faster, a few pairs decide. plan_s: of a run with all."""

    def ratio(stage: str, less: Document) -> float:
        one = seconds(f"{stage}, once", less) / plan_s
        if one > _clearly_faster:
            return one
        return ratio_of_few(times_of(stage, candidate.plan, less))

    return _dropped(candidate, ratio, say, _clearly_faster, f"slows down: {few} pairs without it")


def _dropped(
    candidate: Candidate, ratio_without: Callable[[str, Document], float],
    say: Callable[[str], None], limit: float, why: str,
) -> dict[str, float]:  # fmt: skip
    """ratio_without: how many times longer a run takes, under a name, with such a plan. limit: a
    rule goes where that is at most so many times as long."""
    ratios: dict[str, float] = {}
    for rule in by_suspicion(candidate.plan):
        if len(candidate.rules) < 2:
            break
        less = without(candidate.plan, {rule.id})
        ratio = ratio_without(f"without rule {rule.id} ({len(candidate.dropped)} dropped)", less)
        if not math.isinf(ratio):
            ratios[rule.id] = ratio
        if ratio <= limit:
            reason = f"{why} took {_percent(ratio)}"
            candidate.drop(rule.id, reason)
            say(f"rule {rule.id} ({', '.join(rule.settings)}) {reason}")
    return ratios


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %"
