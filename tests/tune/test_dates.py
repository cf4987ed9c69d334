# SPDX-License-Identifier: Apache-2.0
"""Dates by the minute, or of a day: two runs of the default have the same one, later ones not."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_runs import Program, kept, tuned
from plans import plan, setting

from tailrace.tune.file_content import Itself, together
from tailrace.tune.printed_lines import Printed, steady
from tailrace.tune.printed_lines import together as printed_together

PLAN = plan(
    ("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes")]),
    ("/d/a.h5", "", [setting("3", "meta_block_bytes", "layout")]),
)


def dated(*turns: int) -> Program:
    """It prints another minute from each of these runs on."""

    def prints(number: int) -> bytes:
        return b"sum 3\nat 12:%02d\n" % sum(number >= turn for turn in turns)

    return Program(lambda rules: 0.5 if rules else 1.0, prints=prints)


@pytest.mark.parametrize("turn", [3, 4, 8, 11])
def test_a_date_that_goes_on_is_blamed_on_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    """3: the run without anything of ours; 4: the first with the plan, 11: the last."""
    program = dated(turn, turn + 5)
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "kept", found.verdict.reason
    assert found.report is not None and found.report.equal
    assert found.known is not None and found.known.names == ["standard output: line 2"]
    assert any("a later default run" in note for note in found.notes)
    again = tuned(dated(1000), PLAN, tmp_path, monkeypatch)
    assert again.known is not None and again.known.names == found.known.names, "it goes on with it"


@pytest.mark.parametrize("turn", [3, 4, 11])
def test_a_number_in_a_files_name_that_goes_on_is_blamed_on_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    """Only the last part of it differs between the first two runs; later also one before it."""
    program = Program(
        lambda rules: 0.5 if rules else 1.0,
        names=lambda number: f"run.{170 + (number >= turn)}.{number % 60}.txt",
    )
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.verdict.name == "kept", found.verdict.reason
    assert kept(found) == ["13"]
    assert found.report is not None and found.report.files_compared == 1
    program = Program(program.seconds, names=program.names, changes={"3"})
    found = tuned(program, PLAN, tmp_path / "other", monkeypatch)
    assert found.candidate is not None
    assert "with it the content differs" in found.candidate.dropped["3"]


def test_another_content_is_blamed_on_the_plan_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = dated(4)
    program.changes = {"3"}
    found = tuned(program, PLAN, tmp_path, monkeypatch)
    assert found.candidate is not None
    assert "with it the content differs" in found.candidate.dropped["3"]
    assert found.report is not None and found.report.printed_lines == 1


def test_what_differs_from_either_of_two_runs_is_left_out() -> None:
    one, two = Itself(ignore=("/a",)), Itself(ignore=("/b@c", "/a"))
    assert together(one, two).ignore == ("/a", "/b@c")
    assert together(one, Itself(whole=True)).whole
    first, second = (steady(b"a\nb\n", text) for text in (b"a\nc\n", b"d\nb\n"))
    assert printed_together(first, second).comparable == 0
    assert together(Itself(lines=first), Itself(lines=second)).whole, "no line is left"
    assert together(Itself(lines=first), Itself()).lines == first
    assert printed_together(first, Printed((b"a",), None)).unsteady is None
