# SPDX-License-Identifier: Apache-2.0
"""The default against itself: how many pairs say that a machine is steady enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_runs import Document, Program, tuned
from plans import plan, setting

from tailrace.intent.apply import Line
from tailrace.sandbox.supervision import Outcome

PLAN = plan(("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes")]))
Patch = pytest.MonkeyPatch


def jitter(number: int) -> float:
    return (number * 7919 % 13) / 1300


class Drifting(Program):
    """The second of two that are the same takes longer, but for once."""

    def run(self, name: str, plan: Document | None) -> tuple[Outcome, bytes, list[Line]]:
        outcome, printed, lines = super().run(name, plan)
        slower = 1.0
        if name.endswith("A2"):
            slower = 0.98 if name.endswith("-3-A2") else 1.3
        return Outcome(0, outcome.elapsed_s * slower), printed, lines


def pairs_of(program: Program) -> int:
    return sum(name.endswith("A2") for name, _ in program.runs)


def test_a_difference_that_six_pairs_leave_open_is_looked_at_again(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Drifting(lambda rules: 0.9 if rules else 1.0, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "no_verdict"
    assert pairs_of(program) == 10


def test_where_the_medians_are_near_six_pairs_are_enough(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    program = Program(lambda rules: 0.9 if rules else 1.0, noise=jitter)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "kept"
    assert pairs_of(program) == 6
