# SPDX-License-Identifier: Apache-2.0
"""`pip install .` without MPI, HDF5 and a compiler: what then works, and what says how."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import samples
import seism_files as files
from pip_place import SOURCE, Place
from records import a_run, written

pytestmark = [pytest.mark.install, pytest.mark.timeout(560)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = Place(tmp_path_factory.mktemp("pip"))
    made.install()
    return made


def test_the_pure_wheel_is_installed(place: Place) -> None:
    run = place.call("python", "-c", "import tailrace, tailrace.native as n; print(n.core())")
    assert run.stdout == "None\n", run.stdout + run.stderr


def test_what_works_without_mpi(place: Place, tmp_path: Path) -> None:
    case = files.Case()
    files.write_hdf5(tmp_path / "a.h5", case, files.data(case))
    samples.write_grid(tmp_path / "b.nc", "NETCDF3_64BIT_DATA")
    results = written(tmp_path / "results.jsonl", a_run((0.5, 0.6)))
    for words in (["--help"], ["--version"], ["doctor"], ["verify", tmp_path / "a.h5"],
                  ["verify", tmp_path / "b.nc", tmp_path / "b.nc"],
                  ["verify", "--hash", tmp_path / "b.nc"],
                  ["report", results, "-o", tmp_path / "report.html"]):  # fmt: skip
        run = place.call("tailrace", *words)
        assert run.returncode == 0, f"{words}: {run.stdout}{run.stderr}"


def test_the_version_tells_the_commit(place: Place) -> None:
    head = subprocess.run(
        ["git", "-C", SOURCE, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True
    ).stdout.strip()
    assert f"(commit {head}" in place.call("tailrace", "--version").stdout


def test_what_needs_mpi_says_how_to_get_it(place: Place) -> None:
    run = place.call("tailrace", "run", "seism", "processor=1x1x1", "domain=2x2x2", "time=1")
    assert run.returncode == 4
    assert "make build" in run.stderr and "Traceback" not in run.stderr
    found = place.call("tailrace", "doctor").stdout
    assert "MISSING" in found and "openmpi-bin" in found


def test_what_needs_the_compiled_parts_says_why_they_are_not_here(place: Place) -> None:
    run = place.call("tailrace", "profile", "--", "true")
    assert run.returncode == 125 and "Traceback" not in run.stderr
    assert "there was no C++ compiler" in run.stderr and "--no-deps ." in run.stderr


def test_the_python_is_new_enough() -> None:
    assert sys.version_info >= (3, 11)
