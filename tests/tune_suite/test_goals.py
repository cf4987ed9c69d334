# SPDX-License-Identifier: Apache-2.0
"""The suite's table, goals and page, from results made here. Nothing is measured."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "bench" / "tune"))

from tune_suite.goals import Goal, goals  # noqa: E402
from tune_suite.programs import Places, Program, read  # noqa: E402

from tailrace.errors import TailraceError  # noqa: E402
from tune_suite import page  # noqa: E402

PLACES = Places(Path("/build"), ("mpiexec",), "python")
GAINING = [one for one in read() if not one.optimal]
BY_HAND = {one.name: {"speedup": {"median": 6.5, "ci95": [6, 7]}, "equal_content": True}
           for one in GAINING if one.by_hand}  # fmt: skip


def line(name: str, median: float, low: float, high: float, **more: Any) -> dict[str, Any]:
    found = {
        "program": name,
        "speedup": {"median": median, "ci95": [low, high]},
        "kept": median > 1,
        "equal_content": True,
        "rules": [{"id": "13", "kept": True}, {"id": "14", "kept": False}],
        "plan": {},
        "runs": [
            {"name": f"confirmation/{at}/{arm}", "elapsed_s": float(at), "code": 0}
            for at in range(5)
            for arm in ("default", "tuned")
        ],
    }
    if found["kept"]:
        found["again"] = {"speedup": {"median": median, "ci95": [low, high]}, "equal_content": True}
    return found | more


def good_results() -> dict[str, dict[str, Any]]:
    """Every goal met, and none by much. One gains little, and takes more runs."""
    found = {one.name: line(one.name, 5.2, 5.0, 5.5) for one in GAINING}
    found[GAINING[-1].name] = line(GAINING[-1].name, 1.9, 1.8, 2.0, runs=[{}] * 25)
    found[GAINING[0].name] = line(GAINING[0].name, 21, 20, 22)
    for one in read():
        if one.optimal:
            found[one.name] = line(one.name, 1, 1, 1)
    return found


def met(found: dict[str, dict[str, Any]]) -> dict[str, bool | None]:
    return {goal.text: goal.met for goal in goals(read(), found, BY_HAND)}


def goal_of(found: dict[str, dict[str, Any]], begin: str) -> Goal:
    return next(goal for goal in goals(read(), found, BY_HAND) if goal.text.startswith(begin))


def test_all_goals_met() -> None:
    assert set(met(good_results()).values()) == {True}


@pytest.mark.parametrize(
    ("begin", "change"),
    [
        ("none slower", {"speedup": {"median": 1.1, "ci95": [0.8, 0.99]}}),
        ("none slower", {"applied": {"speedup": {"median": 0.9, "ci95": [0.8, 0.95]},
                                     "equal_content": True}}),
        ("content equal", {"equal_content": False}),
        ("content equal", {"equal_content": None}),
        ("content equal", {"applied": {"speedup": {"median": 2, "ci95": [1.5, 3]},
                                       "equal_content": False}}),
        ("twice the size", {"again": {"speedup": {"median": 2, "ci95": [1.5, 3]},
                                      "equal_content": False}}),
        ("twice the size", {"again": {"speedup": {"median": 0.9, "ci95": [0.8, 0.95]},
                                      "equal_content": True}}),
        ("at least 20", {"speedup": {"median": 21, "ci95": [19.9, 22]}}),
    ],
)  # fmt: skip
def test_one_program_spoils_a_goal(begin: str, change: dict[str, Any]) -> None:
    found = good_results()
    found[GAINING[0].name] |= change
    assert goal_of(found, begin).met is False


def test_the_mean_that_is_wanted() -> None:
    """Geometric, over the programs with a cure: two gain nothing, and the others five times."""
    found = good_results()
    assert goal_of(found, "geometric mean at least 5").met is True
    for one in GAINING[:2]:
        found[one.name] = line(one.name, 1, 1, 1)
    goal = goal_of(found, "geometric mean at least 5")
    assert (goal.met, float(goal.found.partition(",")[0]) > 4) == (False, True)


def test_copies_count_as_what_was_proved() -> None:
    """The better of plan and copies, their product where the copies were read under the plan;
    copies that brought nothing count for nothing."""
    names = [one.name for one in GAINING if one.by_hand and not one.by_code][:3]
    found = good_results()
    copies = {"became": "faster", "with_plan": False, "speedup": {"median": 13.0}}
    for name, more in zip(
        names, ({}, {"with_plan": True}, {"became": "no_difference"}), strict=True
    ):
        found[name] |= {"repack": copies | more}
    goal = goal_of(found, "at least 0.8 of the gain by hand")
    assert goal.met is True
    assert goal.found.startswith(f"{names[0]} 2.00, {names[1]} 10.40, {names[2]} 0.80")
    found[names[2]]["speedup"]["median"] = 5.1
    assert goal_of(found, "at least 0.8 of the gain by hand").met is False


def test_of_how_many_plans_fresh_pairs_are_known_is_said() -> None:
    found = good_results()
    kept = sum(bool(one["kept"]) for one in found.values())
    assert goal_of(found, "none slower").found == "none otherwise"
    fresh = {"speedup": {"median": 2, "ci95": [1.5, 3]}, "equal_content": True}
    for one in GAINING[:3]:
        found[one.name] |= {"applied": fresh}
    goal = goal_of(found, "none slower")
    assert goal.found == f"none otherwise; 3 of {kept} kept plans in fresh pairs under apply"
    assert goal.met is True


def test_an_optimal_program_is_left_alone() -> None:
    found = good_results()
    name = next(one.name for one in read() if one.optimal)
    found[name] = line(name, 1.2, 1.1, 1.3)
    assert goal_of(found, "those that are optimal") == Goal(
        "those that are optimal left alone", name, False
    )


def test_what_is_left_as_it_is_counts_as_one() -> None:
    """So do programs on which nothing was gained: ten of those with a cure, and the mean is that
    of the ten others to the power of 10/20."""
    found = {one.name: line(one.name, 4.0, 3.9, 4.1) for one in read()}
    curable = [one.name for one in GAINING if one.rules]
    for name in curable[: len(curable) // 2]:
        found[name] = line(name, 0.97, 0.9, 1.04)
    goal = goal_of(found, "geometric mean")
    assert goal.found == (
        "2.00, 20 of 20 programs with a cure; 2.00 by plans alone; 2.30 of all 25 that are not "
        "optimal"
    )
    assert goal.met is False
    assert goal_of(found, "none slower").met is True


def test_the_runs_of_a_tune_are_counted_by_what_it_gained() -> None:
    found = good_results()
    many = [one for one in GAINING if found[one.name]["speedup"]["median"] > 2]
    quick, slow = "at most 12 runs of tune", "at most 25 runs of tune"
    assert goal_of(found, quick).found == f"10, {len(many)} programs"
    for one in many[: len(many) // 2 + 1]:
        found[one.name]["runs"] = [{}] * 13
    assert goal_of(found, quick).met is False and goal_of(found, slow).met is True
    found[many[0].name]["runs"] = []  # nothing was tried
    assert goal_of(found, quick).found.endswith(f", {len(many) - 1} programs")
    optimal = [one.name for one in read() if one.optimal]
    for name in optimal:
        found[name]["runs"] = [{}] * 26
    assert (goal_of(found, slow).found, goal_of(found, slow).met) == ("26, 3 programs", False)


def test_what_is_missing_leaves_goals_open() -> None:
    found = good_results()
    found[GAINING[1].name] = {"program": GAINING[1].name, "failed": "needs tables"}
    open_goals = {text for text, verdict in met(found).items() if verdict is None}
    assert any(text.startswith("geometric mean") for text in open_goals)
    assert any(text.startswith("none slower") for text in open_goals)
    assert goal_of(found, "at least 20").met is True
    assert set(met({}).values()) == {None}


def test_the_page(tmp_path: Path) -> None:
    head = {
        "session": "s1",
        "settings": {"where": "/dev/shm"},
        "context": {"cores": 2, "os_kernel": "6", "mpi": "m", "hdf5": "h", "build_type": "Release",
                    "commit": "c", "load_1m": 0.1},
    }  # fmt: skip
    name, other = GAINING[0].name, GAINING[1].name
    older = [head, line(name, 1.5, 1.4, 1.6), line(other, 3, 2, 4)]
    estimated = {
        "rules": [{"rule": "13", "kept": True, "estimated": 24.0}],
        "repack": {
            "estimated": 60.0,
            "became": "faster",
            "with_plan": False,
            "speedup": {"median": 16.0, "ci95": None, "range": [14.0, 18.0]},
        },
    }
    newer = [head | {"session": "s2"}, line(name, 25, 22, 30, **estimated)]
    for number, lines in enumerate((older, newer)):
        (tmp_path / f"{number}.jsonl").write_text("\n".join(json.dumps(one) for one in lines))
    (tmp_path / "by_hand").mkdir()
    hand = line("guess", 5, 4, 6)
    (tmp_path / "by_hand" / "2.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(hand)}")
    file = tmp_path / "page.md"
    file.write_text(f"before {page.begin} old {page.end} after")
    page.write(file, read(), tmp_path)
    text = file.read_text()
    assert text.startswith("before ") and text.endswith(" after") and " old " not in text
    row = (
        f"| {name} | 2.0 | yes | 25.00 [22.00, 30.00] | equal | 13 | 16.00 [14.00, 18.00] | - | "
        "25.00 [22.00, 30.00] | 10 |"
    )
    assert row in text
    assert f"| {other} | 2.0 | yes | 3.00 [2.00, 4.00]" in text
    assert f"| {name} | rule 13 | 24.00 | 25.00 [22.00, 30.00] |" in text
    assert f"| {name} | repacked input | 60.00 | 16.00 [14.00, 18.00] |" in text
    assert "| guess | 5.00 [4.00, 6.00] | equal | - | a plan or a copy |" in text
    assert "- s1: 2 programs" in text and "- s2: 1 programs" in text


def test_the_project_page_is_what_the_results_say(tmp_path: Path) -> None:
    there = SOURCE / "docs" / "developer" / "tune_suite.md"
    file = tmp_path / "page.md"
    file.write_text(there.read_text())
    page.write(file, read(), SOURCE / "bench" / "tune" / "results")
    assert file.read_text() == there.read_text()


def test_commands() -> None:
    programs = {one.name: one for one in read()}
    words = programs["interleaved"].words(PLACES, 2.0, ranks=2, run=7)
    assert words == ["mpiexec", "-n", "2", "/build/bench/tune/interleaved", "--scale", "2.0",
                     "--output", "interleaved_007.h5"]  # fmt: skip
    words = programs["gzip-frames"].words(PLACES, make_input=True)
    assert words[-3:] == ["--input", "stack_001.h5", "--make-input"]
    assert "dim_1=4194304" in programs["particle"].words(PLACES, 2.0)
    assert len([one for one in programs.values() if one.optimal]) == 2
    assert all(2 <= one.expected_s <= 60 for one in programs.values())


def test_a_mistyped_key_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "programs.toml"
    file.write_text('[[program]]\nname = "x"\nrank = 2\n')
    with pytest.raises(TailraceError, match="x: unknown key 'rank'"):
        read(file)


def test_a_program_that_lacks_something_says_what() -> None:
    program = Program(
        "x", "", ("{bin}/nothing",), "", "", (), 2, "--output x", modules=("no_such_module",)
    )
    assert program.missing(PLACES) == "the Python module no_such_module"
    lacking = Program("x", "", ("{bin}/nothing",), "", "", (), 2, "--output x")
    assert lacking.missing(PLACES) == "the program /build/bench/tune/nothing"
