# SPDX-License-Identifier: Apache-2.0
"""Programs that leave files and datasets open when they end: HDF5 closes them itself then, and what
the connector kept open below has to be closed before."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from plans import applied, entry, setting, write_plan
from test_apply import ASK, told

# Ids that h5py does not know of, and so does not close; HDF5 says what is wrong, as in C.
OPEN = """
H = library()
H.H5Fopen.restype = H.H5Dopen2.restype = ctypes.c_int64
H.H5Fopen.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int64]
H.H5Dopen2.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]
H.H5Dclose.argtypes = [ctypes.c_int64]
H.H5Eset_auto2.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
assert H.H5Eset_auto2(0, ctypes.cast(H.H5Eprint2, ctypes.c_void_p), None) >= 0
H.H5Dread.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
def first(file, name=b"d"):
    data, into = H.H5Dopen2(file, name, 0), (ctypes.c_double * 1000)()
    assert H.H5Dread(data, h5py.h5t.NATIVE_DOUBLE.id, 0, 0, 0, into) >= 0
    assert into[999] == 999
    return data
file = H.H5Fopen(b"in.h5", 0, 0)
import atexit; atexit.register(H.H5close)  # as in C: h5py has it left out
"""
KEPT = "assert H.H5Dclose(first(file)) >= 0\n" * 3


@pytest.mark.parametrize(
    ("left", "kept"),
    [
        ("first(file)", 0),
        (KEPT, 2),
        (KEPT + "first(file); first(file, b'e')", 3),
        (KEPT + "assert H.H5close() >= 0\nfile = H.H5Fopen(b'in.h5', 0, 0)\n" + KEPT, 4),
    ],
    ids=["open", "kept", "both", "twice"],
)
def test_a_library_that_ends_closes_what_was_kept(tmp_path: Path, left: str, kept: int) -> None:
    with h5py.File(tmp_path / "in.h5", "w") as file:
        for name in ("d", "e"):
            file.create_dataset(name, data=np.arange(1000.0), chunks=(100,))
    plan = write_plan(
        tmp_path, entry("*.h5", setting("13", "chunk_cache_bytes", 4 << 20), dataset="/*")
    )
    ran, lines = applied(tmp_path, plan, ASK + OPEN + left + "\ntell(done=True)\n")
    ran.expect(0)
    assert told(tmp_path) == {"done": True}
    assert "infinite loop" not in ran.err and "HDF5" not in ran.err, ran.err
    assert lines["13", "chunk_cache_bytes"]["became"] == "applied"
    assert kept == sum(one["count"] for one in ran.json["outcomes"]
                       if one.get("reason") == "kept from one open to the next")  # fmt: skip
