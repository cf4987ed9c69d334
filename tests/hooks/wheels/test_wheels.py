# SPDX-License-Identifier: Apache-2.0
"""Scripts with the wheels of several years: recorded and tuned they say and leave what they do
without us, byte by byte, and fail as they do without us."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import pytest
import tables

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vol"))

from contents import content
from plans import entry, for_datasets, for_files, setting, write_plan
from profiled import dataset_of, file_of, profiled
from runs import CONNECTOR, Left, applied, environment, files_in, recorded, run
from tailrace_cli import Ran, tailrace
from wheels import command, wheels_of

# Library, year of the wheels ("": those of build/venv), HDF5 inside.
SERVED = [
    ("h5py", "2024", "1.14.4"),
    ("h5py", "", h5py.version.hdf5_version),
    ("netCDF4", "2024", "1.14.2"),
    ("netCDF4", "", netCDF4.__hdf5libversion__),
    ("tables", "2023", "1.14.2"),
    ("tables", "", tables.hdf5_version),
]
TOO_OLD = [("h5py", "2023", "1.12.2"), ("netCDF4", "2023", "1.12.2")]
A_DATASET = {"h5py": "/deep/er/rows", "netCDF4": "/t", "tables": "/packed"}
OUTPUT = {"h5py": "all.h5", "netCDF4": "all.nc", "tables": "all.h5"}


def a_plan(folder: Path) -> Path:
    """Something for every file and dataset; what the scripts ask to see stays as it is."""
    rows = {"name": "rows_of_bytes", "numbers": {"bytes": 4096}, "extents": []}
    packed = [
        setting("17", "chunk", None, "layout", function=rows),
        setting("30", "shuffle", True, "opt_in"),
        setting("30", "deflate", 1, "opt_in"),
    ]
    contiguous = ("/axis", "/texts", "/references", "/packed", "/array", "/complex")
    return write_plan(
        folder,
        for_files("*", 1024),
        for_datasets("*", setting("14", "chunk_cache_preemption", 1.0)),
        entry("*", setting("20", "fill_time", "never", "opt_in"), dataset="/plain", when="create"),
        *(entry("*", *packed, dataset=name, when="create") for name in contiguous),
    )  # fmt: skip


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Any:
    done: dict[tuple[str, str], tuple[Path, Left]] = {}

    def of(library: str, year: str) -> tuple[Path, Left]:
        if (library, year) not in done:
            folder = tmp_path_factory.mktemp(f"{library}{year}") / "run"
            left = run(folder, command(library, year))
            assert (left.code, left.err) == (3, "")
            assert left.out.count("\n") > 30
            done[library, year] = folder, left
        return done[library, year]

    return of


@pytest.mark.parametrize(("library", "year", "hdf5"), SERVED)
def test_recorded(native: Any, tmp_path: Path, library: str, year: str, hdf5: str) -> None:
    _, left = native(library, year)
    again, profile = recorded(tmp_path, command(library, year))
    assert again == left
    assert left.out.splitlines()[-1].endswith(hdf5)
    (process,) = profile["run"]["processes"]
    assert process["hdf5_version"] == hdf5
    writes = dataset_of(profile, OUTPUT[library], A_DATASET[library])["writes"]
    assert writes["calls"] > 0


@pytest.mark.parametrize(("library", "year", "hdf5"), SERVED)
def test_applied(native: Any, tmp_path: Path, library: str, year: str, hdf5: str) -> None:
    folder, left = native(library, year)
    tuned, lines = applied(tmp_path, command(library, year), a_plan(tmp_path))
    assert (tuned.code, tuned.out, tuned.err) == (left.code, left.out, left.err)
    count = {line.setting: line.count for line in lines if line.became == "applied"}
    assert count["alignment_bytes"] >= 5
    assert "refused" not in {line.became for line in lines}
    # netCDF and PyTables choose the caches of their datasets themselves.
    assert library != "h5py" or count["chunk_cache_bytes"] >= 10
    assert count["chunk"] >= 1
    # netCDF4 asks for a fill value; h5py's default one is not written into what has no chunks, as
    # those of PyTables have.
    assert count.get("fill_time", 0) == (library == "netCDF4")
    assert set(tuned.files) == set(left.files)
    assert tuned.files[OUTPUT[library]] != left.files[OUTPUT[library]]
    for name in left.files:
        if h5py.is_hdf5(folder / name):
            assert content(tmp_path / "run" / name) == content(folder / name)
        else:
            assert tuned.files[name] == left.files[name]


@pytest.mark.parametrize("year", ["2023", "2024", ""])
def test_nobody_asked_for_it(native: Any, tmp_path: Path, year: str) -> None:
    """The plugin is on the path of a program that knows nothing of it."""
    _, left = native("h5py", year)
    added = {"HDF5_PLUGIN_PATH": str(CONNECTOR)}
    assert run(tmp_path / "run", command("h5py", year), **added) == left


@pytest.mark.parametrize(("library", "year", "hdf5"), TOO_OLD)
def test_too_old(native: Any, tmp_path: Path, library: str, year: str, hdf5: str) -> None:
    """The program runs as it does without us, and the profile names its HDF5."""
    _, left = native(library, year)
    again, profile = recorded(tmp_path, command(library, year))
    assert again == left
    (note,) = profile["origin"]["notes"]
    assert f"HDF5 {hdf5} (in 1 process) is older than 1.14" in note
    assert "--layers mpiio,posix" in note
    assert "files" not in profile


def of_program(ran: Ran, told: Left) -> None:
    """How the program ended under a command of ours, and that it said the same."""
    assert (ran.code, ran.out) == (told.code, told.out) == (3, told.out), ran.err
    assert "exit code 3" in ran.err and "HDF5-DIAG" not in ran.err


def test_what_the_commands_say_of_one_too_old(native: Any, tmp_path: Path) -> None:
    """Which it is and what to do; its system calls are seen."""
    _, left = native("h5py", "2023")
    words = command("h5py", "2023")
    (tmp_path / "profile").mkdir()
    ran, profile = profiled(tmp_path / "profile", *words, **environment())
    of_program(ran, left)
    assert profile["origin"]["notes"][0] in ran.err
    assert "hdf5" not in file_of(profile, "all.h5")
    assert file_of(profile, "all.h5")["posix"]["writes"]["bytes"] > 10000

    (tmp_path / "apply").mkdir()
    ran = tailrace("apply", a_plan(tmp_path), "--", *words, cwd=tmp_path / "apply", **environment())
    of_program(ran, left)
    assert files_in(tmp_path / "apply") == left.files
    (said,) = [line for line in ran.err.splitlines() if "too old" in line]
    assert "tailrace: HDF5 1.12.2 (" in said and "the program runs as it is" in said
    assert "only hints for MPI-IO reach its files, by the MPI-IO hook" in said
    assert "applied 1 time" not in ran.err


BOTH = """
import sys
sys.path[:0] = sys.argv[1:]
import h5py, numpy as np, tables
with h5py.File("old.h5", "w") as f, tables.open_file("new.h5", "w") as t:
    for n in range(3):
        f[f"d{n}"] = np.arange(100)
        t.create_array("/", f"d{n}", np.arange(100))
"""


def test_an_old_and_a_newer_one_in_one_process(tmp_path: Path) -> None:
    ran, profile = recorded(tmp_path, [sys.executable, "-c", BOTH, wheels_of("2023")])
    assert (ran.code, ran.err) == (0, "")
    assert versions_in(profile) == {"1.12.2, 1.14.2"}
    assert "HDF5 1.12.2 (in 1 process) is older" in profile["origin"]["notes"][0]
    assert [Path(file["path"]).name for file in profile["files"]] == ["new.h5"]
    assert len(file_of(profile, "new.h5")["datasets"]) == 3
    with h5py.File(tmp_path / "run" / "old.h5") as f:
        assert f["d2"][99] == 99


def versions_in(profile: Any) -> set[str]:
    """Of its processes with HDF5; PyTables starts others, which ask for the processor."""
    processes = profile["run"]["processes"]
    return {one["hdf5_version"] for one in processes if "hdf5_version" in one}
