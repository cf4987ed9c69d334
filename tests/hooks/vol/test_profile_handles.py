# SPDX-License-Identifier: Apache-2.0
"""Datasets that come without a name or are opened once more behind the program's back, and places
that a transfer does not tell as most do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from profiled import dataset_of, profiled, script

NAMELESS = """
import h5py, numpy as np
one = np.arange(3.0)
with h5py.File("n.h5", "w") as f:
    for n in range({count}):
        f[f"d{{n}}"] = one
    refs = f.create_dataset("refs", ({count},), dtype=h5py.ref_dtype)
    refs[:] = [f[f"d{{n}}"].ref for n in range({count})]
with h5py.File("n.h5") as f:
    for again in range(3):
        for ref in f["refs"][:]:
            f[ref][()]
"""


@pytest.mark.timeout(100)
def test_datasets_without_a_name(tmp_path: Path) -> None:
    """For the name of each the library would go through all links of the file."""
    _, profile = profiled(tmp_path, *script(tmp_path, NAMELESS.format(count=6000)))
    for number in (0, 5999):
        found = dataset_of(profile, "n.h5", f"/d{number}")
        assert (found["creates"], found["writes"]["calls"]) == (1, 1)
    assert sum(of["reads"]["calls"] for of in profile["files"][0]["datasets"]) >= 18000
    text = (tmp_path / "profile.json").read_text()
    assert text.count("\n") == 1, "nobody looks at so many"
    assert len(text) < 6000 * 600, "each says only in what it is unlike another one"


OF_ANOTHER = """
import h5py
with h5py.File("n.h5", "r+") as f:
    f.move("d1999", "moved")
    refs = f["refs"][:]
    for n in range(0, 6000, 10):
        f[refs[n]][()]
    f.move("d11", "elsewhere")
    for n in (11, 1999):
        f[refs[n]][()]
"""


@pytest.mark.timeout(100)
def test_references_into_a_file_of_another_program(tmp_path: Path) -> None:
    """No name is known: the links are looked through once, not for each of them."""
    made = [*script(tmp_path, NAMELESS.format(count=6000).replace("range(3)", "range(0)"))]
    subprocess.run(made, cwd=tmp_path, check=True)
    _, profile = profiled(tmp_path, *script(tmp_path, OF_ANOTHER))
    assert profile["origin"].get("dropped", {}) == {}
    names = {of["path"] for of in profile["files"][0]["datasets"] if of.get("reads")}
    wanted = {f"/d{n}" for n in range(0, 6000, 10)} | {"/refs", "/elsewhere", "/moved"}
    assert names == wanted


def test_opened_by_a_reference(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, NAMELESS.format(count=5)))
    for number in range(5):
        found = dataset_of(profile, "n.h5", f"/d{number}")
        assert (found["creates"], found["reads"]["calls"]) == (1, 3)
        assert found["reads"]["bytes"] == 72


REFRESHED = """
import os, subprocess, sys
import h5py, numpy as np
WRITER = '''
import h5py, sys
n = int(sys.argv[1])
with h5py.File("r.h5", "a", libver="latest") as f:
    f.swmr_mode = True
    f["d"].resize((4 + n,))
    f["d"][3 + n] = 3 + n
'''
with h5py.File("r.h5", "w", libver="latest") as f:
    f.create_dataset("d", maxshape=(None,), chunks=(4,), data=np.arange(4, dtype="i4"))
ours = ("HDF5_", "TAILRACE_", "LD_PRELOAD")
rest = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
rest["HDF5_USE_FILE_LOCKING"] = "FALSE"
with h5py.File("r.h5", "r", libver="latest", swmr=True) as f:
    seen = f["d"]
    for n in range(1, 4):
        subprocess.run([sys.executable, "-c", WRITER, str(n)], env=rest, check=True)
        seen.refresh()
        assert seen.shape == (4 + n,) and seen[-1] == 3 + n, seen[:]
"""


def test_after_a_refresh(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, REFRESHED))
    found = dataset_of(profile, "r.h5", "/d")
    assert (found["reads"]["calls"], found["reads"]["bytes"]) == (3, 12)
    assert found["dims"] == [7]


POINTS = """
import h5py, numpy as np
rng = np.random.default_rng(1)
with h5py.File("p.h5", "w") as f:
    d = f.create_dataset("d", (100, 100), dtype="f8", data=np.zeros((100, 100)))
    same = f.create_dataset("same", (10,), dtype="f8", data=np.zeros(10))
    for n in range(10):
        mask = rng.random((100, 100)) < 0.1
        mask[0, 0] = mask[99, 99] = True
        d[mask]
        same[:]
"""


def test_other_points_in_the_same_box_are_no_repetition(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, POINTS))
    order = dataset_of(profile, "p.h5", "/d")["reads"]["order"]
    assert (order["repeated"], order["random"]) == (0, 9)
    assert dataset_of(profile, "p.h5", "/same")["reads"]["order"]["repeated"] == 9


OTHER_EXTENT = """
import h5py, numpy as np
with h5py.File("e.h5", "w") as f:
    for name, shape in (("line", (10,)), ("plane", (10, 2))):
        d = f.create_dataset(name, shape, maxshape=(None, *shape[1:]), chunks=shape, dtype="i4")
        space = d.id.get_space()
        d.resize((20, *shape[1:]))
        d.id.write(h5py.h5s.create_simple(shape), space, np.ones(shape, "i4"))
        assert d[:].sum() == np.prod(shape), d[:]
"""


def test_all_of_a_space_with_another_extent(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, OTHER_EXTENT))
    line = dataset_of(profile, "e.h5", "/line")["writes"]
    assert line["coverage"]["full"] is False
    assert line["coverage"]["boxes"] == [{"start": [0], "count": [10]}]
    assert (line["elements"], line["whole"]) == (10, 0)
    plane = dataset_of(profile, "e.h5", "/plane")["writes"]
    assert plane["elements"] == 20
    assert plane["coverage"].get("full") is not True


IN_LIST = """
import ctypes, h5py, numpy as np
lines = [line for line in open("/proc/self/maps") if "/libhdf5" in line]
path = next(line.split()[-1] for line in lines if "_hl" not in line)
hdf5 = ctypes.CDLL(path)
many = ctypes.c_ulonglong * 1
with h5py.File("l.h5", "w") as f:
    d = f.create_dataset("d", (20,), dtype="i4")
    d[:] = 0
    plist = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    hdf5.H5Pset_dataset_io_hyperslab_selection.argtypes = [
        ctypes.c_int64, ctypes.c_uint, ctypes.c_int, many, many, many, many]
    assert hdf5.H5Pset_dataset_io_hyperslab_selection(
        plist.id, 1, 0, many(5), many(1), many(1), many(10)) >= 0
    memory = h5py.h5s.create_simple((10,))
    data = np.arange(10, dtype="i4")
    hdf5.H5Dwrite.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    of = d.id.get_type()
    assert hdf5.H5Dwrite(d.id.id, of.id, memory.id, 2, plist.id, data.ctypes.data) >= 0
    assert list(d[5:15]) == list(range(10))
"""


def test_a_selection_in_the_transfer_list(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, IN_LIST))
    writes = dataset_of(profile, "l.h5", "/d")["writes"]
    assert (writes["calls"], writes["elements"], writes["bytes"]) == (2, 30, 120)
    assert writes["whole"] == 1
