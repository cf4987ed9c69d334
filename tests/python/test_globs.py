# SPDX-License-Identifier: Apache-2.0
"""Patterns of plans: those of the C library, in which a backslash takes a character literally."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest

from tailrace import globs
from tailrace.intent.apply import lines_of
from tailrace.intent.snippets import snippet

NAMES = ["a[1].h5", "b*c.h5", "q?.h5", "back\\slash.h5", "{step}.h5", "it's.h5", "x]"]


def escaped(name: str) -> str:
    """As the plans of `tailrace advise` have it."""
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in name)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_with_characters_of_patterns_is_itself(name: str) -> None:
    pattern = escaped(name)
    assert [one for one in NAMES if globs.matches(one, pattern)] == [name]
    assert globs.name_or_pattern(pattern) == name
    assert globs.fits(f"/data/{name}", f"/data/{pattern}")
    assert globs.fits(f"/data/{name}", pattern)
    opened = globs.name_or_pattern(f"{pattern}-[0-9]*")
    assert fnmatchcase(f"{name}-17", opened)
    assert not fnmatchcase(f"{name}-x", opened)


def test_a_star_stays_in_its_folder() -> None:
    assert globs.fits("/h/a.h5", "/h/*.h5")
    assert globs.fits("/h/[1].h5", "/h/\\[1].h5")
    assert globs.fits("/h/deep/a.h5", "a.h5")
    assert not globs.fits("/h/deep/a.h5", "/h/*")
    assert not globs.fits("/h/a", "/h/*/b.h5")


def plan(file: str, dataset: str) -> dict[str, Any]:
    because = {"rule": "18", "text": "", "evidence": [], "effect": "", "source": ""}
    one = {"key": "chunk", "value": [4], "class": "layout", "because": because}
    return {"entries": [{"file": file, "dataset": dataset, "when": "create", "settings": [one]}]}


def test_what_was_applied_is_not_called_not_met() -> None:
    outcome = {
        "file": "/d/a[1].h5", "dataset": "/v[0]", "rule": "18", "setting": "chunk", "value": "4",
        "became": "applied", "reason": "", "count": 1, "processes": "0",
    }  # fmt: skip
    found = {"outcomes": [outcome], "processes": [], "dropped": 0}
    lines = lines_of(plan("/d/a\\[1\\].h5", "/v\\[0\\]"), found)
    assert [line.became for line in lines] == ["applied"]


def test_lines_for_a_program_name_its_datasets() -> None:
    made: dict[str, Any] = {}
    exec(snippet("h5py", plan("/d/a\\[1\\].h5", "/v\\[0\\]")), made)
    assert made["dataset_arguments"] == {("/d/a[1].h5", "/v[0]"): {"chunks": (4,)}}
