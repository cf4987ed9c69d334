# SPDX-License-Identifier: Apache-2.0
"""Commands, profiles and plans mean the same in a scratch folder as in the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from plans import plan, setting

from tailrace.intent import apply as applying
from tailrace.tune import relocation

HOME, RUN, INPUTS = Path("/data/job [1]"), Path("/scratch/run"), Path("/scratch/inputs")


@pytest.mark.parametrize(
    ("word", "there"),
    [
        ("out.h5", "out.h5"),
        ("/data/job [1]/out.h5", "/scratch/run/out.h5"),
        ("/data/job [1]/new/out.h5", "/scratch/run/new/out.h5"),
        ("--file=/data/job [1]/out.h5", "--file=/scratch/run/out.h5"),
        ("/data/job [1]", "/scratch/run"),
        ("/data/job [1]0/out.h5", "/data/job [1]0/out.h5"),
        ("/usr/bin/python", "/usr/bin/python"),
        ("-n", "-n"),
        ("/", "/"),
        ("a=b=c", "a=b=c"),
    ],
)
def test_words_of_a_command(word: str, there: str) -> None:
    assert relocation.words_in([word], HOME, RUN) == [there]


def test_a_folder_that_is_known_by_a_link_too(tmp_path: Path) -> None:
    home, link = tmp_path / "home", tmp_path / "link"
    home.mkdir()
    link.symlink_to(home)
    assert relocation.words_in([f"{link}/out.h5"], home, RUN) == ["/scratch/run/out.h5"]


def test_what_lies_above_is_named_absolutely(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "program").touch()
    words = relocation.words_in(["../program", "in=../program", "../nowhere/x"], home, RUN)
    assert words == [f"{tmp_path}/program", f"in={tmp_path}/program", "../nowhere/x"]


def test_a_profile_comes_home() -> None:
    files = [
        {"path": "/scratch/run/a/out.h5", "names": ["/scratch/run/a/out.h5", "a/out.h5"]},
        {"path": "/scratch/inputs/in.h5"},
        {"path": "/scratch/runner/x.h5"},
    ]
    found = relocation.profile_at_home({"files": files}, [(RUN, HOME), (INPUTS, HOME)])
    assert found["files"] == [
        {"path": f"{HOME}/a/out.h5", "names": [f"{HOME}/a/out.h5", "a/out.h5"]},
        {"path": f"{HOME}/in.h5"},
        {"path": "/scratch/runner/x.h5"},
    ]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"/data/job \[1]/out_*.h5", ["/scratch/run/out_*.h5", "/scratch/inputs/out_*.h5"]),
        (r"/data/job \[*]/a/x.h5", ["/scratch/run/a/x.h5", "/scratch/inputs/a/x.h5"]),
        ("out.h5", ["out.h5"]),
        ("/data/other/out.h5", ["/data/other/out.h5"]),
        ("/data", ["/data"]),
    ],
)
def test_patterns_of_a_plan(pattern: str, expected: list[str]) -> None:
    moved = relocation.plan_in(plan((pattern, "/a", [setting("13", "k")])), HOME, [RUN, INPUTS])
    assert [entry["file"] for entry in moved["entries"]] == expected
    assert all(entry["dataset"] == "/a" for entry in moved["entries"])


def test_a_moved_plan_has_no_hash() -> None:
    assert "hash" not in relocation.plan_in(plan(hash="abc"), HOME, [RUN])


def test_a_literal_place_matches_only_itself() -> None:
    moved = relocation.plan_in(plan((r"/data/job \[1]/x", "", [])), HOME, [Path("/s[2]*")])
    assert moved["entries"][0]["file"] == r"/s\[2]\*/x"


def test_the_largest_plan_that_is_advised_fits_in_all_places() -> None:
    """Of 64 KiB compiled: it has each entry four times then."""
    sets = [setting("13", "chunk_cache_bytes", value=1 << 20)]
    names = (f"/group/data {number:04}" for number in range(1100))
    whole = plan(*((r"/data/job \[1]/x.h5", name, sets) for name in names))
    assert 60_000 < len(applying.compiled(whole, "the plan")) <= 65_536
    places = [Path(f"/scratch/{'of a long name/' * 10}{name}") for name in ("a", "b", "c")]
    moved = relocation.plan_in(whole, HOME, [*places, HOME])
    assert len(moved["entries"]) == 4 * 1100
    assert len(applying.compiled(moved, "the plan")) > 2 * 65_536
