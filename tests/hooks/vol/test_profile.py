# SPDX-License-Identifier: Apache-2.0
"""What is recorded of Python scripts with the stock wheels: each number is known beforehand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import h5py
import netCDF4
import pytest
from own_namespace import unshare
from profiled import dataset_of, file_of, profiled, script
from tailrace_cli import tailrace

H5PY = """
import h5py, numpy as np
with h5py.File("a.h5", "w") as f:
    rows = f.create_dataset("group/rows", (100, 50), dtype="f8", chunks=(10, 50),
                            compression="gzip", shuffle=True, fillvalue=-1)
    for n in range(10):
        rows[10 * n : 10 * n + 10] = np.full((10, 50), n)
    rows.attrs["unit"] = np.arange(3, dtype="i4")
    f["named"] = np.arange(7, dtype="u2")
    log = f.create_dataset("log", (0,), maxshape=(None,), dtype="i4", chunks=(16,))
    for n in range(1, 6):
        log.resize((4 * n,))
        log[4 * (n - 1) :] = n
    f.flush()
    f["soft"] = h5py.SoftLink("/group/rows")
with h5py.File("a.h5", "r") as f:
    assert f["soft"][5:15, ::2].sum() == 125
    assert f["named"][[1, 3, 6]].sum() == 10
    assert f["group/rows"].attrs["unit"][1] == 1
"""


def test_a_script_with_h5py(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, H5PY))
    (process,) = profile["run"]["processes"]
    assert process["hdf5_version"] == h5py.version.hdf5_version
    file = file_of(profile, "a.h5")
    assert file["path"] == str(tmp_path / "a.h5")
    assert file["names"] == ["a.h5"]
    hdf5 = file["hdf5"]
    assert (hdf5["opens"], hdf5["creates"], hdf5["read_only_opens"]) == (2, 1, 1)
    assert (hdf5["reopens"], hdf5["flushes"], hdf5["driver"]) == (1, 1, "sec2")
    assert hdf5["metadata"]["attribute"]["create"] == 1
    assert hdf5["metadata"]["attribute"]["bytes"] == 24  # three numbers, written and read
    assert hdf5["metadata"]["dataset"]["create"] == 3

    rows = dataset_of(profile, "a.h5", "/group/rows")
    assert rows["names"] == ["/soft"]
    assert (rows["dims"], rows["chunk"], rows["layout"]) == ([100, 50], [10, 50], "chunked")
    assert [(part["id"], part["values"]) for part in rows["filters"]] == [(2, [8]), (1, [4])]
    assert rows["fill"] == {"defined": "user", "time": "ifset"}
    assert rows["attributes"] == {"count": 1, "bytes": 24}
    writes = rows["writes"]
    assert (writes["calls"], writes["bytes"], writes["elements"]) == (10, 40000, 5000)
    assert writes["shapes"][0]["length"] == [10, 50]
    assert writes["shapes"][0]["calls"] == 10
    assert writes["order"]["sequential"] == 9
    assert writes["coverage"] == {
        "elements_distinct": 5000,
        "full": True,
        "boxes": [{"start": [0, 0], "count": [100, 50]}],
    }
    reads = rows["reads"]
    assert (reads["calls"], reads["bytes"]) == (1, 2000)
    assert reads["shapes"][0] == {
        "selection": "hyperslab", "length": [10, 25], "stride": [1, 2], "count": [1, 25],
        "block": [10, 1], "calls": 1, "call_bytes": 2000,
    }  # fmt: skip
    assert reads["coverage"]["full"] is False
    assert rows["read_after_write"]["same_process"] is True

    named = dataset_of(profile, "a.h5", "/named")
    assert (named["type"]["name"], named["writes"]["whole"]) == ("u16le", 1)
    assert named["reads"]["shapes"][0]["selection"] in {"points", "irregular"}
    assert "full" not in named["reads"]["coverage"] or named["reads"]["coverage"]["full"] is None
    log = dataset_of(profile, "a.h5", "/log")
    assert log["max_dims"] == [None]
    assert log["dims"] == [20]
    assert log["extensions"]["calls"] == 5
    assert log["extensions"]["sequence"] == [[4], [8], [12], [16], [20]]
    assert log["writes"]["coverage"]["full"] is True


CONVERTS = """
import h5py, numpy as np
values = np.arange(1 << 20, dtype="f8")
with h5py.File("a.h5", "w") as f:
    for name, kind in (("narrower", "<f4"), ("other end", ">f8"), ("same", "<f8")):
        f.create_dataset(name, values.shape, kind)[...] = values
    f["read wider"] = values.astype("f4")
    f["read wider"].read_direct(values)
    f["text"] = "plain"
