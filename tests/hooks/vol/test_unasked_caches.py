# SPDX-License-Identifier: Apache-2.0
"""Chunk caches that netCDF-C and PyTables ask for by themselves are no choice of the program: a
plan changes them, and never to less."""

from __future__ import annotations

from pathlib import Path

import netCDF4
from plans import Json, applied, entry, setting, write_plan
from test_apply import ASK, told

# With the numbers of netCDF-C for the file and its datasets, and one of the program's own.
UNASKED = """
a = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
a.set_cache(0, 1000, 64 << 20, 0.75)
f = h5py.File(h5py.h5f.create(b"out.h5", h5py.h5f.ACC_TRUNC, fapl=a))
c = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
c.set_chunk((10, 10))
def made(name, *cache, of=h5py.h5t.NATIVE_FLOAT):
    dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
    dapl.set_chunk_cache(*cache)
    space = h5py.h5s.create_simple((100, 100))
    return h5py.Dataset(h5py.h5d.create(f.id, name, of, space, c, dapl=dapl))
more, less = made(b"more", 1000, 64 << 20, 0.75), made(b"less", 1000, 64 << 20, 0.75)
chosen = made(b"chosen", 1000, 65 << 20, 0.75)
ten = made(b"ten", 4133, 4000, 0.75)
text = made(b"text", 4133, 8000, 0.75, of=h5py.h5t.py_create(h5py.string_dtype(), logical=True))
whole = f.create_dataset("whole", (100, 100), chunks=(10, 10))  # with the cache of the file
tell(more=of_dataset(more), less=of_dataset(less), chosen=of_dataset(chosen),
     ten=of_dataset(ten), text=of_dataset(text), whole=of_dataset(whole))
"""


def became(told: Json) -> dict[str, str]:
    """What became of the settings of each dataset."""
    return {
        f"{Path(one['file']).name}:{one['dataset']}": one["became"]
        for one in told["outcomes"] if one.get("dataset") and "rule" in one
    }  # fmt: skip


def caches(tmp_path: Path, of_all: int) -> Path:
    plan = [entry("out.h5", setting("13", "chunk_cache_bytes", 100 << 20), dataset=f"/{name}")
            for name in ("more", "chosen", "ten", "text")]  # fmt: skip
    return write_plan(
        tmp_path, *plan, entry("out.h5", setting("13", "chunk_cache_bytes", of_all),
                               setting("13", "chunk_cache_slots", 4001), dataset="/less"),
        entry("out.h5", setting("13", "chunk_cache_bytes", of_all), dataset="/whole"),
    )  # fmt: skip


def test_they_are_changed_and_never_to_less(tmp_path: Path) -> None:
    ran, _ = applied(tmp_path, caches(tmp_path, 8 << 20), ASK + UNASKED)
    ran.expect(0)
    found = told(tmp_path)
    assert found["more"]["cache"] == [1000, 100 << 20, 0.75]
    assert found["ten"]["cache"] == [4133, 100 << 20, 0.75]
    assert found["text"]["cache"] == [4133, 100 << 20, 0.75]
    assert found["less"]["cache"] == [4001, 64 << 20, 0.75]
    assert found["whole"]["cache"][1] == 64 << 20
    assert found["chosen"]["cache"] == [1000, 65 << 20, 0.75]
    assert became(ran.json) == {
        "out.h5:/more": "applied", "out.h5:/ten": "applied", "out.h5:/text": "applied",
        "out.h5:/less": "applied", "out.h5:/whole": "applied", "out.h5:/chosen": "kept",
    }  # fmt: skip


def test_what_is_in_force_is_what_is_told(tmp_path: Path) -> None:
    """The file's list has a cache that nobody chose, or that of the dataset has."""
    ran, _ = applied(tmp_path, caches(tmp_path, 8 << 20), ASK + UNASKED)
    ran.expect(0)
    values = {
        one["dataset"]: (one["value"], one.get("reason", "")) for one in ran.json["outcomes"]
        if one.get("setting") == "chunk_cache_bytes" and one["became"] == "applied"
    }  # fmt: skip
    raised = (str(64 << 20), "raised: no less than without the plan")
    assert values == {
        "/more": (str(100 << 20), ""), "/ten": (str(100 << 20), ""),
        "/text": (str(100 << 20), ""), "/less": raised, "/whole": raised,
    }  # fmt: skip


def test_a_variable_that_netcdf_opens_is_found(tmp_path: Path) -> None:
    """It opens what is in a file within an iteration over its links."""
    with netCDF4.Dataset(tmp_path / "in.nc", "w") as file:
        group = file.createGroup("g")
        for of in (file, group):
            for name in ("x", "y"):
                of.createDimension(name, 100)
            of.createVariable("v", "f4", ("x", "y"), chunksizes=(10, 10))[...] = 1
    bytes_ = setting("13", "chunk_cache_bytes", 100 << 20)
    plan = write_plan(tmp_path, *(entry("in.nc", bytes_, dataset=one) for one in ("/v", "/g/v")))
    read = 'import netCDF4\nwith netCDF4.Dataset("in.nc") as f: f["v"][0], f["g"]["v"][0]'
    ran, _ = applied(tmp_path, plan, read)
    ran.expect(0)
    assert became(ran.json) == {"in.nc:/v": "applied", "in.nc:/g/v": "applied"}


LIBRARIES = """
import netCDF4, tables
import numpy as np
with netCDF4.Dataset("out.nc", "w") as f:
    for name in ("x", "y"): f.createDimension(name, 100)
    f.createVariable("v", "f4", ("x", "y"), chunksizes=(10, 10))[...] = np.ones((100, 100))
    w = f.createVariable("w", "f4", ("x", "y"), chunksizes=(10, 10), chunk_cache=3 << 20)
    w[...] = np.ones((100, 100))
with tables.open_file("out.h5", "w") as f:
    f.create_carray("/", "v", tables.Float32Atom(), (100, 100), chunkshape=(10, 10))[...] = 1
with tables.open_file("own.h5", "w", CHUNK_CACHE_SIZE=3 << 20) as f:
    f.create_carray("/", "v", tables.Float32Atom(), (100, 100), chunkshape=(10, 10))[...] = 1
"""


def test_the_wheels_ask_for_the_caches_that_we_know(tmp_path: Path) -> None:
    """It fails where a new netCDF-C or PyTables asks for others."""
    bytes_ = setting("13", "chunk_cache_bytes", 100 << 20)
    plan = write_plan(
        tmp_path,
        *(entry(name, bytes_, dataset="/v") for name in ("out.nc", "out.h5", "own.h5")),
        entry("out.nc", bytes_, dataset="/w"),
    )
    ran, _ = applied(tmp_path, plan, LIBRARIES)
    ran.expect(0)
    assert became(ran.json) == {
        "out.nc:/v": "applied", "out.nc:/w": "kept", "out.h5:/v": "applied", "own.h5:/v": "kept",
    }  # fmt: skip
