# SPDX-License-Identifier: Apache-2.0
"""A file as a server of a model writes it, read by netCDF4 for Python, h5py and ncdump: records in
any order beside variables that do not grow, fill values in holes, narrow attributes."""

import os
import shlex
import subprocess
from pathlib import Path

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import pytest

BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
MPIEXEC = shlex.split(os.environ["TAILRACE_TEST_MPIEXEC"])
ODD = 2**53 + 1
NARROW = {
    "i8": (np.int8, -128),
    "i16": (np.int16, -32768),
    "f32": (np.float32, 0.1),
    "i8s": (np.int8, [-1, 127]),
    "i16s": (np.int16, [-1, 32767]),
    "f32s": (np.float32, [0.1, -2.5, 3.0]),
}


def written(path, form, ranks, *more, **env):
    command = [*MPIEXEC, "-n", str(ranks), str(BUILD / "tests/bin/history_writer")]
    done = subprocess.run(
        [*command, str(path), form, *more],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return path


def check_attributes(of):
    for name, (kind, value) in NARROW.items():
        assert of(name).dtype == kind, name
        assert np.array_equal(of(name), np.array(value, kind)), name


def check_netcdf(path, exact=True):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert {name: len(one) for name, one in file.dimensions.items()} == {
            **{"time": 3, "y": 4, "x": 3}
        }
        assert [name for name, one in file.dimensions.items() if one.isunlimited()] == ["time"]
        assert file["t"].dimensions == ("time", "y", "x")
        assert file["time"].dimensions == ("time",)
        assert file["y"].dimensions == ("y",)
        assert file["time"][:].tolist() == [1, 2, 3]
        assert file["y"][:].tolist() == [0.5] * 4
        assert file["t"][:, 3, 2].tolist() == [1, 2, 3]
        assert np.ptp(file["t"][:], axis=(1, 2)).tolist() == [0, 0, 0]
        assert file["late"][:, 0].tolist() == [-1, 5, -1]
        fill, put = (ODD, ODD + 1) if exact else (77, 1)
        assert file["count"][:].tolist() == [[put] * 3, *[[fill] * 3] * 3]
        assert file["count"]._FillValue == fill
        for holder in (file, file["t"]):
            check_attributes(lambda name, holder=holder: holder.getncattr(name))


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("form", ["cdf5", "cdf1"])
def test_pnetcdf(tmp_path, form, ranks):
    check_netcdf(written(tmp_path / "f.nc", form, ranks), form == "cdf5")


@pytest.mark.parametrize("form", ["cdf5", "netcdf4"])
def test_independent_writes(tmp_path, form):
    check_netcdf(written(tmp_path / "f.nc", form, 4, "independent"))


@pytest.mark.parametrize("ranks", [1, 4])
def test_netcdf4(tmp_path, ranks):
    path = written(tmp_path / "f.nc", "netcdf4", ranks)
    check_netcdf(path)
    said = subprocess.run(["ncdump", "-hs", str(path)], capture_output=True, text=True, timeout=60)
    for text in (
        "time = UNLIMITED ; // (3 currently)",
        "t:_ChunkSizes = 1, 2, 3 ;",
        't:_Shuffle = "true" ;',
        "t:_DeflateLevel = 1 ;",
        "t:_QuantizeBitRoundNumberOfSignificantBits = 4 ;",
        f"count:_FillValue = {ODD}LL ;",
        "t:i8 = -128b ;",
    ):
        assert text in said.stdout, said.stdout
    assert "count:_DeflateLevel" not in said.stdout


@pytest.mark.parametrize("ranks", [1, 4])
def test_hdf5(tmp_path, ranks):
    with h5py.File(written(tmp_path / "f.h5", "hdf5", ranks)) as file:
        assert file["t"].maxshape == (None, 4, 3)
        assert (file["t"].chunks, file["t"].shuffle) == ((1, 2, 3), True)
        assert (file["t"].compression, file["t"].compression_opts) == ("gzip", 1)
        assert file["t"][:, 3, 2].tolist() == [1, 2, 3]
        assert file["late"][:, 0].tolist() == [-1, 5]
        assert (file["y"].maxshape, file["y"].chunks) == ((4,), None)
        assert (file["count"].fillvalue, file["count"].chunks) == (ODD, None)
        assert file["count"][:].tolist() == [[ODD + 1] * 3, *[[ODD] * 3] * 3]
        for holder in (file, file["t"]):
            check_attributes(lambda name, holder=holder: np.asarray(holder.attrs[name]))


@pytest.mark.parametrize("form", ["hdf5", "netcdf4"])
def test_zstd_of_one_variable(tmp_path, form):
    plugins = {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}
    with h5py.File(written(tmp_path / "f.h5", form, 1, "zstd", **plugins)) as file:
        assert list(file["count"]._filters) == ["32015"]
        assert file["count"]._filters["32015"][0] == 3
        assert file["count"][0].tolist() == [ODD + 1] * 3
        assert list(file["t"]._filters) == ["shuffle", "gzip"]
