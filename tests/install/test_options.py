# SPDX-License-Identifier: Apache-2.0
"""The options of the build: what is missing is said with its remedy, what is wrong is an error."""

import subprocess
from pathlib import Path

import pytest
from conftest import SOURCE


def configure(folder: Path, *options: str) -> tuple[int, str]:
    quick = ["-DTAILRACE_TESTS=OFF", "-DTAILRACE_BENCH=OFF", "-DTAILRACE_PYTHON=OFF"]
    done = subprocess.run(
        ["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", *quick, *options],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=200,
        check=False,
    )
    return done.returncode, done.stdout


def test_without_mpi_the_rest_is_configured_and_says_why(tmp_path: Path) -> None:
    status, text = configure(tmp_path, "-DTAILRACE_MPI=OFF", "-DTAILRACE_PLUGINS=OFF")
    assert status == 0, text
    assert "MPI         off: switched off (TAILRACE_MPI=OFF)" in text
    assert "HDF5        off: it needs MPI" in text
    assert "PLUGINS     off" in text
    assert text.count("how to get it:") >= 3


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (
            ["-DTAILRACE_HDF5=ON", "-DHDF5_ROOT=/usr/share"],
            ["no HDF5 in /usr/share", "How to get it: cmake/deps/superbuild.sh"],
        ),
        (["-DTAILRACE_MPI=MAYBE"], ['TAILRACE_MPI="MAYBE" is not AUTO, ON or OFF']),
        (
            ["-DTAILRACE_NETCDF=ON", "-DTAILRACE_HDF5=OFF"],
            ["TAILRACE_NETCDF=ON, but: it needs parallel HDF5"],
        ),
    ],
)
def test_what_cannot_be_is_an_error(tmp_path: Path, options: list[str], texts: list[str]) -> None:
    status, text = configure(tmp_path, *options)
    assert status != 0
    flat = " ".join(text.split())
    assert all(part in flat for part in texts), text
