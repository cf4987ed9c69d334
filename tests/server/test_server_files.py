# SPDX-License-Identifier: Apache-2.0
"""What stands in the files of the server, by format, as readers that are not ours see it."""

import os
import re
import subprocess

import h5py
import netCDF4
import numpy as np
import pytest
from mpi_programs import BUILD, MPIEXEC, mpi_components
from scipy.io import netcdf_file

SCRIPT = BUILD / "tests/bin/tailrace_server_script"
ENVIRONMENT = {**os.environ, **mpi_components()[0][1]}
FORMATS = ("netcdf4", "cdf5", "hdf5")
every_format = pytest.mark.parametrize("form", FORMATS)
servers = pytest.mark.parametrize("servers", [0, 1], ids=lambda n: f"servers{n}")
NUMPY = {"int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "real32": "f4", "real64": "f8"}


def play(folder, script, servers=0):
    """What failed: {line or "finalize": text}; blank lines count."""
    file = folder / "script"
    file.write_text(script)
    options = ["--npes_output_server", str(servers)] if servers else []
    done = subprocess.run(
        [*MPIEXEC, "-n", str(2 + servers), SCRIPT, file, *options],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return dict(re.findall(r"^(\d+|finalize|start): ((?:.|\n +)*)", done.stdout, re.MULTILINE))


def contents(file):
    """{name: array} by h5py if it is HDF5, else by netCDF."""
    if h5py.is_hdf5(file):
        with h5py.File(file) as data:
            return {name: data[name][...] for name in data if data[name].dtype.kind in "if"}
    with netCDF4.Dataset(file) as data:
        data.set_auto_mask(False)
        return {name: variable[...] for name, variable in data.variables.items()}


FIELDS = """
dim time 0
dim y 3
dim x 4
var time real64 time
text time units days_since_2000-01-01
var lat real32 y
constant lat real32 -1 0 1
var T real32 time y x
var n int64 time
var level real64
text - title test
numbers T range int64 1 5000000000
"""


@servers
@every_format
def test_each_format_holds_each_element_and_attribute(form, servers, tmp_path):
    steps = "".join(
        f"put f T real32 -1 {100 * step} 0 3 0 4\nput f n int64 -1 {5000000000 + step}\n"
        f"step {step + 0.5}\n"
        for step in range(3)
    )
    script = f"{FIELDS}collection all format={form}\nput f level real64 0 7\n{steps}"
    assert play(tmp_path, script, servers) == {}
    data = contents(tmp_path / "f")
    assert np.array_equal(data["time"], [0.5, 1.5, 2.5])
    assert np.array_equal(data["lat"], [-1, 0, 1])
    assert np.array_equal(data["T"].ravel(), [100 * s + i for s in range(3) for i in range(12)])
    assert np.array_equal(data["n"], 5000000000 + np.arange(3))
    assert data["level"] == 7
    if form == "hdf5":
        with h5py.File(tmp_path / "f") as file:
            assert file["T"].maxshape == (None, 3, 4)
            assert list(file["T"].attrs["range"]) == [1, 5000000000]
        return
    with netCDF4.Dataset(tmp_path / "f") as file:
        assert file.data_model == {"netcdf4": "NETCDF4", "cdf5": "NETCDF3_64BIT_DATA"}[form]
        assert file["T"].dimensions == ("time", "y", "x")
        assert file.dimensions["time"].isunlimited()
        assert (file.title, file["time"].units) == ("test", "days_since_2000-01-01")
        assert list(file["T"].range) == [1, 5000000000]


def test_cdf5_has_the_header_of_netcdf(tmp_path):
    """Its magic number, and no byte more than the data."""
    script = "dim x 4\nvar v int32 x\ncollection a format=cdf5\nput f v int32 0 1 0 4\nstep\n"
    assert play(tmp_path, script) == {}
    written = (tmp_path / "f").read_bytes()
    assert written.startswith(b"CDF\5")
    assert np.array_equal(np.frombuffer(written[-16:], ">i4"), [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("storage", "words"),
    [("chunks=1x2x2", "chunks"), ("deflate=1", "filters"), ("zstd=1", "filters"),
     ("shuffle=1", "filters"), ("quantize=bit_groom;digits=2", "filters")],
)  # fmt: skip
def test_what_cdf5_cannot_hold_is_refused_at_once(storage, words, tmp_path):
    script = f"{FIELDS}storage T {storage}\ncollection all format=cdf5\n"
    (text,) = play(tmp_path, script).values()
    for part in ("/T", f"CDF-5 has no {words}", "format netcdf4"):
        assert part in text
    assert [path.name for path in tmp_path.iterdir()] == ["script"]
