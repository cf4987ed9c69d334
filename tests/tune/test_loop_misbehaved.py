# SPDX-License-Identifier: Apache-2.0
"""Runs of a tune that hang or fail now and then: which rule is blamed, and what a tune that goes on
knows of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fake_runs import PLAN, Document, FakeRunner, Program, jitter, kept, tuned
from plans import plan, setting

from tailrace.errors import TailraceError
from tailrace.intent.apply import Line
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.supervision import Outcome
from tailrace.tune import page, recording, session
from tailrace.tune.mishaps import Limits

Patch = pytest.MonkeyPatch


@dataclass
class Stalling(Program):
    """outcomes: of runs by their names, for the first times that they are made."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)

    def run(self, name: str, plan: Document | None) -> tuple[Outcome, bytes, list[Line]]:
        outcome, printed, lines = super().run(name, plan)
        if instead := self.outcomes.get(name):
            return instead.pop(), b"", lines
        return outcome, printed, lines


STALL = Outcome(-15, 10.0, "limit")
ONE_DEFAULT, ONE_TUNED = "trial-0-dropped-1-default", "trial-0-dropped-1-tuned"


@pytest.mark.parametrize("outcome", [STALL, Outcome(0, 500.0, was_held=True)])
def test_a_run_that_was_held_up_is_made_once_more(
    outcome: Outcome, tmp_path: Path, monkeypatch: Patch
) -> None:
    # Of two stalls with the plan the second is forgiven since the default met one in between.
    program = Stalling(
        lambda rules: 0.5 if "13" in rules else 1.0, noise=jitter,
        outcomes={
            "trial-2-dropped-1-default": [outcome], "trial-2-dropped-2-tuned": [outcome],
            "check-0-dropped-1": [outcome],
        },
    )  # fmt: skip
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert (found.verdict.name, kept(found)) == ("kept", ["13"])
    names = [name for name, _ in program.runs]
    assert {name for name in names if names.count(name) > 1} == set(program.outcomes)
    assert found.candidate is not None
    assert not any("limit" in why for why in found.candidate.dropped.values())


def test_a_plan_that_hangs_now_and_then_is_not_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    hung = {f"trial-0-dropped-{number}-tuned": [STALL] for number in (1, 3, 5)}
    program = Stalling(lambda rules: 0.5 if rules else 1.0, noise=jitter, outcomes=hung)
    found = tuned(program, plan(("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes")])),
                  tmp_path, monkeypatch)  # fmt: skip
    assert found.verdict.name == "nothing_to_gain"
    assert found.candidate is not None
    assert "its time limit" in found.candidate.dropped["13"]
    names = [name for name, _ in program.runs]
    assert [name for name in names if names.count(name) > 1] == ["trial-0-dropped-1-tuned"] * 2
    (note,) = found.notes
    assert note.startswith("trial (0 dropped)/1/tuned was repeated: it met its time limit")
    forgiven, last = (run for run in session._runs(Ledger(tmp_path)) if run["stopped"])
    assert forgiven["name"] == "trial (0 dropped)/1/tuned, at its limit"
    assert last["name"] == "trial (0 dropped)/3/tuned"
    for run in (forgiven, last):
        assert page._run(run)[-1] == "-15, ended (limit)"


def test_a_run_that_failed_has_no_second_chance_when_a_tune_goes_on(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    def failing(**more: Any) -> Stalling:
        return Stalling(lambda rules: 0.8 if "13" in rules else 1.0, **more)

    failed = "trial-0-dropped-3-tuned"
    whole = failing(outcomes={failed: [Outcome(1, 0.2)]})
    expected = tuned(whole, PLAN, tmp_path / "whole", monkeypatch)
    at = [name for name, _ in whole.runs].index(failed) + 4  # once more after the default
    killed = failing(outcomes={failed: [Outcome(1, 0.2)] * 2}, interrupt_at=at)
    with pytest.raises(KeyboardInterrupt):
        tuned(killed, PLAN, tmp_path / "killed", monkeypatch)
    resumed = failing()
    found = tuned(resumed, PLAN, tmp_path / "killed", monkeypatch)
    assert found.candidate is not None
    assert "in a later run" in found.candidate.dropped["25"]
    assert (found.verdict, kept(found)) == (expected.verdict, ["13"])
    assert failed not in [name for name, _ in resumed.runs]
    name = "trial (0 dropped)/3/tuned"
    runs = [(run["name"], run["code"]) for run in session._runs(Ledger(tmp_path / "killed"))]
    assert [run for run in runs if run[1]] == [(f"{name}, which failed", 1), (name, 1)]


ONE_RULE = plan(("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes")]))
FAILED = Outcome(3, 0.5)


