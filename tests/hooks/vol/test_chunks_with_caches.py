# SPDX-License-Identifier: Apache-2.0
"""Chunks of a plan that its cache goes with: without the one there are not the others."""

from __future__ import annotations

import json
from pathlib import Path

from plans import Json, applied, entry, setting, write_plan

LIMIT = 3 << 30
SCRIPT = f"""
import h5py, json, resource
resource.setrlimit(resource.RLIMIT_AS, ({LIMIT}, resource.getrlimit(resource.RLIMIT_AS)[1]))
chunks = {{}}
with h5py.File("a.h5", "w") as f:
    for name in ("large", "small", "alone"):
        chunks[name] = f.create_dataset(name, (64, 64)).chunks
with h5py.File("own.h5", "w", rdcc_nbytes=0) as f:
    chunks["own"] = f.create_dataset("small", (64, 64)).chunks
with open("told.json", "w") as file:
    json.dump(chunks, file)
"""


def planned(name: str, cache_bytes: int | None) -> Json:
    chunk = setting("17", "chunk", [16, 16], "layout")
    if cache_bytes is None:
        return entry("*.h5", chunk, dataset=name)
    return entry("*.h5", chunk, setting("13", "chunk_cache_bytes", cache_bytes), dataset=name)


def test_chunks_go_with_their_cache(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, planned("/large", LIMIT // 4 + 1), planned("/small", 1 << 20),
                      planned("/alone", None))  # fmt: skip
    ran, _ = applied(tmp_path, plan, SCRIPT)
    ran.expect(0)
    told = json.loads((tmp_path / "told.json").read_text())
    assert told == {"large": None, "small": [16, 16], "alone": [16, 16], "own": None}
    why = {
        (Path(one["file"]).name, one["dataset"]): one["reason"]
        for one in ran.json["outcomes"]
        if one.get("setting") == "chunk" and one["became"] == "misfit"
    }
    assert why == {
        ("a.h5", "/large"): "there is no memory for the cache that goes with these chunks",
        ("own.h5", "/small"): "the program's own cache is too small for these chunks",
    }
