# SPDX-License-Identifier: Apache-2.0
"""Datasets that are allocated when they are created, and what shows where nobody writes."""

from __future__ import annotations

from pathlib import Path

from plans import applied, entry, setting, write_plan
from test_apply import ASK, told

EARLY = """
import numpy as np
with h5py.File("out.h5", "w") as f:
    f["old"] = np.full(400000, 255, "u1")
    f.flush()
    del f["old"]
    for name, more in (("bare", {}), ("chosen", {"fillvalue": 7}), ("chunks", {"chunks": (1000,)})):
        f.create_dataset(name, (50000,), "u1", **more)
with h5py.File("out.h5") as f:
    tell(**{name: [int(f[name][:].min()), int(f[name][:].max())] for name in f})
"""


def test_what_nobody_writes_is_not_what_lay_there_before(tmp_path: Path) -> None:
    """Allocated at once, HDF5 fills a contiguous dataset only with a value that was chosen."""
    early = setting("site", "allocation_time", "early", "layout")
    plan = write_plan(tmp_path, entry("out.h5", early, dataset="*", when="create"))
    ran, _ = applied(tmp_path, plan, ASK + EARLY)
    ran.expect(0)
    assert told(tmp_path) == {"bare": [0, 0], "chosen": [7, 7], "chunks": [0, 0]}
    lines = {line["became"]: line for line in ran.json["lines"]}
    assert lines["held"]["places"] == [f"{tmp_path}/out.h5:/bare"]
    assert "would not be filled" in lines["held"]["reason"]
    assert lines["applied"]["count"] == 2
