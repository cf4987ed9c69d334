# SPDX-License-Identifier: Apache-2.0
"""Programs on netCDF-C, in C and Fortran, alone and on 4 ranks: recorded they leave the same bytes
and get the same error codes as without us; with a plan they leave the same content."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vol"))

from contents import content
from mpi_programs import BUILD, MPIEXEC, SANITIZERS
from own_namespace import not_run
from plans import entry, for_datasets, for_files, setting, write_plan
from profiled import dataset_of, file_of
from runs import Left, Words, applied, recorded, run

CASES = [(language, ranks) for language in ("c", "fortran") for ranks in (1, 4)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    library = Path(os.environ["TAILRACE_TEST_NETCDF"])
    made = tmp_path_factory.mktemp("fortran") / "netcdf_calls"
    launcher = Path(MPIEXEC[0])
    compiler = launcher.with_name(launcher.name.replace("mpiexec", "mpifort"))
    if not compiler.is_file():
        not_run(f"needs the Fortran compiler of this MPI ({compiler})")
    source = Path(__file__).with_name("calls.F90")
    subprocess.run(
        [compiler, "-o", made, source, library, f"-Wl,-rpath,{library.parent}"],
        check=True, timeout=60, cwd=made.parent,
    )  # fmt: skip
    return {"c": BUILD / "tests" / "bin" / "netcdf_calls", "fortran": made}


def command(program: Path, ranks: int) -> Words:
    if ranks == 1:
        return [program, "."]
    return [*MPIEXEC, "-n", str(ranks), program, ".", "mpi"]


@pytest.fixture(scope="module")
def native(
    programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, int], tuple[Path, Left]]:
    made = {}
    for language, ranks in CASES:
        folder = tmp_path_factory.mktemp("native") / "run"
        left = run(folder, command(programs[language], ranks), **SANITIZERS)
        assert (left.code, left.out, left.err) == (0, "done\n" * ranks, "")
        lines = left.files["lines.0"].decode()
        assert lines.count(": 0\n") > 20
        # Errors are errors, or nothing would be compared.
        assert lines.count(": -") >= (10 if language == "c" else 2)
        made[language, ranks] = folder, left
    return made


@pytest.mark.parametrize(("language", "ranks"), CASES)
def test_recorded(
    native: dict[tuple[str, int], tuple[Path, Left]], programs: dict[str, Path], tmp_path: Path,
    language: str, ranks: int,
) -> None:  # fmt: skip
    _, left = native[language, ranks]
    again, profile = recorded(tmp_path, command(programs[language], ranks), **SANITIZERS)
    assert again == left
    hdf5 = file_of(profile, "all.nc")["hdf5"]
    assert (hdf5["creates"], hdf5["driver"]) == (ranks, "mpio" if ranks > 1 else "sec2")
    grown = dataset_of(profile, "all.nc", "/grown")["writes"]
    assert grown["calls"] == ranks * {"c": 5, "fortran": 4}[language]


@pytest.mark.parametrize(("language", "ranks"), CASES[::3])
def test_applied(
    native: dict[tuple[str, int], tuple[Path, Left]], programs: dict[str, Path], tmp_path: Path,
    language: str, ranks: int,
) -> None:  # fmt: skip
    rows = {"name": "rows_of_bytes", "numbers": {"bytes": 240}, "extents": []}
    plan = write_plan(
        tmp_path,
        for_files("*.nc", 512),
        entry("*.nc", setting("17", "chunk", None, "layout", function=rows), dataset="/plain",
              when="create"),
        entry("*.nc", setting("20", "fill_time", "never", "opt_in"), dataset="/packed",
              when="create"),
        for_datasets("*.nc"),
    )  # fmt: skip
    folder, left = native[language, ranks]
    tuned, lines = applied(tmp_path, command(programs[language], ranks), plan, **SANITIZERS)
    assert (tuned.code, tuned.out, tuned.err) == (left.code, left.out, left.err)
    became = {line.setting: line.became for line in lines if line.count}
    assert became["alignment_bytes"] == became["chunk"] == "applied"
    if language == "c":  # two of three columns are left out
        assert became["fill_time"] == ("applied" if ranks == 1 else "held")
    assert tuned.files.pop("all.nc") != left.files["all.nc"]
    assert tuned.files == {name: left.files[name] for name in left.files if name != "all.nc"}
    assert content(tmp_path / "run" / "all.nc") == content(folder / "all.nc")
