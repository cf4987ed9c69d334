# SPDX-License-Identifier: Apache-2.0
"""A plan and repacked copies against the same runs of the default, over made-up runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fake_runs import Document, Nowhere, Program, jitter, tuned
from plans import plan, setting

from tailrace.intent.apply import Line
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.supervision import Outcome
from tailrace.tune import loop, pairs, repacked_inputs
from tailrace.tune.loop import Found
from tailrace.tune.pairs import Misbehaved, Times, Trial
from tailrace.tune.repacked_inputs import Arm

PLAN = plan(("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes")]))
Patch = pytest.MonkeyPatch


class OnCopies(Program):
    """A run on the copies takes `copies_s`."""

    copies_s = 0.1

    def run(self, name: str, plan: Document | None) -> tuple[Outcome, bytes, list[Line]]:
        outcome, printed, lines = super().run(name, plan)
        if name.endswith("repacked"):
            outcome = Outcome(outcome.code, self.copies_s * outcome.elapsed_s, outcome.stopped)
        return outcome, printed, lines

    def names_with(self, end: str) -> list[str]:
        return [name for name, _ in self.runs if name.endswith(end)]


def tuned_with_copies(
    program: Program, folder: Path, patch: Patch, budget_minutes: float = 1000
) -> Found:
    """The copies are there, and are estimated to save more than the plan."""
    proposed = repacked_inputs.Proposed(["in.h5"], saved_s=0.9)
    patch.setattr(loop, "Scratch", Nowhere)
    patch.setattr(loop.repacked_inputs, "proposed", lambda *_: proposed)
    patch.setattr(loop.repacked_inputs, "prepared", lambda *_: (Arm(), []))
    return tuned(program, PLAN, folder, patch, budget_minutes=budget_minutes)


def test_large_gains_of_both_are_known_after_a_dozen_runs(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = OnCopies(lambda rules: 0.2 if rules else 1.0, noise=jitter)
    found = tuned_with_copies(program, tmp_path, monkeypatch)
    assert found.repacked is not None
    assert (found.verdict.name, found.repacked.became) == ("kept", "faster")
    assert len(program.runs) + 1 == 12, "with the proof of the copies, which is not made here"
    assert len(program.names_with("-default")) == 2
    assert found.repacked.times.one == found.times.one, "the same runs"
    assert found.repacked.times.other != found.times.other


def test_who_is_decided_runs_no_more(tmp_path: Path, monkeypatch: Patch) -> None:
    program = OnCopies(lambda rules: 0.9 if rules else 1.0, noise=jitter)
    found = tuned_with_copies(program, tmp_path, monkeypatch)
    assert found.repacked is not None and found.trial is not None
    assert (found.verdict.name, found.repacked.became) == ("kept", "faster")
    assert len(program.names_with("-repacked")) == 2
    assert len(program.names_with("-tuned")) == found.trial.pairs == 6


def test_a_plan_that_fails_leaves_the_copies_their_rounds(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = OnCopies(lambda rules: 0.9, noise=jitter, fails_later={"13"})
    found = tuned_with_copies(program, tmp_path, monkeypatch)
    assert found.repacked is not None
    assert (found.verdict.name, found.repacked.became) == ("nothing_to_gain", "faster")
    assert "rule 13: in a later run, trial (0 dropped)/1/tuned" in found.verdict.reason
    assert len(program.names_with("-repacked")) == 2


@pytest.mark.parametrize(("seconds", "became"), [(5.5, "no_verdict"), (9.0, "faster")])
def test_what_is_decided_stays_where_the_budget_ends(
    tmp_path: Path, monkeypatch: Patch, seconds: float, became: str
) -> None:
    """Runs of the default and of the plan take 1 s, those on copies a tenth."""
    now = 0.0
    program = OnCopies(lambda rules: 0.9 if rules else 1.0, noise=jitter)
    run = program.run

    def timed(name: str, plan: Document | None) -> tuple[Outcome, bytes, list[Line]]:
        nonlocal now
        found = run(name, plan)
        now += found[0].elapsed_s
        return found

    monkeypatch.setattr(program, "run", timed)
    monkeypatch.setattr("tailrace.tune.budget.time.monotonic", lambda: now)
    found = tuned_with_copies(program, tmp_path, monkeypatch, budget_minutes=seconds / 60)
    assert found.repacked is not None
    assert (found.verdict.name, found.repacked.became) == ("no_verdict", became)


def decided(folder: Path, run: Callable[[str, str], float], *arms: str) -> dict[str, Trial]:
    ledger = Ledger(folder)
    ledger.note("seed", "7")
    trials = {arm: Trial() for arm in arms}
    pairs.decide(ledger, "s", "default", trials, run, lambda _text: None, Times)
    return trials


def test_each_arm_is_at_each_place_of_a_round(tmp_path: Path) -> None:
    """A slow change of the machine favours none: no arm has a place of its own."""
    orders: dict[str, list[str]] = {}

    def run(arm: str, name: str) -> float:
        number = name.split("/")[1]
        orders.setdefault(number, []).append(arm)
        if arm == "default":
            return 1.0
        return 1.2 if int(number) % 3 == 1 else 0.9  # faster in most rounds, and not beyond noise

    decided(tmp_path, run, "tuned", "repacked")
    assert len(orders) == 16
    places = {(arm, place) for order in orders.values() for place, arm in enumerate(order)}
    assert len(places) == 3 * 3


def test_rounds_end_where_nobody_is_left(tmp_path: Path) -> None:
    runs = []

    def run(arm: str, name: str) -> float:
        runs.append(name)
        if arm != "default":
            raise Misbehaved(arm)
        return 1.0

    trials = decided(tmp_path, run, "tuned", "repacked")
    assert len(runs) <= 3
    for arm, trial in trials.items():
        with pytest.raises(Misbehaved, match=arm):
            trial.outcome()


def test_a_base_that_misbehaves_ends_all(tmp_path: Path) -> None:
    def run(arm: str, _name: str) -> float:
        if arm == "default":
            raise Misbehaved(arm)
        return 1.0

    with pytest.raises(Misbehaved, match="default"):
        decided(tmp_path, run, "tuned")
