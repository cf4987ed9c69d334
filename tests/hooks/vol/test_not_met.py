# SPDX-License-Identifier: Apache-2.0
"""Entries of a plan that nothing was met for: what there was instead is named."""

from __future__ import annotations

from pathlib import Path

from plans import applied, entry, setting, write_plan

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
    said = "no such dataset was created or opened as the entry wants it"
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