"""


def test_transfers_that_convert_are_seen_and_get_a_larger_buffer(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, CONVERTS))
    converts = {
        one["path"]: one.get("settings_of_program", {}).get("memory_type_differs", False)
        for one in file_of(profile, "a.h5")["datasets"]
    }
    assert converts == {
        "/narrower": True, "/other end": True, "/read wider": True, "/same": False, "/text": False,
    }  # fmt: skip
    ran = tailrace("advise", tmp_path / "profile.json", "--json", cwd=tmp_path)
    larger = {
        entry["dataset"]: setting["value"]
        for entry in json.loads(ran.out)["plan"]["entries"] for setting in entry["settings"]
        if setting["because"]["rule"] == "38"
    }  # fmt: skip
    assert larger == dict.fromkeys(["/narrower", "/other end", "/read wider"], 4 << 20) | {
        "/other end": 8 << 20
    }


BOTH = """
import h5py, netCDF4, numpy as np
with netCDF4.Dataset("n.nc", "w") as n, h5py.File("h.h5", "w") as h:
    n.createDimension("t", None)
    n.createDimension("x", 10)
    v = n.createVariable("v", "f4", ("t", "x"), zlib=True)
    for t in range(6):
        v[t] = np.full(10, t)
        h[f"step{t}"] = np.arange(t + 1)
"""


def test_two_libraries_in_one_process(tmp_path: Path) -> None:
    """h5py and netCDF4 bring an HDF5 each; both load the one connector."""
    _, profile = profiled(tmp_path, *script(tmp_path, BOTH))
    (process,) = profile["run"]["processes"]
    versions = {h5py.version.hdf5_version, netCDF4.__hdf5libversion__}
    assert set(process["hdf5_version"].split(", ")) == versions
    assert len(file_of(profile, "h.h5")["datasets"]) == 6
    v = dataset_of(profile, "n.nc", "/v")
    assert (v["writes"]["bytes"], v["dims"], v["max_dims"]) == (240, [6, 10], [None, 10])


PROCESSES = """
import multiprocessing, os, h5py, numpy as np
def work(n):
    with h5py.File(f"w{n}.h5", "w") as f:
        f["x"] = np.arange(n + 1)
if __name__ == "__main__":
    with h5py.File("first.h5", "w") as f:
        kept = f.create_dataset("x", (8,), dtype="i4")
        for kind in ("fork", "spawn"):
            with multiprocessing.get_context(kind).Pool(2) as pool:
                pool.map(work, range(0, 4) if kind == "fork" else range(4, 8))
        kept[:] = 1
    os._exit(0)
"""


def test_processes_of_a_pool(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, PROCESSES))
    processes = profile["run"]["processes"]
    assert 3 <= len(processes) <= 5  # a quick one may do the work of both
    parent = next(p for p in processes if str(p["id"]) == file_of(profile, "first.h5")["processes"])
    assert {p["parent_pid"] for p in processes if p is not parent} == {parent["pid"]}
    for n in range(8):
        found = dataset_of(profile, f"w{n}.h5", "/x")
        assert found["dims"] == [n + 1]
        assert found["writes"]["coverage"]["full"] is True
        assert found["processes"] != str(parent["id"])
    assert dataset_of(profile, "first.h5", "/x")["writes"]["calls"] == 1


LARGE = """
import h5py, numpy as np
row = 2**31 + 17
with h5py.File("large.h5", "w") as f:
    x = f.create_dataset("x", (5, row), dtype="u1", external=[("/dev/null", 0, 2**30)] * 11)
    two_rows = np.zeros((2, row), "u1")
    x[0:2] = two_rows
    x[3:5] = two_rows
