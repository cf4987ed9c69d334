# SPDX-License-Identifier: Apache-2.0
"""Filters that a library finds without HDF5_PLUGIN_PATH are found where that names us too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vol"))

from plans import for_files, write_plan
from runs import CONNECTOR, Left, Words, applied, recorded, run

from tailrace.intent import plugin

# The wheel of netCDF4 brings zstd, and names the folder to whatever HDF5 begins after its import.
WRITES = """
import netCDF4, numpy as np, sys
with netCDF4.Dataset("a.nc", "w") as f:
    f.createDimension("x", 1000)
    f.createVariable("v", "f4", ("x",), compression="zstd")[:] = np.arange(1000)
print(netCDF4.Dataset("a.nc")["v"][999])
"""
AND_READS = (
    WRITES
    + """
import h5py
with h5py.File("a.nc") as f: print(f["v"][998], h5py.h5z.filter_avail(32015))
"""
)
BEFORE = "import h5py\n" + AND_READS.replace('print(f["v"][998], ', "print(")


@pytest.fixture(autouse=True)
def nobody_names_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HDF5_PLUGIN_PATH", raising=False)


def in_three_ways(folder: Path, text: str, **added: str) -> list[Left]:
    words: Words = [sys.executable, "-c", text]
    plan = write_plan(folder, for_files("*", 1024))
    return [
        run(folder / "native", words, **added),
        recorded(folder / "recorded", words, **added)[0],
        applied(folder / "applied", words, plan, **added)[0],
    ]


def test_those_of_netcdf4(tmp_path: Path) -> None:
    native, again, tuned = in_three_ways(tmp_path, AND_READS)
    assert (native.code, native.out, native.err) == (0, "999.0\n998.0 True\n", "")
    assert again == native
    assert (tuned.code, tuned.out, tuned.err) == (native.code, native.out, native.err)


def test_not_for_a_library_that_began_before(tmp_path: Path) -> None:
    """It does not find them natively either."""
    native, again, tuned = in_three_ways(tmp_path, BEFORE)
    assert (native.code, native.err) == (0, "")
    assert again == native
    assert (tuned.code, tuned.out) == (native.code, native.out)


def test_not_where_the_program_is_given_a_folder(tmp_path: Path) -> None:
    """netCDF4 names its own only where nobody has named one."""
    elsewhere = str(tmp_path / "filters")
    native = run(tmp_path / "native", [sys.executable, "-c", WRITES], HDF5_PLUGIN_PATH=elsewhere)
    (tmp_path / "spools").mkdir()
    given = plugin.environment_for(
        CONNECTOR, tmp_path / "spools", None, {"HDF5_PLUGIN_PATH": elsewhere}
    )
    again = run(tmp_path / "run", [sys.executable, "-c", WRITES], **given)
    assert native.code == again.code == 1
    assert "undefined filter" in native.err and "undefined filter" in again.err
