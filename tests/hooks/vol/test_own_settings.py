# SPDX-License-Identifier: Apache-2.0
"""What a program sets on its property lists is in its profile, and holds back the rules that would
set the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from profiled import dataset_of, file_of, profiled, script
from tailrace_cli import tailrace

OPEN = """
import ctypes, re, sys
import h5py, numpy as np

def library():
    with open("/proc/self/maps") as maps:
        names = re.findall(r"\\S+/libhdf5[-.][^/\\s]*", maps.read())
    return ctypes.CDLL(names[0])

a = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
"""

SET = """
H = library()
H.H5Pset_evict_on_close.argtypes = [ctypes.c_int64, ctypes.c_bool]
H.H5Pset_buffer.argtypes = [ctypes.c_int64, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
cache = a.get_mdc_config()
cache.set_initial_size, cache.initial_size, cache.max_size = True, 1 << 20, 4 << 20
a.set_mdc_config(cache)
a.set_file_locking(False, True)
assert H.H5Pset_evict_on_close(a.id, True) >= 0
"""

WRITE = """
f = h5py.File(h5py.h5f.create(b"out.h5", h5py.h5f.ACC_TRUNC, fapl=a))
d = f.create_dataset("d", (100,), ">i4")
own = h5py.h5p.create(h5py.h5p.DATASET_XFER)
d.id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(100, "i4"))
"""

WRITE_OWN = """
assert H.H5Pset_buffer(own.id, 262144, None, None) >= 0
d.id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ones(100, "i4"), dxpl=own)
"""


def test_settings_of_files_and_transfers(tmp_path: Path) -> None:
    ran, profile = profiled(
        tmp_path, *script(tmp_path, OPEN + SET + WRITE + WRITE_OWN), HDF5_USE_FILE_LOCKING=None
    )
    ran.expect(0)
    assert file_of(profile, "out.h5")["hdf5"]["settings_of_program"] == {
        "metadata_cache_initial_bytes": 1 << 20, "metadata_cache_max_bytes": 4 << 20,
        "metadata_cache_evictions": True, "file_locking": False, "evict_on_close": True,
    }  # fmt: skip
    # The first write has the library's list, the second the program's own.
    own = dataset_of(profile, "out.h5", "/d")["settings_of_program"]
    assert own == {
        "memory_type_differs": True, "memory_type_differs_writing": True,
        "conversion_buffer_bytes": 262144,
    }  # fmt: skip


def test_defaults_are_no_choice(tmp_path: Path) -> None:
    """A list that the program has made and left as it is."""
    text = OPEN + WRITE + 'd.id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ones(100, ">i4"), dxpl=own)\n'
    ran, profile = profiled(tmp_path, *script(tmp_path, text))
    ran.expect(0)
    assert not file_of(profile, "out.h5")["hdf5"].get("settings_of_program")
    own = dataset_of(profile, "out.h5", "/d")["settings_of_program"]
    assert own == {"memory_type_differs": True, "memory_type_differs_writing": True}


def test_a_later_open_with_settings_counts(tmp_path: Path) -> None:
    text = OPEN + WRITE + "f.close()\n" + """
a.set_file_locking(False, True)
f = h5py.File(h5py.h5f.open(b"out.h5", h5py.h5f.ACC_RDONLY, fapl=a))
f["d"][0]
"""  # fmt: skip
    ran, profile = profiled(tmp_path, *script(tmp_path, text), HDF5_USE_FILE_LOCKING=None)
    ran.expect(0)
    assert file_of(profile, "out.h5")["hdf5"]["settings_of_program"] == {"file_locking": False}


def test_each_open_adds_what_it_sets(tmp_path: Path) -> None:
    text = OPEN + WRITE + "f.close()\n" + """
for name, value in (("set_file_locking", (False, True)), ("set_cache", (0, 521, 65536, 0.75)),
                    ("set_cache", (0, 521, 131072, 0.75))):
    own = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    getattr(own, name)(*value)
    f = h5py.File(h5py.h5f.open(b"out.h5", h5py.h5f.ACC_RDONLY, fapl=own))
    f["d"][0]
    f.close()
