# SPDX-License-Identifier: Apache-2.0
"""Datasets that are allocated when they are created, and what shows where nobody writes."""

from __future__ import annotations

from pathlib import Path

from plans import applied, entry, setting, write_plan
from test_apply import ASK, told

EARLY = """
import numpy as np
def undefine(creation):
    H = library()
    H.H5Pset_fill_value.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    assert H.H5Pset_fill_value(creation.id, h5py.h5t.NATIVE_UINT8.id, None) >= 0
def span(d):
    try: return [int(d[:].min()), int(d[:].max())]
    except OSError: return []
with h5py.File("out.h5", "w") as f:
    f["old"] = np.full(400000, 255, "u1")
    f.flush()
    del f["old"]
    for name, more in (("bare", {}), ("chosen", {"fillvalue": 7}), ("chunks", {"chunks": (1000,)})):
        f.create_dataset(name, (50000,), "u1", **more)
    for name, chunk in (("undefined", None), ("undefined_chunks", (1000,))):
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        if chunk: made.set_chunk(chunk)
        undefine(made)
        h5py.h5d.create(f.id, name.encode(), h5py.h5t.NATIVE_UINT8,
                        h5py.h5s.create_simple((50000,)), made)
with h5py.File("out.h5") as f:
    tell(**{name: span(f[name]) for name in f})
"""


def test_what_nobody_writes_is_not_what_lay_there_before(tmp_path: Path) -> None:
    """Allocated at once, HDF5 fills a contiguous dataset only with a value that was chosen."""
    early = setting("site", "allocation_time", "early", "layout")
    plan = write_plan(tmp_path, entry("out.h5", early, dataset="*", when="create"))
    ran, _ = applied(tmp_path, plan, ASK + EARLY)
    ran.expect(0)
    assert told(tmp_path) == {
        "bare": [0, 0], "chosen": [7, 7], "chunks": [0, 0], "undefined": [], "undefined_chunks": [],
    }  # fmt: skip
    lines = {line["became"]: line for line in ran.json["lines"]}
    at = f"{tmp_path}/out.h5:/"
    assert lines["held"]["places"] == [f"{at}{one}" for one in
                                       ("bare", "undefined", "undefined_chunks")]  # fmt: skip
    assert "would not be filled" in lines["held"]["reason"]
    assert lines["applied"]["count"] == 2
