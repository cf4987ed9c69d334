# SPDX-License-Identifier: Apache-2.0
"""Datasets of several ranks without fill values by plan: what none of them writes gets them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from mpi_programs import MPIEXEC, mpi_components, programs
from plans import Json, entry, prove, setting, write_plan
from tailrace_cli import Ran, tailrace
from test_holes import contents

PROGRAM = programs() / "vol_holes_of_ranks"
ALL = 240 * 70
FILLED = "left out by all ranks, and filled"
# By file: elements that none of four ranks writes, of the datasets that have some; the others'
# are counted in the native file.
LEFT_OUT: dict[str, list[int]] = {
    "all_of_one": [],
    "copied": [ALL - 4 * 6 * 70],
    "deleted": [ALL - 4 * 6 * 70, ALL - 4 * 5 * 70],  # the first one before it is gone
    "flushed": [ALL - 4 * 6 * 70, ALL - 4 * 2 * 70],
    "linked_to": [],  # nor is this
    "gaps": [ALL - 4 * 7 * 70, ALL - 4 * 2 * 9, ALL, ALL - 70],
    "weakly": [],  # it is not counted
    "whole": [],
}


def words_of(way: str, ranks: int = 4) -> list[str | Path]:
    return [*MPIEXEC, "-n", str(ranks), PROGRAM, way]


def plan_of(folder: Path, cls: str = "collective") -> Path:
    ranks = {"ranks": 4} if cls == "collective" else {}
    never = setting("59", "fill_time", "never", cls, **ranks)
    return write_plan(folder, entry("*.h5", never, dataset="*", when="create"))


def natively(folder: Path, **added: str) -> tuple[list[str], Path]:
    (native := folder / "native").mkdir()
    done = subprocess.run(words_of("all"), cwd=native, capture_output=True, text=True, timeout=90,
                          check=True, env=os.environ | added)  # fmt: skip
    return done.stdout.splitlines(), native


def applied(folder: Path, way: str, **added: str) -> tuple[Ran, list[Json]]:
    """The run with the plan, proven for it, and what became of the setting."""
    plan = prove(plan_of(folder), *words_of(way), **added)
    for file in folder.glob("*.h5"):
        file.unlink()
    ran = tailrace("apply", plan, "--allow", "collective", "--json", "--", *words_of(way),
                   cwd=folder, timeout=90, **added)  # fmt: skip
    ran.expect(0)
    return ran, [one for one in ran.json["outcomes"] if one.get("setting") == "fill_time"]


@pytest.mark.parametrize(("component", "added"), mpi_components())
def test_what_no_rank_writes(tmp_path: Path, component: str, added: dict[str, str]) -> None:
    said, native = natively(tmp_path, **added)
    ran, outcomes = applied(tmp_path, "all", **added)
    assert [line for line in ran.err.splitlines() if line in said] == said
    assert "infinite loop" not in ran.err
    held = [one for one in outcomes if one["became"] != "applied"]
    assert {(Path(one["file"]).name, one["became"], one["reason"]) for one in held} == {
        (
            "linked.h5",
            "held",
            "a link or a mount may lead to another file, or groups are not there",
        ),
        ("weakly.h5", "held", "the program has closed the file"),
    }
    for file in sorted(native.glob("*.h5")):
        expected, found = contents(file), contents(tmp_path / file.name)
        assert list(found) == list(expected), file
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array, f"{file.name}: {name}")
    filled: dict[str, list[str]] = {}
    for one in outcomes:
        if one.get("reason") == FILLED:
            filled.setdefault(Path(one["file"]).stem, []).append(one["value"])
    for file in sorted(native.glob("*.h5")):
        missing = [int((array == -7).sum()) for array in contents(file).values()]
        wanted = LEFT_OUT.get(file.stem, missing)
        told = sorted(filled.get(file.stem, []))
        assert told == sorted(f"{one} elements" for one in wanted if one > 0), file


@pytest.mark.parametrize(
    ("cls", "ranks", "reason"),
    [
        ("layout", 4, "in a file of several ranks only by a rule that was proven for the run"),
        ("collective", 2, "collective: "),
    ],
)
def test_a_run_that_was_not_proven(tmp_path: Path, cls: str, ranks: int, reason: str) -> None:
    """Not by a rule of another class, nor on another number of ranks."""
    plan = prove(plan_of(tmp_path, cls), *words_of("read_before"))
    ran = tailrace("apply", plan, "--allow", "collective", "--json", "--",
                   *words_of("read_before", ranks), cwd=tmp_path)  # fmt: skip
    (line,) = ran.expect(0).json["lines"]
    assert line["became"] == "held"
    assert line["reason"].startswith(reason)


def test_a_read_before_all_is_known(tmp_path: Path) -> None:
    """It is said: what no rank has written had no fill value then."""
    ran, outcomes = applied(tmp_path, "read_before")
    said = "read or flushed by itself before elements that no rank has written got their"
    assert said in ran.err
    assert [one["value"] for one in outcomes if one["became"] == "failed"] == [
        f"{ALL - 4 * 6 * 70} elements"
    ]


@pytest.mark.parametrize(("component", "added"), mpi_components())
def test_no_room_for_fill_values(tmp_path: Path, component: str, added: dict[str, str]) -> None:
    """All ranks hear that the first one could not write them, and none waits."""
    ran, outcomes = applied(tmp_path, "full", **added)
    assert "flush -1 -1 -1 -1" in ran.err
    assert "close 0 0 0 0" in ran.err
    assert "could not get their fill value" in ran.err
    assert "failed" in {one["became"] for one in outcomes}


def test_a_selection_of_another_shape(tmp_path: Path) -> None:
    """Where it has written cannot be told: nothing is filled over it, and the close says so."""
    ran, outcomes = applied(tmp_path, "other_extents")
    assert "close -1 -1 -1 -1" in ran.err
    assert "could not get their fill value" in ran.err
    assert "failed" in {one["became"] for one in outcomes}