"""  # fmt: skip
    ran, profile = profiled(tmp_path, *script(tmp_path, text), HDF5_USE_FILE_LOCKING=None)
    ran.expect(0)
    own = file_of(profile, "out.h5")["hdf5"]["settings_of_program"]
    assert own["file_locking"] is False
    assert own["chunk_cache_bytes"] == 65536  # the first open that sets it


def advised(folder: Path) -> dict[str, Any]:
    ran = tailrace("advise", "profile.json", "--allow", "opt-in", "-o", "plan.json", cwd=folder)
    ran.expect(0)
    plan: dict[str, Any] = json.loads((folder / "plan.json").read_text())
    return plan


def test_what_the_program_sets_is_not_advised(tmp_path: Path) -> None:
    """Rule 38: conversions of 8 MiB, with a buffer of the program's own and without."""
    large = """
with h5py.File("out.h5", "w") as f:
    d = f.create_dataset("d", (1 << 20,), ">f8")
    own = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    H = library()
    H.H5Pset_buffer.argtypes = [ctypes.c_int64, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
    if len(sys.argv) > 1:
        assert H.H5Pset_buffer(own.id, 262144, None, None) >= 0
    d.id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(1 << 20, dtype="f8"), dxpl=own)
"""
    command = script(tmp_path, OPEN + large)
    profiled(tmp_path, *command)[0].expect(0)
    settings = [one for entry in advised(tmp_path)["entries"] for one in entry["settings"]]
    assert "38" in {one["because"]["rule"] for one in settings}
    profiled(tmp_path, *command, "own")[0].expect(0)
    plan = advised(tmp_path)
    settings = [one for entry in plan.get("entries", []) for one in entry["settings"]]
    assert "38" not in {one["because"]["rule"] for one in settings}
    held = next(one for one in plan["held_back"] if one["because"]["rule"] == "38")
    assert held["guard"] == "program"
    text = "the program sets conversion_buffer_bytes itself, to 262144"
    assert text in held["because"]["text"]


def test_who_asks_for_the_address_keeps_it(tmp_path: Path) -> None:
    """Rule 17: columns of a contiguous dataset, by a program that also reads past HDF5."""
    columns = """
with h5py.File("out.h5", "w") as f:
    d = f.create_dataset("d", (1000, 1000), "f8")
    for row in range(1000):
        d[row] = np.arange(1000.0) + row
    for column in range(0, 1000, 50):
        d[:, column]
    if len(sys.argv) > 1:
        at = d.id.get_offset(), d.id.get_offset()
        f.flush()
        assert np.memmap("out.h5", "f8", "r", at[1], (1000, 1000))[7, 5] == 12
"""
    command = script(tmp_path, OPEN + columns)
    _, profile = profiled(tmp_path, *command)
    assert "settings_of_program" not in dataset_of(profile, "out.h5", "/d")
    rules = {e["because"]["rule"] for one in advised(tmp_path)["entries"] for e in one["settings"]}
    assert "17" in rules
    ran, profile = profiled(tmp_path, *command, "address")
    ran.expect(0)
    assert dataset_of(profile, "out.h5", "/d")["settings_of_program"] == {"address_asked": True}
    plan = advised(tmp_path)
    assert "17" not in {
        e["because"]["rule"] for one in plan.get("entries", []) for e in one["settings"]
    }
    held = next(one for one in plan["held_back"] if one["because"]["rule"] == "17")
    assert held["guard"] == "address"
    tailrace("apply", "plan.json", "--", *command, "address", cwd=tmp_path).expect(0)


def test_what_gets_its_name_later_gets_no_settings_for_creating_it(tmp_path: Path) -> None:
    """No plan can find it; the one beside it is made with its name."""
    both = """
with h5py.File("out.h5", "w") as f:
    f["late"] = np.arange(1000000.0).reshape(1000, 1000)
    f.create_dataset("named", data=np.arange(1000000.0).reshape(1000, 1000))
    to = f.create_group("h").ref
    f[to].create_dataset("by_reference", data=np.arange(10.0))
    for name in ("late", "named"):
        for column in range(0, 1000, 50):
            f[name][:, column]
"""
    ran, profile = profiled(tmp_path, *script(tmp_path, OPEN + both))
    ran.expect(0)
    late = dataset_of(profile, "out.h5", "/late")
    assert late["settings_of_program"] == {"made_without_name": True}
    assert "settings_of_program" not in dataset_of(profile, "out.h5", "/named")
    others = [one for one in file_of(profile, "out.h5")["datasets"] if one["path"] != "/late"]
    assert {one["path"] for one in others} == {"/named", "/h/by_reference"}
    assert not any("settings_of_program" in one for one in others)
    plan = advised(tmp_path)
    held = [one for one in plan["held_back"] if one["guard"] == "name"]
    assert {one["dataset"] for one in held} == {"/late"}
    assert "create_dataset" in held[0]["because"]["text"]
    created = [one for one in plan["entries"] if one["dataset"] and one["when"] == "create"]
    assert created and {one["dataset"] for one in created} == {"/named"}
    ran = tailrace("apply", "plan.json", "--", *script(tmp_path, OPEN + both), cwd=tmp_path)
    assert "no such dataset" not in ran.expect(0).out + ran.err