@pytest.mark.parametrize("name", ["check-0-dropped-1", ONE_TUNED, "proof-0-dropped-"])
def test_a_run_that_failed_by_chance_costs_no_rule_and_is_told(
    name: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Stalling(lambda rules: 0.5 if rules else 1.0, noise=jitter, outcomes={name: [FAILED]})
    found = tuned(program, ONE_RULE, tmp_path, monkeypatch)
    assert (found.verdict.name, kept(found)) == ("kept", ["13"])
    at = [run for run, _ in program.runs].index(name)
    assert program.runs[at + 1] == (f"{name.rstrip('-')}-the-default-after-it", set())
    assert program.runs[at + 2] == (name, {"13"})
    (note,) = found.notes
    assert "was repeated: it failed (exit code 3), and the default run after it did not" in note
    assert 3 in [run["code"] for run in session._runs(Ledger(tmp_path))]


def test_a_plan_with_which_it_fails_now_and_then_is_not_kept(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    failed = {f"trial-0-dropped-{number}-tuned": [FAILED] for number in (1, 3)}
    program = Stalling(lambda rules: 0.5 if rules else 1.0, noise=jitter, outcomes=failed)
    found = tuned(program, ONE_RULE, tmp_path, monkeypatch)
    assert found.candidate is not None and found.verdict.name == "nothing_to_gain"
    assert found.candidate.dropped["13"] == (
        "in a later run, trial (0 dropped)/3/tuned: exit code 3, as an earlier run with settings "
        "did, and no default run"
    )


def test_where_the_default_fails_too_by_now_no_rule_is_blamed(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    check = "check-0-dropped-1"
    program = Stalling(
        lambda rules: 1.0, noise=jitter,
        outcomes={check: [FAILED], f"{check}-the-default-after-it": [FAILED]},
    )  # fmt: skip
    with pytest.raises(TailraceError, match="exit code 3, after 4 runs that went well") as raised:
        tuned(program, ONE_RULE, tmp_path, monkeypatch)
    assert raised.value.hint.startswith("it fails now and then by itself")
    assert raised.value.hint.endswith("--resume repeats this run")


def test_a_rule_is_not_blamed_for_a_run_without_it(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Stalling(
        lambda rules: 0.8 if "13" in rules else 1.0, noise=jitter,
        outcomes={"without-rule-25-0-dropped-1-less": [Outcome(1, 0.5)] * 2},
    )  # fmt: skip
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.candidate is not None
    assert "in a later run, without rule 25" in found.candidate.dropped["17"]
    assert "does not pay" in found.candidate.dropped["25"]
    assert kept(found) == ["13"]


def test_what_was_forgiven_is_known_when_a_tune_goes_on(tmp_path: Path) -> None:
    def forgive(name: str, is_default: bool) -> bool:
        run = {"run_s": 10.0, "sync_s": 0.0, "stopped": "limit"}
        return Limits(Ledger(tmp_path)).forgive(name, run, is_default=is_default)

    assert forgive("one", False)
    assert not forgive("two", False), "the default met none"
    assert forgive("three", True)
    assert forgive("four", False), "the default met one too"
    assert not forgive("five", False)
    assert forgive("six", True) and forgive("seven", True), "a machine stalls now and then"
    assert not forgive("eight", True)
    assert len(Limits(Ledger(tmp_path)).notes) == 5


def test_a_default_that_hangs_twice_is_told_which_limit_that_was(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    """It follows from how long the default took."""
    program = Stalling(lambda rules: 1.0, noise=jitter, outcomes={ONE_DEFAULT: [STALL, STALL]})
    with pytest.raises(TailraceError, match="its time limit") as raised:
        tuned(program, PLAN, tmp_path, monkeypatch)
    assert raised.value.hint.startswith("10 s are five times the slowest default")
    assert "--timeout TIME" in raised.value.hint
    given = recording.failed(STALL, "", ["program"], 7.0)
    assert given.hint == "give it more than 7 s with --timeout TIME"
    served = recording.failed(Outcome(0, 0.5, "limit", has_left=True), "", ["program"], 0.5)
    assert "if it starts a server or daemon, it has to stop it" in served.hint


@pytest.mark.parametrize(("given", "by_default"), [(60.0, 60.0), (None, 10.0)])
def test_a_limit_that_is_given_is_that_of_the_default_too(
    given: float | None, by_default: float, tmp_path: Path, monkeypatch: Patch
) -> None:
    limits: dict[str, float | None] = {}
    run = FakeRunner.run

    def noting(
        self: FakeRunner, name: str, plan: Document | None, limit_s: float | None, *more: Any
    ) -> Any:
        limits[name] = limit_s
        return run(self, name, plan, limit_s, *more)

    monkeypatch.setattr(FakeRunner, "run", noting)
    program = Program(lambda rules: 0.5 if rules else 1.0, noise=jitter)
    tuned(program, ONE_RULE, tmp_path, monkeypatch, limit_s=given)
    assert (limits[ONE_DEFAULT], limits[ONE_TUNED]) == (by_default, 10.0)


def test_a_full_disk_is_blamed_on_no_rule(tmp_path: Path, monkeypatch: Patch) -> None:
    full = Outcome(1, 1.0, "disk", why_no_room="Disk quota exceeded")
    program = Stalling(lambda rules: 1.0, outcomes={"check-0-dropped-1": [full]})
    with pytest.raises(TailraceError, match="for want of room: Disk quota exceeded") as raised:
        tuned(program, PLAN, tmp_path, monkeypatch)
    assert "make room" in raised.value.hint
