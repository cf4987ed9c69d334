# SPDX-License-Identifier: Apache-2.0
"""Files of format netcdf4 as their readers meet them: netCDF4 for Python, h5py and ncdump, which
share nothing with us; our verifier; and what the program says where it cannot do as asked."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import pytest

from tailrace.verify.fill import PositionFill
from tailrace.verify.kernel import Seism

BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
MPIEXEC = shlex.split(os.environ["TAILRACE_TEST_MPIEXEC"])
TOOL = BUILD / "bin/tailrace-seism"
SHAPE = (2, 8, 6, 5)
RUN = ("processor=2x2x1", "domain=4x3x5", "time=2", "fill=position", "results=r.jsonl")
CHUNKED = ("chunk=4x3x5", "collective_write")
PLUGINS = {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}


def seism(folder, *arguments, code=0, env=None, form="netcdf4", name="f.nc"):
    """Runs the program on 4 ranks; returns what it printed."""
    command = [*MPIEXEC, "-n", "4", str(TOOL), *RUN, f"format={form}", f"filename={name}"]
    clean = {key: text for key, text in os.environ.items() if key != "HDF5_PLUGIN_PATH"}
    done = subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env={**clean, "TAILRACE_FAULT": "", **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "HDF5-DIAG" not in done.stderr
    return done.stdout + done.stderr


def verify(folder, *arguments, code=0, env=None):
    done = subprocess.run(
        [sys.executable, "-m", "tailrace", "verify", "--json", *arguments],
        cwd=folder,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def written():
    """Every element as the kernel fills it."""
    fill = PositionFill(Seism((2, 2, 1), (4, 3, 5), 2, "position"))
    box = tuple(slice(0, n) for n in SHAPE[1:])
    return np.stack([fill(step, box) for step in range(SHAPE[0])])


def test_readers_of_others(tmp_path):
    text = seism(tmp_path, *CHUNKED, "deflate=4", "shuffle", "unlimited", "verify", "read_back")
    assert "f.nc (netcdf4)" in text
    with netCDF4.Dataset(tmp_path / "f.nc") as file:
        assert file.data_model == "NETCDF4"
        variable = file["chunked"]
        assert variable.dimensions == ("time", "x", "y", "z")
        assert file.dimensions["time"].isunlimited() and variable.shape == SHAPE
        assert variable.chunking() == [1, 4, 3, 5]
        assert variable.filters()["zlib"] and variable.filters()["shuffle"]
        assert variable.filters()["complevel"] == 4
        assert np.array_equal(np.asarray(variable[...]), written())
        assert file.kernel == "seism" and file.deflate == 4
        assert list(file.processor) == [2, 2, 1]
    with h5py.File(tmp_path / "f.nc") as file:
        assert np.array_equal(file["chunked"][...], written())
        assert file["chunked"].maxshape == (None, *SHAPE[1:])
        row = file.attrs["simulation_attributes"][0]
        assert list(row["domain_dims"]) == [4, 3, 5] and row["deflate"] == 4
        assert row["name"] in ("my_attr", b"my_attr")
        assert isinstance(file["seismCoreAttributes"], h5py.Datatype)
    shown = subprocess.run(
        ["ncdump", "-h", "-s", str(tmp_path / "f.nc")], capture_output=True, text=True, check=True
    ).stdout
    assert "time = UNLIMITED ; // (2 currently)" in shown
    assert "float chunked(time, x, y, z)" in shown and 'chunked:_Shuffle = "true"' in shown
    record = json.loads((tmp_path / "r.jsonl").read_text())
    assert record["bytes"]["logical"] == 4 * 480
    assert record["bytes"]["stored"] == (tmp_path / "f.nc").stat().st_size


def test_contents_are_those_of_other_formats(tmp_path):
    seism(tmp_path)
    verify(tmp_path, "f.nc")
    seism(tmp_path, "cmode=classic-model", "never_fill", name="classic.nc")
    verify(tmp_path, "classic.nc")
    with netCDF4.Dataset(tmp_path / "classic.nc") as file:
        assert file.data_model == "NETCDF4_CLASSIC" and file.kernel == "seism"
    options = (
        "cmode",
        "endian",
        "unlimited",
        "alloc_time",
        "libver",
        "never_fill",
        "early_allocation",
    )
    ignored = [
        word for name in ("format", "filename", *options) for word in ("--ignore", f"/@{name}")
    ]
    for form in ("hdf5", "mpiio", "posix"):
        seism(tmp_path, form=form, name=form)
        found = verify(tmp_path, "f.nc", form, *ignored)
        assert found["ok"] and found["differing_elements"] == 0
    with h5py.File(tmp_path / "f.nc", "r+") as file:
        file["chunked"][1, 7, 5, 4] += 1
    assert verify(tmp_path, "f.nc", "hdf5", *ignored, code=3)["differing_elements"] == 1
    assert verify(tmp_path, "f.nc", code=3)["files"][0]["wrong"] == 1


@pytest.mark.parametrize(
    ("words", "bound"), [("bitround 7", 2.0**-8), ("bitgroom 2", 2.0**-8), ("granularbr 3", 0.005)]
)
def test_quantised_numbers_are_verified_within_the_promise(tmp_path, words, bound):
    seism(tmp_path, f"quantize={words}")
    found = verify(tmp_path, "f.nc")["files"][0]
    assert found["ok"] and found["quantized"] == words and found["rtol"] == pytest.approx(bound)
    with h5py.File(tmp_path / "f.nc", "r+") as file:
        stored = file["chunked"][...]
        assert not np.array_equal(stored, written())
        if words == "bitround 7":
            assert not np.any(stored.view("u4") & 0xFFFF)
        file["chunked"][0, 1, 1, 1] = stored[0, 1, 1, 1] * (1 + 2 * bound)
    assert verify(tmp_path, "f.nc", code=3)["files"][0]["wrong"] == 1
    # The run itself compares bit by bit, which cannot be.
    text = seism(tmp_path, f"quantize={words}", "verify", code=2)
    assert "changes them" in text and "tailrace verify" in text


def test_what_is_missing_or_wrong_is_said(tmp_path):
    text = seism(tmp_path, *CHUNKED, "zstd=3", code=4)
    assert "32015" in text and "HDF5_PLUGIN_PATH" in text
    text = seism(tmp_path, *CHUNKED, "szip=nn 16", "--dry-run", code=4)
    assert "szip" in text and "libaec" in text
    assert "collective_write" in seism(tmp_path, "chunk=4x3x5", "deflate=1", code=2)
    assert "no chunk" in seism(tmp_path, "collective_write", "deflate=1", code=2)
    assert "1 to 6" in seism(tmp_path, "quantize=bitgroom 16", code=2)
    assert "Did you mean" in seism(tmp_path, "quantize=bitrond 3", code=2)
    assert "precreate has no effect" in seism(tmp_path, "precreate", "--dry-run")
    assert "backslash" in seism(tmp_path, code=2, name="c\\d.nc")
    assert not list(tmp_path.glob("*.nc*"))
    seism(tmp_path, *CHUNKED, "zstd=3", env=PLUGINS)
    with h5py.File(tmp_path / "f.nc") as file:
        assert file["chunked"]._filters.keys() == {"32015"}
        assert np.array_equal(file["chunked"][...], written())
    seism(tmp_path, "collective_write", "default_chunks", "deflate=1", name="d.nc")
    with h5py.File(tmp_path / "d.nc") as file:
        assert file["chunked"].chunks is not None and file["chunked"].compression == "gzip"


@pytest.mark.parametrize("name", ["a b#c.nc", "a:b.nc", "x.nc?mode=zarr"])
def test_names_are_taken_as_they_are(tmp_path, name):
    seism(tmp_path, "verify", name=name)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, "r.jsonl"])
