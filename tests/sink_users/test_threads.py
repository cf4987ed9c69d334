# SPDX-License-Identifier: Apache-2.0
"""Files that threads of one process wrote at the same time, as h5py and netCDF4 find them."""

import subprocess

import h5py
import netCDF4
import numpy as np
import pytest
from mpi_programs import BUILD, MPIEXEC, mpi_components

WRITER = BUILD / "tests/bin/sink_users_threads"
STEPS, WIDTH = 60, 200
NAMES = "plain.h5", "packed.h5", "packed.nc", "plain.nc", "cdf5.nc"


def expected(number, ranks=1):
    step, place = np.ogrid[:STEPS, : ranks * WIDTH]
    return 1000000.0 * number + 1000 * step + place


def written(folder, *command):
    done = subprocess.run(
        [str(w) for w in command], capture_output=True, text=True, timeout=120, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "HDF5-DIAG" not in done.stdout + done.stderr


def check(path, number, ranks=1):
    opened = h5py.File if path.suffix == ".h5" else netCDF4.Dataset
    with opened(path) as file:
        for name in "record", "dense":
            np.testing.assert_array_equal(file[name][:], expected(number, ranks), str(path))


def test_without_mpi(tmp_path):
    written(tmp_path, WRITER, tmp_path)
    for number, name in enumerate(NAMES[:4]):
        check(tmp_path / f"0-{name}", number)


@pytest.mark.parametrize("component,environment", mpi_components())
def test_beside_files_of_all_ranks(tmp_path, component, environment):
    variables = [w for key, value in environment.items() for w in ("-x", f"{key}={value}")]
    written(tmp_path, *MPIEXEC, *variables, "-n", "2", WRITER, tmp_path, "mpi")
    for rank in range(2):
        for number, name in enumerate(NAMES):
            check(tmp_path / f"{rank}-{name}", number)
    check(tmp_path / "all.h5", 7, ranks=2)
    check(tmp_path / "all.nc", 8, ranks=2)
    with netCDF4.Dataset(tmp_path / "0-cdf5.nc") as file:
        assert file.data_model == "NETCDF3_64BIT_DATA"
