# SPDX-License-Identifier: Apache-2.0
"""Which elements were touched, where it is not plain to see: moved selections, datasets that are
made anew, files that others change."""

from __future__ import annotations

from pathlib import Path

from profiled import dataset_of, profiled, script

MOVED = """
import h5py, numpy as np
with h5py.File("m.h5", "w") as f:
    d = f.create_dataset("d", (60,), dtype="i4")
    one = f.create_dataset("one", (60,), dtype="i4")
    s, row = h5py.h5s.create_simple((60,)), h5py.h5s.create_simple((10,))
    s.select_hyperslab((0,), (10,))
    for n in range(6):
        s.offset_simple((10 * n,))
        d.id.write(row, s, np.arange(10, dtype="i4"))
    s.offset_simple((20,))
    one.id.write(row, s, np.arange(10, dtype="i4"))
    s.offset_simple((0,))
    one.id.read(row, s, np.empty(10, dtype="i4"))
"""


def test_a_selection_that_is_moved(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, MOVED))
    writes = dataset_of(profile, "m.h5", "/d")["writes"]
    assert writes["coverage"]["full"] is True
    assert (writes["order"]["sequential"], writes["order"]["repeated"]) == (5, 0)
    one = dataset_of(profile, "m.h5", "/one")
    assert one["writes"]["coverage"]["boxes"] == [{"start": [20], "count": [10]}]
    assert one["read_after_write"]["any"] is False


CHUNKS = """
import h5py, numpy as np
with h5py.File("c.h5", "w") as f:
    d = f.create_dataset("d", (10, 10), dtype="i4", chunks=(4, 10))
    d[:8] = 1
    d.id.write_direct_chunk((8, 0), np.ones((4, 10), "i4").tobytes())
    e = f.create_dataset("e", (8,), dtype="i4", chunks=(4,))
    e.id.write_direct_chunk((4,), np.ones(4, "i4").tobytes())
    e[5:6]
"""


def test_chunks_that_are_written_as_they_lie(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, CHUNKS))
    assert dataset_of(profile, "c.h5", "/d")["writes"]["coverage"]["full"] is True
    assert dataset_of(profile, "c.h5", "/e")["read_after_write"]["any"] is True


LIVES = """
import h5py, numpy as np
for half in (slice(0, 5), slice(5, 10)):
    with h5py.File("l.h5", "w") as f:
        f.create_dataset("truncated", (10,), dtype="i4")[half] = 1
        f.create_dataset("whole", (10,), dtype="i4")[:] = 1
        d = f.create_dataset("deleted", (10,), dtype="i4")
        d[:] = 1
        del f["deleted"], d
        f.create_dataset("deleted", (10,), dtype="i4")[5:]
        g = f.create_dataset("shrunk", (10,), maxshape=(None,), dtype="i4")
        g[:] = 1
        g.resize((5,))
        g.resize((10,))
"""


def test_datasets_that_are_made_anew(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, LIVES))
    covered = {}
    for name in ("truncated", "whole", "deleted", "shrunk"):
        writes = dataset_of(profile, "l.h5", f"/{name}")["writes"]
        covered[name] = writes["coverage"].get("full")
    assert covered["truncated"] is False
    assert covered["whole"] is True
    assert covered["deleted"] is not True
    assert covered["shrunk"] is False
    deleted = dataset_of(profile, "l.h5", "/deleted")
    assert deleted["read_after_write"]["any"] is False
