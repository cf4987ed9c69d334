# SPDX-License-Identifier: Apache-2.0
"""Entries of a plan that nothing was met for: what there was instead is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from plans import applied, entry, setting, write_plan
from profiled import script
from tailrace_cli import tailrace

MANY = """
import h5py
with h5py.File("out.h5", "w") as f:
    for name in ("rows", "columns", *(f"other{number}" for number in range(200))):
        f.create_dataset(name, (100, 100), "f8", chunks=(10, 100))
"""


def test_the_nearest_dataset_is_named(tmp_path: Path) -> None:
    cache = setting("13", "chunk_cache_bytes", 1 << 22)
    plan = write_plan(
        tmp_path,
        entry("out.h5", cache, dataset="/row"),
        entry("out.h5", setting("13", "chunk_cache_slots", 521), dataset="/columns", when="open"),
        entry("out.h5", setting("14", "chunk_cache_preemption", 0.5), dataset="/rows"),
    )
    ran, lines = applied(tmp_path, plan, MANY)
    ran.expect(0)
    said = "no such dataset was created or opened in the way that the entry is for"
    assert lines["13", "chunk_cache_bytes"]["reason"].startswith(f"{said}; the nearest was /")
    assert lines["13", "chunk_cache_slots"]["reason"].startswith(said)
    assert "/columns" not in lines["13", "chunk_cache_slots"]["reason"]
    assert lines["14", "chunk_cache_preemption"]["became"] == "applied"
    assert ran.json["lines"][0]["places"] == [f"{tmp_path}/out.h5:/rows"]


def test_a_dataset_that_another_entry_is_for_is_no_neighbour(tmp_path: Path) -> None:
    plan = write_plan(
        tmp_path, entry("out.h5", setting("13", "chunk_cache_bytes", 1 << 22), dataset="/row")
    )
    ran, lines = applied(tmp_path, plan, MANY)
    assert lines["13", "chunk_cache_bytes"]["reason"].endswith("; the nearest was /rows")
    assert "the nearest was /rows" in " ".join((ran.out + ran.err).split())


def test_a_program_that_crashes_before_it_is_seen(tmp_path: Path) -> None:
    """Nothing is said of the HDF5 that it has: nobody has seen it."""
    plan = write_plan(tmp_path, entry("out.h5", setting("3", "meta_block_bytes", 65536)))
    text = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"
    ran, lines = applied(tmp_path, plan, text)
    assert ran.code == 139
    reason = lines["3", "meta_block_bytes"]["reason"]
    assert reason.startswith("nothing was recorded before the program ended with signal 11")
    ran = tailrace("profile", "--", *script(tmp_path, text), cwd=tmp_path)
    assert "nothing was recorded before the program ended with signal 11" in ran.err


@pytest.mark.parametrize("variable", [{"TAILRACE_MODE": "off"}, {"HDF5_PLUGIN_PRELOAD": "::"}])
def test_a_refusal_leaves_nothing_behind(tmp_path: Path, variable: dict[str, str]) -> None:
    plan = write_plan(tmp_path, entry("out.h5", setting("3", "meta_block_bytes", 65536)))
    ran = tailrace("apply", plan, "--", "true", cwd=tmp_path, **variable).expect(125)
    assert "is kept" not in ran.err
    assert list(tmp_path.iterdir()) == [plan]


def test_where_no_folder_can_be_made(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, entry("out.h5", setting("3", "meta_block_bytes", 65536)))
    ran = tailrace("apply", plan, "--", "true", cwd=Path("/proc")).expect(125)
    assert "no folder can be made for the records of the processes" in ran.err
    assert "work in a folder in which you may write" in ran.err
