# SPDX-License-Identifier: Apache-2.0
"""Which launcher is chosen, and how it is called; with stand-ins for all of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tailrace.errors import ExitCode, TailraceError
from tailrace.run import launcher
from tailrace.run.launcher import launch_for
from tailrace.run.programs import MpiLibrary

OPEN_MPI, HYDRA = "mpiexec (OpenRTE) 4.1.4", "HYDRA build details: Version: 4.0.2"
ROOT = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin-that-is-not-there")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(launcher, "cores", lambda: 4)
    return tmp_path


def fake(place: Path, name: str, says: str) -> str:
    path = place / "bin" / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return str(path)


def library(flavour: str, place: Path) -> MpiLibrary:
    return MpiLibrary(flavour, place / "lib" / "libmpi.so")


def test_the_launcher_of_the_same_mpi_is_taken(place: Path) -> None:
    other, right = fake(place, "mpiexec", HYDRA), fake(place, "mpirun", OPEN_MPI)
    assert launch_for(library("openmpi", place), 4, environment={}).words == [right, "-n", "4"]
    assert launch_for(library("mpich", place), 4, environment={}).words == [other, "-n", "4"]


def test_only_a_foreign_launcher_is_an_error(place: Path) -> None:
    fake(place, "mpiexec", HYDRA)
    with pytest.raises(TailraceError, match="belongs to another MPI") as caught:
        launch_for(library("openmpi", place), 4, environment={})
    assert caught.value.code == ExitCode.CAPABILITY_MISSING


def test_no_launcher_is_an_error_with_the_remedy(place: Path) -> None:
    with pytest.raises(TailraceError, match="no launcher") as caught:
        launch_for(library("openmpi", place), 4, environment={})
    assert "openmpi-bin" in caught.value.hint and caught.value.code == 4


def test_more_ranks_than_cores(place: Path) -> None:
    fake(place, "mpiexec", OPEN_MPI)
    found = launch_for(library("openmpi", place), 5, environment={})
    assert found.words[-1] == "--oversubscribe" and "5 ranks on 4 cores" in found.notes[0]
    assert "--oversubscribe" not in launch_for(library("openmpi", place), 4, environment={}).words


def test_root_is_allowed_and_told(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(place, "mpiexec", OPEN_MPI)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    found = launch_for(library("openmpi", place), 1, environment={})
    assert all(found.environment[name] == "1" for name in ROOT)
    assert "root" in found.notes[-1]
    chosen = launch_for(library("openmpi", place), 1, environment={ROOT[0]: "0"})
    assert ROOT[0] not in chosen.environment


def test_inside_slurm_srun_is_taken_where_it_fits(place: Path) -> None:
    fake(place, "mpiexec", OPEN_MPI)
    job = {"SLURM_JOB_ID": "7"}
    fake(place, "srun", "MPI plugin types are... pmi2 none")
    assert launch_for(library("openmpi", place), 2, environment=job).words[0].endswith("mpiexec")
    fake(place, "srun", "MPI plugin types are... pmix none")
    words = launch_for(library("openmpi", place), 2, environment=job).words
    assert words == ["srun", "--mpi=pmix", "-n", "2"]
    assert launch_for(library("mpich", place), 2, environment=job).words == ["srun", "-n", "2"]
    hydra = fake(place, "mpiexec.mpich", HYDRA)  # it asks Slurm by itself, whatever its PMI is
    assert launch_for(library("mpich", place), 2, environment=job).words == [hydra, "-n", "2"]
    Path(hydra).unlink()
    for given in ("srun -n4", "srun --ntasks=4", "srun -n 4"):
        assert launch_for(library("mpich", place), 2, given, job).words == given.split()
    words = launch_for(library("mpich", place), 2, "srun -c 4", job).words
    assert words == ["srun", "-c", "4", "-n", "2"], "cores of a rank are no number of ranks"


def test_a_given_launcher_keeps_its_words(place: Path) -> None:
    fake(place, "mpiexec", OPEN_MPI)
    given = launch_for(library("openmpi", place), 8, "mpiexec --mca io romio321", {}).words
    assert given == ["mpiexec", "--mca", "io", "romio321", "-n", "8"]
    assert launch_for(library("openmpi", place), 8, "mpiexec -np 3", {}).words[-1] == "3"
    for joined in ("-n3", "-np=3", "--np 3"):
        words = launch_for(library("openmpi", place), 8, f"mpiexec {joined}", {}).words
        assert words[-1] == "3" and len(words) == 3, joined
    with pytest.raises(TailraceError, match="no program") as caught:
        launch_for(library("openmpi", place), 8, "mpixec", {})
    assert caught.value.code == ExitCode.CAPABILITY_MISSING
