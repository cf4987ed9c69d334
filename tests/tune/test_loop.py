# SPDX-License-Identifier: Apache-2.0
"""The decisions of the loop, over runs whose times and contents are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_runs import PLAN, Nowhere, Program, jitter, kept, tuned
from plans import plan, setting

from tailrace.errors import TailraceError
from tailrace.sandbox.ledger import Ledger
from tailrace.tune import arms, budget, loop, repacked_inputs
from tailrace.tune.loop import Found, _spent_s
from tailrace.tune.mishaps import Limits
from tailrace.tune.pairs import speedup
from tailrace.tune.repacked_inputs import Arm
from tailrace.tune.request import Asked, Verdict
from tailrace.tune.result import document
from tailrace.tune.rules_of_plan import rules_of
from tailrace.tune.words import speed_text

Patch = pytest.MonkeyPatch
ONE_RULE = plan(("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes")]))


class Clock:
    """Runs take their time by it."""

    def __init__(self, program: Program, patch: Patch) -> None:
        self.now = 0.0
        run = program.run

        def timed(name, plan):  # type: ignore[no-untyped-def]
            found = run(name, plan)
            self.now += program.before_s + found[0].elapsed_s
            return found

        patch.setattr(program, "run", timed)
        patch.setattr(budget.time, "monotonic", lambda: self.now)


def test_what_pays_is_kept_and_what_does_not_is_left_out(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.1 if "13" in rules else 1.0, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "kept"
    assert kept(found) == ["13"]
    assert found.candidate is not None
    assert set(found.candidate.dropped) == {"17", "25"}
    assert "does not pay" in found.candidate.dropped["17"]
    assert found.confirmed is not None
    speed = speedup(found.confirmed, found.times)
    assert (speed["pairs"], speed["ci95"]) == (2, None), "two pairs have no 95 % interval"
    low, high = speed["range"]
    assert 8 < low <= speed["median"] <= high < 11


def test_a_large_gain_is_proven_by_a_dozen_runs(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 0.4 if rules else 1.0, noise=jitter)
    found = tuned(program, ONE_RULE, tmp_path, monkeypatch)
    assert found.verdict.name == "kept"
    assert found.confirmed is not None and found.confirmed.pairs == 3
    assert len(program.runs) + 1 == 12, "with the run that was recorded"
    assert program.runs[-1][0].startswith("proof"), "content is proven once more at the end"


def test_a_gain_of_three_times_needs_two_pairs(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 0.33 if rules else 1.0, noise=jitter)
    found = tuned(program, ONE_RULE, tmp_path, monkeypatch)
    assert found.verdict.name == "kept"
    assert found.confirmed is not None and found.confirmed.pairs == 2
    assert len(program.runs) + 1 == 10, "with the run that was recorded"


def test_a_plan_that_brings_nothing_is_given_up_early(tmp_path: Path, monkeypatch: Patch) -> None:
    found = tuned(program := Program(lambda rules: 1.0), ONE_RULE, tmp_path, monkeypatch)
    assert found.verdict.name == "nothing_to_gain"
    assert found.trial is not None and found.trial.pairs == 3
    assert len(program.runs) + 1 <= 12


def test_the_confirmation_of_less_of_a_plan_is_made_with_fresh_pairs(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.9 if rules else 1.0, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "kept"
    assert found.same is not None, "the difference is small"
    assert found.confirmed is not None
    assert speedup(found.confirmed, found.times)["ci95"] is not None, "of six pairs there is one"
    names = [name for name, _ in program.runs]
    assert len(names) == len(set(names))
    assert sum(name.startswith("confirmation") for name in names) == 12
    assert names[-1].startswith("proof")


def test_a_budget_ends_a_tune_and_keeps_what_is_proven(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 0.9 if rules else 1.0, noise=jitter)
    clock = Clock(program, monkeypatch)
    found = tuned(program, PLAN, tmp_path / "enough", monkeypatch, budget_minutes=40 / 60)
    assert clock.now <= 44
    assert found.verdict.name == "kept"
    assert len(kept(found)) == 3, "no time to leave any out"
    clock.now = 0
    found = tuned(program, PLAN, tmp_path / "short", monkeypatch, budget_minutes=10 / 60)
    assert clock.now <= 11
    assert found.verdict.name == "no_verdict"
    assert "--budget" in found.verdict.reason


def test_a_budget_has_room_for_what_a_run_is_compared_for(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    """Comparisons that take five times as long as a run."""
    program = Program(lambda rules: 0.3 if rules else 1.0, noise=jitter)
    clock = Clock(program, monkeypatch)
    compare = arms.content.against_default

    def slow(*given: Any) -> Any:
        clock.now += 5
        return compare(*given)

    monkeypatch.setattr(arms.content, "against_default", slow)
    for seconds in range(16, 40, 3):
        clock.now = 0
        folder = tmp_path / str(seconds)
        found = tuned(program, ONE_RULE, folder, monkeypatch, budget_minutes=seconds / 60)
        assert clock.now <= 1.1 * seconds
    assert found.verdict.name == "kept"


def test_the_default_budget_is_fifteen_runs_and_two_minutes_at_least() -> None:
    for run_s, all_s in ((0.5, 120), (8, 120), (20, 300)):
        default, given = budget.Budget(), budget.Budget(60)
        for one in (default, given):
            one.start(run_s)
        assert (default.all_s, given.all_s) == (all_s, 60)


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_budget_that_ends_early_is_noted_of_a_plan_that_is_kept(
    tmp_path: Path, monkeypatch: Patch, is_kept: bool
) -> None:
    program = Program(lambda rules: 0.9 if rules else 1.0, noise=jitter)
    program.changes_last = set() if is_kept else {"13", "17", "25"}
    Clock(program, monkeypatch)
    found = tuned(program, PLAN, tmp_path, monkeypatch, budget_minutes=40 / 60)
    assert (found.verdict.name == "kept") == is_kept
    assert any("before each rule was left out" in note for note in found.notes) == is_kept


def test_a_search_that_the_budget_ends_takes_no_verdict_back(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    """The plan as it is was seen to bring nothing."""
    program = Program(lambda rules: 1.0, noise=jitter)
    clock = Clock(program, monkeypatch)
    numbers = plan(("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes", value=1 << 20)]))
    found = tuned(
        program, numbers, tmp_path, monkeypatch, budget_minutes=11 / 60, search_minutes=4 / 60
    )
    assert any(name.startswith("search") for name, _ in program.runs)
    assert (found.verdict.name, found.changes) == ("nothing_to_gain", [])
    assert clock.now > 13


def test_a_budget_that_ends_before_less_of_a_plan_is_known_says_so(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.5 if rules == {"13"} else 1.0, noise=jitter)
    Clock(program, monkeypatch)
    found = tuned(program, PLAN, tmp_path, monkeypatch, budget_minutes=11 / 60)
    assert (found.verdict.name, found.confirmed) == ("nothing_to_gain", None)
    assert "no difference beyond noise" in found.verdict.reason
    assert any("before it was known what else" in note for note in found.notes)


@pytest.mark.parametrize(("seconds", "words"), [(6, ["a verdict takes some 12"]), (13, [])])
def test_how_long_it_takes_is_said_right_after_the_recording(
    tmp_path: Path, monkeypatch: Patch, seconds: float, words: list[str]
) -> None:
    said: list[str] = []
    program = Program(lambda rules: 1.0)
    tuned(program, plan(), tmp_path, monkeypatch, budget_minutes=seconds / 60, said=said)
    beginnings = ["recording a run", "a run takes about 1.0 s", *words, "the plan has 0"]
    assert len(said) == len(beginnings)
    assert all(map(str.startswith, said, beginnings)), said


def test_what_a_run_is_made_ready_by_counts_as_its_time(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 0.5 if rules else 1.0, noise=jitter, before_s=9)
    clock = Clock(program, monkeypatch)
    tuned(program, PLAN, tmp_path, monkeypatch, budget_minutes=1)
    assert 50 < clock.now <= 66
    assert _spent_s(Ledger(tmp_path), hung=True) == pytest.approx(1 + clock.now), (
        "with the recording"
    )


@pytest.mark.parametrize("minutes", [0, 1.9])
def test_runs_that_hang_are_not_charged_to_the_default_budget(
    tmp_path: Path, monkeypatch: Patch, minutes: float
) -> None:
    """A minute each, twice: what was given holds, and what was found before its end is told."""
    program = Program(lambda rules: 0.5 if "13" in rules else 1.0, hangs={"25"}, noise=jitter)
    clock = Clock(program, monkeypatch)
    found = tuned(program, PLAN, tmp_path, monkeypatch, ranks=2, budget_minutes=minutes)
    assert found.candidate is not None
    assert "hung" in found.candidate.dropped["25"]
    assert found.verdict.name == ("no_verdict" if minutes else "kept")
    assert clock.now > 120
    assert _spent_s(Ledger(tmp_path), hung=False) < _spent_s(Ledger(tmp_path), hung=True) - 110


def test_a_rule_that_hangs_is_dropped_and_the_others_go_on(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.5 if "13" in rules else 1.0, hangs={"25"}, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch, ranks=2)
    assert found.candidate is not None
    assert found.verdict.name == "kept"
    assert "hung" in found.candidate.dropped["25"]
    assert kept(found) == ["13"]
    assert sum("25" in rules for _, rules in program.runs) == 2, "the second time is no stall"
    assert Limits(Ledger(tmp_path)).notes == [], "nor is it one that was forgiven"


def test_a_rule_that_changes_content_is_dropped(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 0.5 if "13" in rules else 1.0, changes={"17"}, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.candidate is not None
    assert found.verdict.name == "kept"
    assert "17" in found.candidate.dropped
    assert kept(found) == ["13"]
    assert found.report is not None
    assert found.report.equal


def test_where_every_rule_changes_content_none_is_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 0.1 if rules else 1.0, changes={"13", "17", "25"})
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "nothing_to_gain"
    assert "content differs" in found.verdict.reason
    assert kept(found) == []


def test_a_rule_with_which_the_program_fails_is_dropped(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 0.5 if "13" in rules else 1.0, fails={"17"}, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.candidate is not None
    assert "exit code 1" in found.candidate.dropped["17"]
    assert "does not pay" in found.candidate.dropped["25"], "it was doubted first, and given back"
    assert found.verdict.name == "kept"


def test_a_rule_with_which_it_fails_only_later_is_dropped_too(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.5 if "13" in rules else 1.0, fails_later={"25"}, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.candidate is not None
    assert "in a later run" in found.candidate.dropped["25"]
    assert found.verdict.name == "kept"
    assert kept(found) == ["13"]


def test_nothing_is_said_of_the_speed_of_a_plan_that_was_given_up(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.5 if rules else 1.0, changes_last={"13"}, noise=jitter)
    found = tuned(program, ONE_RULE, tmp_path, monkeypatch)
    assert found.verdict.name == "nothing_to_gain"
    assert "content differs" in found.verdict.reason
    assert (found.trial, found.confirmed, found.report) == (None, None, None)
    assert (found.times.one, found.lines, found.ratios) == ([], [], {})
    asked = Asked(["program"], tmp_path, tmp_path, tmp_path / "scratch")
    result = document(asked, found, None, [], confined=True)
    assert (result["speedup"], result["equal_content"]) == (None, None)
    assert speed_text(result) == ""


def test_what_is_said_is_of_the_plan_that_is_left(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(
        lambda rules: (0.5 if "13" in rules else 1.0) * (0.5 if "17" in rules else 1.0),
        changes_last={"17"}, noise=jitter,
    )  # fmt: skip
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert kept(found) == ["13"]
    assert found.confirmed is not None
    assert 1.8 < speedup(found.confirmed, found.times)["median"] < 2.2
    assert {line.rule for line in found.lines} == {"13"}
    assert "17" not in found.ratios


def test_numbers_that_a_search_has_found_go_with_their_rule() -> None:
    changes = [f"rule {rule}, key: 8: 2 times as fast as before" for rule in ("1", "13")]
    found = Found(Verdict("kept", ""), changes=changes)
    found.forget("1")
    assert found.changes == changes[1:]


def test_no_difference_is_nothing_to_gain(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 1.0, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "nothing_to_gain"
    assert "no difference beyond noise" in found.verdict.reason
    assert found.confirmed is None


def test_a_plan_that_slows_down_is_left_out(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 1.0 + len(rules), noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "nothing_to_gain"
    assert kept(found) == []


def test_a_rule_that_pays_is_found_below_one_that_slows_down(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    def seconds(rules: set[str]) -> float:
        return (0.5 if "13" in rules else 1.0) + (2.0 if "17" in rules else 0.0)

    found = tuned(Program(seconds, noise=jitter), PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "kept"
    assert kept(found) == ["13"]


def test_a_rule_that_pays_is_found_where_another_takes_it_away(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    """Together they make no difference."""
    program = Program(
        lambda rules: (0.5 if "13" in rules else 1.0) * (2.0 if "17" in rules else 1.0),
        noise=jitter,
    )
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.trial is not None and found.trial.verdict == "no_difference_beyond_noise"
    assert found.verdict.name == "kept"
    assert kept(found) == ["13"]
    assert found.candidate is not None
    assert found.candidate.dropped["17"].startswith("slows down")
    assert found.ratios["17"] < 0.6


@pytest.mark.parametrize("better", [True, False])
def test_a_search_is_made_where_the_plan_as_it_is_makes_no_difference(
    better: bool, tmp_path: Path, monkeypatch: Patch
) -> None:
    searched: list[str] = []

    def search(plan, _ledger, stage, _means):  # type: ignore[no-untyped-def]
        searched.append(stage)
        return plan, ["64x100: 0.5 times as long"] if better else []

    monkeypatch.setattr(loop.search, "better", search)
    program = Program(lambda rules: 0.5 if rules and searched else 1.0, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch, search_minutes=1)
    assert len(searched) == 1
    assert found.trial is not None and found.trial.verdict == "no_difference_beyond_noise"
    assert found.verdict.name == ("kept" if better else "nothing_to_gain")
    assert found.changes == (["64x100: 0.5 times as long"] if better else [])
    if not better:
        assert "no difference beyond noise" in found.verdict.reason
        assert not any(name.startswith("confirmation") for name, _ in program.runs)


def test_a_machine_that_is_not_steady_gives_no_verdict_on_a_small_gain(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    class Drifting(Program):
        def run(self, name, plan):  # type: ignore[no-untyped-def]
            outcome, printed, lines = super().run(name, plan)
            slower = 2.0 if name.endswith("A2") else 1.0
            return type(outcome)(0, outcome.elapsed_s * slower), printed, lines

    program = Drifting(lambda rules: 0.9 if rules else 1.0, noise=jitter)
    found = tuned(program, ONE_RULE, tmp_path, monkeypatch)
    assert found.verdict.name == "no_verdict"
    assert found.same is not None and found.same.verdict == "slower"


def test_rules_that_are_in_force_nowhere_are_not_measured(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.5 if "13" in rules else 1.0, idle={"17", "25"}, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.candidate is not None
    assert found.candidate.dropped["17"].startswith("not in force")
    assert not any(name.startswith("without") for name, _ in program.runs)


def test_a_plan_without_rules_needs_no_more_runs(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 1.0)
    found = tuned(program, plan(), tmp_path, monkeypatch)
    assert found.verdict.name == "nothing_to_gain"
    assert program.runs == []


def test_what_a_plan_leaves_out_is_said_once(tmp_path: Path, monkeypatch: Patch) -> None:
    program = Program(lambda rules: 1.0, lost=["lost"])
    origin = {"version": "test", "notes": ["lost", "62 entries are left out"]}
    found = tuned(program, plan(origin=origin), tmp_path, monkeypatch)
    assert found.notes == ["lost", "62 entries are left out"]


def test_an_hdf5_that_was_not_seen_is_no_program_without_anything_to_gain(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 1.0, lost=["HDF5 1.12.2 was not recorded"], unseen=["/d/a.h5"])
    found = tuned(program, plan(), tmp_path, monkeypatch)
    assert "was not seen at work" in found.verdict.reason
    assert found.notes == [
        "HDF5 1.12.2 was not recorded", "no HDF5 was seen to use these HDF5 files: /d/a.h5"
    ]  # fmt: skip


def test_a_program_that_prints_and_writes_nothing_is_not_proven(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.1 if rules else 1.0, prints=lambda number: b"")
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "not_proven"
    assert "nothing could be compared" in found.verdict.reason


def test_a_program_that_differs_from_itself_everywhere_is_not_proven(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.1 if rules else 1.0, prints=lambda number: b"%d" % number)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "not_proven"
    assert "nothing in common" in found.verdict.reason


def test_a_default_that_fails_later_ends_the_tune(tmp_path: Path, monkeypatch: Patch) -> None:
    class Flaky(Program):
        def run(self, name, plan):  # type: ignore[no-untyped-def]
            outcome, printed, lines = super().run(name, plan)
            code = 1 if name.endswith("3-default") else 0
            return type(outcome)(code, outcome.elapsed_s), printed, lines

    with pytest.raises(TailraceError, match="it said this"):
        tuned(Flaky(lambda rules: 1.0), PLAN, tmp_path, monkeypatch)


@pytest.mark.parametrize("at", [1, 2, 4, 6, 9, 12])
def test_a_tune_that_was_killed_comes_to_the_same_end(
    at: int, tmp_path: Path, monkeypatch: Patch
) -> None:
    def seconds(rules: set[str]) -> float:
        return 0.2 if "13" in rules else 1.0

    whole = Program(seconds)
    expected = tuned(whole, PLAN, tmp_path / "whole", monkeypatch)
    killed = Program(seconds, interrupt_at=at)
    with pytest.raises(KeyboardInterrupt):
        tuned(killed, PLAN, tmp_path / "killed", monkeypatch)
    resumed = Program(seconds)
    found = tuned(resumed, PLAN, tmp_path / "killed", monkeypatch)
    assert found.verdict == expected.verdict
    assert kept(found) == kept(expected)
    assert len(killed.runs) - 1 + len(resumed.runs) == len(whole.runs)
    done = [name for name, _ in killed.runs[:-1]]
    assert not {name for name, _ in resumed.runs} & set(done)


def test_a_tune_that_goes_on_keeps_the_plan_that_its_runs_were_made_with(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    def seconds(rules: set[str]) -> float:
        return 0.2 if "13" in rules else 1.0

    with pytest.raises(KeyboardInterrupt):
        tuned(Program(seconds, interrupt_at=9), PLAN, tmp_path, monkeypatch)
    other = plan(("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes", value=99)]))
    found = tuned(Program(seconds), other, tmp_path, monkeypatch)
    assert found.plan["entries"] == PLAN["entries"]
    assert kept(found) == ["13"]


def with_badly_laid_out_inputs(
    monkeypatch: Patch, saved_s: float | None = None, beside_s: float | None = None
) -> list[repacked_inputs.Means]:
    """What the arm of repacked copies is asked. beside_s: what they save on top of a plan; None:
    as much."""
    asked: list[repacked_inputs.Means] = []

    def prepared(
        names: list[str], _ledger: Ledger, means: repacked_inputs.Means
    ) -> tuple[Arm, list[str]]:
        assert names == ["in.h5"]
        asked.append(means)
        return Arm(became="faster"), ["a note"]

    monkeypatch.setattr(loop, "Scratch", Nowhere)
    monkeypatch.setattr(
        loop.repacked_inputs, "proposed",
        lambda badly, _home: repacked_inputs.Proposed(
            ["in.h5"], saved_s=saved_s if not badly or beside_s is None else beside_s
        ),
    )  # fmt: skip
    monkeypatch.setattr(loop.repacked_inputs, "prepared", prepared)
    return asked


def test_inputs_are_repacked_on_top_of_the_plan_that_was_kept(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    asked = with_badly_laid_out_inputs(monkeypatch)
    program = Program(lambda rules: 0.5 if "13" in rules else 1.0, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "kept"
    assert [rule.id for means in asked for rule in rules_of(means.plan or {})] == ["13"]
    assert found.repacked is not None
    assert "a note" in found.notes


def test_inputs_are_repacked_where_no_rule_has_anything_to_set(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    asked = with_badly_laid_out_inputs(monkeypatch)
    found = tuned(Program(lambda rules: 1.0, noise=jitter), plan(), tmp_path, monkeypatch)
    assert found.verdict.name == "nothing_to_gain"
    assert found.verdict.reason == "no rule has a setting for this program"
    assert [means.plan for means in asked] == [None]


def saves(rule: str, seconds: float) -> dict[str, Any]:
    made = setting(rule, "chunk_cache_bytes")
    fact = {"name": "estimated.saved", "value": seconds, "unit": "s"}
    return {**made, "because": {**made["because"], "evidence": [fact]}}


@pytest.mark.parametrize(("of_repack", "is_first"), [(0.9, True), (0.3, False), (None, False)])
def test_what_is_estimated_to_save_the_most_is_tried_first(
    tmp_path: Path, monkeypatch: Patch, of_repack: float | None, is_first: bool
) -> None:
    asked = with_badly_laid_out_inputs(monkeypatch, of_repack)
    program = Program(lambda rules: 0.5 if rules else 1.0, noise=jitter)
    cached = plan(("/d/a.h5", "/x", [saves("13", 0.5)]))
    found = tuned(program, cached, tmp_path, monkeypatch)
    assert found.verdict.name == "kept", "the other one all the same"
    assert [means.plan is None for means in asked] == [is_first]
    assert found.repacked is not None
    times = {0.9: 10, 0.3: 0.5 / (0.5 - 0.3)}  # of a run as it is, and of one with the plan
    expected = pytest.approx(times[of_repack], rel=0.05) if of_repack else None
    assert found.repacked.estimated == expected


def test_what_the_plan_has_cured_already_is_not_repacked(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    cached = plan(("/d/a.h5", "/x", [saves("13", 0.5)]))
    program = Program(lambda rules: 0.5 if rules else 1.0, noise=jitter)
    asked = with_badly_laid_out_inputs(monkeypatch, 0.4, beside_s=0.014)
    found = tuned(program, cached, tmp_path, monkeypatch)
    assert (found.verdict.name, found.repacked, asked) == ("kept", None, [])
    (note,) = [note for note in found.notes if "reads of in.h5" in note]
    assert "save 0.014 s of a run, and 0.4 s without it: not tried" in note
    # The same seconds are enough where a run is that much shorter.
    asked = with_badly_laid_out_inputs(monkeypatch, 0.4, beside_s=0.016)
    tuned(program, cached, tmp_path / "more", monkeypatch)
    assert [bool(means.plan) for means in asked] == [True]


def test_nothing_is_tried_that_is_estimated_to_be_too_little(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    asked = with_badly_laid_out_inputs(monkeypatch, 0.02)
    program = Program(lambda rules: 1.0)
    found = tuned(program, plan(("/d/a.h5", "/x", [saves("13", 0.02)])), tmp_path, monkeypatch)
    names = [name for name, _ in program.runs]
    assert (found.verdict.name, names, asked) == ("nothing_to_gain", ["default-1", "default-2"], [])
    assert "rule 13: estimated to save 0.02 s: too little to measure" in found.verdict.reason
    assert any("reads of in.h5, but" in note and "0.02 s of a run" in note for note in found.notes)


def test_too_little_is_by_the_shorter_default_and_all_rules_together(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    """The recorded run took 1 s, a warm one 0.5 s."""
    program = Program(lambda rules: 0.5 if len(rules) < 2 else 0.4, noise=jitter)
    rules = [saves("1", 0.007), saves("13", 0.012), saves("17", 0.01)]
    found = tuned(program, plan(("/d/a.h5", "/x", rules)), tmp_path, monkeypatch)
    assert found.candidate is not None
    assert list(found.candidate.dropped) == ["1"], "0.017 s are measured, and 0.029 s"
    assert (found.verdict.name, kept(found)) == ("kept", ["13", "17"])


def test_a_command_that_is_told_can_be_pasted(tmp_path: Path, monkeypatch: Patch) -> None:
    beyond = repacked_inputs.Proposed(beyond=["/far/in.h5"])
    monkeypatch.setattr(loop.repacked_inputs, "proposed", lambda *_: beyond)
    folder = tmp_path / "my data"
    found = tuned(Program(lambda rules: 1.0), plan(), folder, monkeypatch)
    assert any(
        note.endswith(f"; tailrace repack FILE --profile '{folder}/profile.json'")
        for note in found.notes
    )


def test_inputs_are_not_repacked_where_nothing_could_be_compared(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    asked = with_badly_laid_out_inputs(monkeypatch)
    program = Program(lambda rules: 1.0, prints=lambda number: b"")
    found = tuned(program, plan(), tmp_path, monkeypatch)
    assert found.verdict.name == "not_proven"
    assert (asked, found.repacked) == ([], None)