"""


def test_more_than_32_bits(tmp_path: Path) -> None:
    """Two transfers of 4 GiB and more each, which /dev/null swallows."""
    ran, profile = profiled(tmp_path, *script(tmp_path, LARGE))
    assert ran.code == 0, ran.err
    x = dataset_of(profile, "large.h5", "/x")
    row = 2**31 + 17
    assert (x["dims"], x["elements"]) == ([5, row], 5 * row)
    writes = x["writes"]
    assert (writes["calls"], writes["bytes"], writes["elements"]) == (2, 4 * row, 4 * row)
    (shape,) = writes["shapes"]
    assert (shape["length"], shape["call_bytes"], shape["calls"]) == ([2, row], 2 * row, 2)
    assert writes["order"]["step"] == [3, 0]
    assert writes["coverage"] == {
        "elements_distinct": 4 * row,
        "full": False,
        "boxes": [{"start": [0, 0], "count": [2, row]}, {"start": [3, 0], "count": [2, row]}],
    }
    assert [share["bytes"] for share in writes["by_process"]] == [4 * row]


def test_a_script_that_is_killed(tmp_path: Path) -> None:
    text = H5PY.replace("    f.flush()", "    import os; os.kill(os.getpid(), 9)")
    ran, profile = profiled(tmp_path, *script(tmp_path, text))
    assert ran.code == 128 + signal.SIGKILL
    assert f"signal {int(signal.SIGKILL)}" in ran.err
    assert dataset_of(profile, "a.h5", "/group/rows")["writes"]["calls"] == 10


def test_a_full_disk_below_the_spools(tmp_path: Path) -> None:
    """The program goes on as if nothing was; what found no room is counted."""
    text = """
import h5py, numpy as np
with h5py.File("many.h5", "w") as f:
    for n in range(3000):
        f[f"d{n}"] = np.arange(4)
with h5py.File("many.h5") as f:
    assert sum(f[f"d{n}"][3] for n in range(3000)) == 9000
    assert sum(f[f"d{n}"][3] for n in range(3000)) == 9000
print("the program is content")
"""
    spools = tmp_path / "small"
    spools.mkdir()
    plugin = Path(os.environ["TAILRACE_BUILD_DIR"], "src", "hooks", "vol", "plugin")
    inside = f'mount -t tmpfs -o size=256k small "{spools}" && "$@" && cp "{spools}"/* .'
    environment = {
        "HDF5_PLUGIN_PATH": str(plugin),
        "HDF5_VOL_CONNECTOR": "tailrace under_vol=0;under_info={}",
        "TAILRACE_MODE": "record",
        "TAILRACE_PROFILE_DIR": str(spools),
    }
    done = subprocess.run(
        [*unshare("-m"), "sh", "-c", inside, "sh", *map(str, script(tmp_path, text))],
        env={**os.environ, **environment}, capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the program is content\n"
    assert done.stderr == ""
    from tailrace.native import core

    module = core()
    assert module is not None
    (spool,) = tmp_path.glob("*.spool")
    assert spool.stat().st_size <= 256 * 1024
    text = module.profile_of_spools(str(tmp_path), "")
    kept = json.loads(text)
    assert '"/d0"' in text
    # Each that found no room counts once, although it was opened three times.
    kept_datasets = sum(len(one["datasets"]) for one in kept["files"])
    assert kept_datasets + kept["origin"]["dropped"]["datasets"] == pytest.approx(3000, abs=10)
