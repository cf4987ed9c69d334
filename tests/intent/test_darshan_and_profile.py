# SPDX-License-Identifier: Apache-2.0
"""Advice from a profile and from the Darshan log of the same run: what the one proposes the other
proposes, or it says what it cannot know (docs/reference/darshan.md)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from darshan_of_profile import log_of_file
from mpi_programs import MPIEXEC
from tailrace_cli import SOURCE, called, tailrace

Json = dict[str, Any]
# What no log can tell: that all ranks call alike, and extents where there are several.
UNKNOWABLE = {"proof", "extents"}


def not_seen() -> set[str]:
    """Rules whose evidence no log holds, as the page lists them."""
    page = (SOURCE / "docs" / "reference" / "darshan.md").read_text()
    return set(re.findall(r"^\| (\d+) \| not seen \|", page, re.M))


def plan_of(source: Path) -> Json:
    found = called("advise", "--json", "--allow", "collective,opt-in", source).expect(0)
    plan: Json = found.json["plan"]
    return plan


def settings(plan: Json) -> dict[tuple[str, str, str], tuple[str, Json]]:
    """By file, dataset and key: the rule, and what is set."""
    return {
        (entry["file"], entry["dataset"], one["key"]):
            (one["because"]["rule"], {key: one.get(key) for key in ("value", "function", "ranks")})
        for entry in plan.get("entries", [])
        for one in entry["settings"]
    }  # fmt: skip


def held_back(plan: Json) -> dict[str, set[str]]:
    """The guards by rule."""
    found: dict[str, set[str]] = {}
    for one in plan.get("held_back", []):
        found.setdefault(one["because"]["rule"], set()).add(one["guard"])
    return found


def both(folder: Path, ranks: int, *program: str) -> tuple[Json, Json]:
    """The plan from our own profile of a run, and the one from its log."""
    profile = folder / "profile.json"
    words = [*MPIEXEC, "-n", str(ranks), *program]
    tailrace("profile", "--layers", "hdf5,mpiio,posix", "-o", profile, "--", *words,
             cwd=folder).expect(0)  # fmt: skip
    return plan_of(profile), plan_of(log_of_file(profile, folder / "run.darshan"))


CASES = {
    # many objects: blocks of metadata
    "many": ("tailrace-particle", "dim_1=8192", "timesteps=20"),
    "many_files": ("tailrace-particle", "dim_1=8192", "timesteps=20", "file_per_proc=yes"),
    # calls that do not keep to the blocks of the file system: alignment
    "across": ("tailrace-seism", "processor=1x1x{ranks}", "domain=32x64x64", "time=4"),
    # what needs a proof, or extents
    "small_chunks": ("tailrace-seism", "processor={ranks}x1x1", "domain=32x64x64",
                     "chunk=16x16x16", "collective_write=yes", "time=4"),
    "reads": ("tailrace-particle", "dim_1=65536", "timesteps=2", "read_option=full"),
}  # fmt: skip
PROPOSED = {
    "many": {"meta_block_bytes"},
    "many_files": {"meta_block_bytes", "layout"},
    "across": {"alignment_bytes", "alignment_threshold_bytes"},
    "small_chunks": set(),
    "reads": set(),
}


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("case", sorted(CASES))
def test_the_same_is_proposed(tmp_path: Path, case: str, ranks: int) -> None:
    words = [word.format(ranks=ranks) for word in CASES[case]]
    own, log = both(tmp_path, ranks, *words)
    wanted, found = settings(own), settings(log)
    held = held_back(log)
    assert found.items() <= wanted.items()
    assert {key for _, _, key in found} == PROPOSED[case]
    for place, (rule, what) in wanted.items():
        if place not in found:
            assert rule in not_seen() or held[rule] & UNKNOWABLE, (place, what)
    # Nothing that holds a rule back is about the create: the log has it.
    assert not any("existing" in guards for guards in held.values())


def test_the_reason_says_that_the_create_follows_from_the_mode(tmp_path: Path) -> None:
    _, log = both(tmp_path, 2, *CASES["many"])
    (entry,) = log["entries"]
    (one,) = entry["settings"]
    evidence = {fact["name"]: fact["value"] for fact in one["because"]["evidence"]}
    assert evidence["created"] == "high"
    assert evidence["mpiio.create_mode"] == "yes"
    assert json.dumps(entry["when"]) == '"create"'
