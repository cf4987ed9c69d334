# SPDX-License-Identifier: Apache-2.0
"""What is recorded of MPI-IO, held against programs whose calls are known."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from mpi_programs import BUILD, MPIEXEC, SANITIZERS, mpi_components, version_for_python  # noqa: E402
from own_namespace import not_run  # noqa: E402
from profiled import dataset_of, file_of, profiled, script  # noqa: E402
from tailrace_cli import called  # noqa: E402

from tailrace.intent.native_calls import intents_of  # noqa: E402

PROGRAM = BUILD / "tests" / "bin" / "mpiio_calls"
COMPONENTS = mpi_components()
OPEN_MPI = os.environ.get("TAILRACE_TEST_MPI") == "openmpi"


def run(
    folder: Path, what: str, environment: dict[str, str], *options: str, code: int = 0
) -> tuple[str, dict[str, Any]]:
    """What it printed on stderr, and the profile."""
    ran, profile = profiled(
        folder, *MPIEXEC, "-n", "4", PROGRAM, folder / "f", what, options=options,
        **SANITIZERS, **environment,
    )  # fmt: skip
    assert ran.code == code, ran.err
    return ran.err, profile


@pytest.mark.parametrize(("name", "environment"), COMPONENTS)
def test_every_class_of_call(tmp_path: Path, name: str, environment: dict[str, str]) -> None:
    open_mpi = os.environ.get("TAILRACE_TEST_MPI") == "openmpi"
    fewer = 2 * (open_mpi and name == "romio")  # it has no non-blocking collective calls
    _, profile = run(tmp_path, "fewer_calls" if fewer else "calls", environment)
    assert [process["rank"] for process in profile["run"]["processes"]] == [0, 1, 2, 3]
    assert all(process["mpi_version"] for process in profile["run"]["processes"])
    file = file_of(profile, "f")
    assert file["processes"] == "0-3"
    mpiio = file["mpiio"]
    large = not open_mpi  # MPI 4: one call more on each rank
    kinds = (
        "independent", "collective", "nonblocking", "split", "explicit_offset", "shared",
        "ordered", "nonblocking_collective", "failed", "bytes",
    )  # fmt: skip
    of_a_rank = [5, 4 + large, 5 - fewer, 3, 8 + large - fewer // 2, 2, 2, 2 - fewer, 0]
    of_a_rank.append(3759 + 5000 * large - 184 * fewer)
    assert [mpiio["writes"][kind] for kind in kinds] == [4 * count for count in of_a_rank]
    of_a_rank = [3, 3, 5 - fewer, 3, 5 - fewer // 2, 2, 2, 2 - fewer, 0, 2679 - 184 * fewer]
    assert [mpiio["reads"][kind] for kind in kinds] == [4 * count for count in of_a_rank]
    frequent = {one["bytes"]: one["calls"] for one in mpiio["writes"]["frequent"]}
    assert (frequent[40], frequent[1000]) == (12, 8)
    assert mpiio["writes"]["sizes"][0] == {
        "from_bytes": 0,
        "below_bytes": 101,
        "calls": 4 * (9 - fewer // 2),
    }
    assert sum(one["calls"] for one in mpiio["writes"]["sizes"]) == 4 * (17 + large - fewer)
    assert mpiio["reads"]["largest_bytes"] == 1000
    others = ("collective_opens", "views", "syncs", "set_sizes", "preallocations")
    assert [mpiio[key] for key in others] == [4, 12, 8, 4, 4]
    assert "independent_opens" in mpiio and mpiio["independent_opens"] == 0
    assert mpiio["communicator_size"] == 4
    assert mpiio["read_write_switches"] == 4 * (5 + large)
    assert mpiio["view_kinds"][0] == {
        "filetype": "vector", "etype_bytes": 1, "filetype_bytes": 64,
        "filetype_extent_bytes": 208, "displacement_bytes": 0, "calls": 8,
    }  # fmt: skip
    assert [kind["filetype"] for kind in mpiio["view_kinds"]] == ["vector", "basic"]
    for key in ("open", "close"):
        assert mpiio[key]["end_s"] >= mpiio[key]["start_s"]
    assert mpiio["writes"]["elapsed_s"] > 0
    assert mpiio.get("implementation") == (name.upper() if open_mpi else None)
    for rank in range(4):
        own = file_of(profile, f"f.{rank}")
        assert own["processes"] == str(rank)
        assert (own["mpiio"]["independent_opens"], own["mpiio"]["collective_opens"]) == (1, 0)
        assert (own["mpiio"]["writes"]["independent"], own["mpiio"]["writes"]["bytes"]) == (1, 7)


@pytest.mark.parametrize(("name", "environment"), COMPONENTS)
def test_hints_and_failures(tmp_path: Path, name: str, environment: dict[str, str]) -> None:
    _, profile = run(tmp_path, "hints", environment)
    mpiio = file_of(profile, "f")["mpiio"]
    assert mpiio["hints_given"] == {
        "cb_nodes": "2", "tailrace_no_such_hint": "x", "cb_buffer_size": "1048576",
    }  # fmt: skip
    # ROMIO takes one aggregator per node, unless `cb_config_list` says more; MPICH's tells so.
    assert mpiio["hints_in_force"]["cb_nodes"] == ("2" if OPEN_MPI else "1")
    if not OPEN_MPI:  # which tells only what it was given
        assert mpiio["hints_in_force"]["romio_ds_write"] == "automatic"
    assert mpiio["collective_opens"] == 8
    assert (mpiio["writes"]["collective"], mpiio["writes"]["failed"]) == (4, 4)
    assert mpiio["writes"]["bytes"] == 4
    assert [Path(file["path"]).name for file in profile["files"]] == ["f"]


@pytest.mark.parametrize(("name", "environment"), COMPONENTS)
def test_more_than_32_bits(tmp_path: Path, name: str, environment: dict[str, str]) -> None:
    """Writes of 5 GiB each, which /dev/null swallows: single ones and their sum are exact."""
    gib = 1 << 30
    command = (*MPIEXEC, "-n", "2", PROGRAM, "/dev/null", "large")
    ran, profile = profiled(tmp_path, *command, **SANITIZERS, **environment)
    assert ran.code == 0, ran.err
    mpiio = file_of(profile, "null")["mpiio"]
    writes = mpiio["writes"]
    assert (writes["independent"], writes["failed"], writes["bytes"]) == (4, 0, 20 * gib)
    assert (writes["frequent"], writes["largest_bytes"]) == (
        [{"bytes": 5 * gib, "calls": 4}], 5 * gib,
    )  # fmt: skip
    assert writes["sizes"] == [{"from_bytes": gib + 1, "calls": 4}]
    (view,) = mpiio["view_kinds"]
    assert (view["displacement_bytes"], view["filetype_extent_bytes"]) == (7 * gib, 5 * gib)
    assert (view["filetype_bytes"], view["calls"]) == (1, 2)


@pytest.mark.parametrize(("name", "environment"), COMPONENTS)
def test_reads_of_more_than_there_is(
    tmp_path: Path, name: str, environment: dict[str, str]
) -> None:
    """What came counts, whether the program has asked for it or not; what it is told stays."""
    _, profile = run(tmp_path, "short", environment)
    reads = file_of(profile, "f")["mpiio"]["reads"]
    assert (reads["independent"], reads["failed"]) == (4 * 5, 0)
    assert reads["bytes"] == 4 * (100 + 60 + 100 + 100)
    assert (reads["highest_byte"], reads["largest_bytes"]) == (99, 100)


@pytest.mark.parametrize(("name", "environment"), COMPONENTS)
def test_memory_that_cannot_be_read(tmp_path: Path, name: str, environment: dict[str, str]) -> None:
    """A write may be the header of a netCDF file: it is looked at without touching the memory."""
    command = (*MPIEXEC, "-n", "2", PROGRAM)
    plain = subprocess.run(
        [*command, tmp_path / "plain", "displaced"],
        env=os.environ | SANITIZERS | environment, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    ran, profile = profiled(
        tmp_path, *command, tmp_path / "f", "displaced", **SANITIZERS, **environment
    )
    assert (ran.code == 0) == (plain.returncode == 0), (ran.err, plain.stderr)
    assert (tmp_path / "f").read_bytes() == (tmp_path / "plain").read_bytes()
    file = file_of(profile, "f")
    assert file["mpiio"]["writes"]["independent"] >= 2
    assert "pnetcdf" not in file


def test_a_fork(tmp_path: Path) -> None:
    """A child that does nothing leaves nothing, and its parent goes on."""
    _, profile = run(tmp_path, "fork", COMPONENTS[0][1])
    assert len(profile["run"]["processes"]) == 4
    assert file_of(profile, "f")["mpiio"]["writes"]["collective"] == 8


def test_a_killed_rank(tmp_path: Path) -> None:
    """What it did until then is there."""
    error, profile = run(tmp_path, "kill", COMPONENTS[0][1], code=137 if OPEN_MPI else 9)
    mpiio = file_of(profile, "f")["mpiio"]
    assert len(profile["run"]["processes"]) == 4
    assert (mpiio["writes"]["collective"], mpiio["writes"]["bytes"]) == (4, 32)
    assert "close" not in mpiio
    assert "the profile holds what it did before" in error


def test_hdf5_above_mpi_io(tmp_path: Path) -> None:
    """Connector and hook note down the same file of the same process."""
    program = BUILD / "tests" / "bin" / "vol_ranks"
    ran, profile = profiled(tmp_path, *MPIEXEC, "-n", "4", program, "r.h5", "alike", **SANITIZERS)
    assert ran.code == 0, ran.err
    assert len(profile["run"]["processes"]) == 4
    assert all(process["hdf5_version"] for process in profile["run"]["processes"])
    assert [Path(file["path"]).name for file in profile["files"]] == ["r.h5"]
    file = file_of(profile, "r.h5")
    assert (file["processes"], file["hdf5"]["communicator_size"]) == ("0-3", 4)
    mpiio = file["mpiio"]
    assert mpiio["communicator_size"] == 4
    assert mpiio["collective_opens"] >= 4
    datasets = [dataset_of(profile, "r.h5", name) for name in ("/collective", "/independent")]
    assert mpiio["writes"]["collective"] >= datasets[0]["writes"]["calls"]
    assert mpiio["writes"]["bytes"] >= sum(one["writes"]["bytes"] for one in datasets)
    assert "posix" not in file


def test_only_what_is_asked_for(tmp_path: Path) -> None:
    program = BUILD / "tests" / "bin" / "vol_ranks"
    command = (*MPIEXEC, "-n", "2", program, "r.h5", "alike")
    _, profile = profiled(tmp_path, *command, options=("--layers", "hdf5"), **SANITIZERS)
    assert "mpiio" not in file_of(profile, "r.h5")
    _, profile = profiled(tmp_path, *command, options=("--layers", "mpiio"), **SANITIZERS)
    file = file_of(profile, "r.h5")
    assert "hdf5" not in file
    assert "datasets" not in file
    assert file["mpiio"]["collective_opens"] >= 2


def test_pnetcdf(tmp_path: Path) -> None:
    program = BUILD / "tests" / "bin" / "mpiio_pnetcdf"
    if not program.is_file():
        not_run("needs PnetCDF for this MPI")
    ran, profile = profiled(tmp_path, *MPIEXEC, "-n", "4", program, "p.nc", **SANITIZERS)
    assert ran.code == 0, ran.err
    file = file_of(profile, "p.nc")
    sizes = {"touched_bytes", "stored_bytes", "written_as_asked"}
    assert set(file) == sizes | {"writers", "path", "names", "processes", "mpiio", "pnetcdf"}
    assert file["names"] == ["p.nc"]
    assert file["pnetcdf"] == {"creates": 1, "redefinitions": 0}
    mpiio = file["mpiio"]
    assert (mpiio["communicator_size"], mpiio["collective_opens"]) == (4, 4)
    assert mpiio["writes"]["collective"] >= 8
    assert {"bytes": 8000, "calls": 8} in mpiio["writes"]["frequent"]
    assert mpiio["writes"]["bytes"] >= 2 * 4 * 8000


def test_a_header_that_grows(tmp_path: Path) -> None:
    """Which is what rule 49 is about."""
    program = BUILD / "tests" / "bin" / "mpiio_pnetcdf"
    if not program.is_file():
        not_run("needs PnetCDF for this MPI")
    command = (*MPIEXEC, "-n", "2", program, "p.nc", "3")
    ran, profile = profiled(tmp_path, *command, **SANITIZERS)
    assert ran.code == 0, ran.err
    assert file_of(profile, "p.nc")["pnetcdf"] == {"creates": 1, "redefinitions": 3}
    called("advise", str(tmp_path / "profile.json"), "-o", str(tmp_path / "plan.json")).expect(0)
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert [(one["name"], one["value"], one["because"]["rule"]) for one in plan["environment"]] == [
        ("PNETCDF_HINTS", "nc_header_align_size=65536", "49")
    ]


FROM_PYTHON = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
f = MPI.File.Open(comm, "m.dat", MPI.MODE_CREATE | MPI.MODE_WRONLY)
f.Write_at_all(comm.rank * 800, bytearray(800))
f.Close()
"""


def test_mpi4py(tmp_path: Path) -> None:
    """Python brings the MPI library in out of everybody's sight."""
    ran, profile = profiled(
        tmp_path, *MPIEXEC, "-n", "2", *script(tmp_path, FROM_PYTHON), **SANITIZERS
    )
    assert ran.code == 0, ran.err
    mpiio = file_of(profile, "m.dat")["mpiio"]
    # In a build for MPICH the wheel has found Open MPI: two programs of one rank.
    assert (mpiio["communicator_size"], mpiio["collective_opens"]) == (2 if OPEN_MPI else 1, 2)
    assert (mpiio["writes"]["collective"], mpiio["writes"]["bytes"]) == (2, 1600)
    assert mpiio["close"]["end_s"] > 0
    for process in profile["run"]["processes"]:
        assert process["mpi_version"] == version_for_python()


LARGE = """
import ctypes
from mpi4py import MPI
f = MPI.File.Open(MPI.COMM_SELF, "m.dat", MPI.MODE_CREATE | MPI.MODE_WRONLY)
word, data = ctypes.c_void_p, ctypes.create_string_buffer(8)
write = ctypes.CDLL(None).MPI_File_write_c
write.argtypes = word, word, ctypes.c_longlong, word, word
handle = lambda of: word.from_address(MPI._addressof(of))
print([write(handle(f), data, count, handle(MPI.BYTE), None) for count in (8, 1 << 31)])
f.Close()
"""


def test_large_counts_that_the_mpi_lacks(tmp_path: Path) -> None:
    """Who looks for them finds ours: what fits is written, the rest is MPI_ERR_COUNT."""
    if not OPEN_MPI:
        return  # MPICH has them
    ran, profile = profiled(tmp_path, *script(tmp_path, LARGE), **SANITIZERS)
    assert ran.code == 0, ran.err
    assert "[0, 2]" in ran.out
    assert (tmp_path / "m.dat").read_bytes() == bytes(8)
    writes = file_of(profile, "m.dat")["mpiio"]["writes"]
    assert (writes["independent"], writes["bytes"], writes["failed"]) == (1, 8, 1)


def test_an_mpi_that_is_not_known(tmp_path: Path) -> None:
    """Its handles go through whole, nothing is recorded, and that is said once. The library says
    which interface of an MPI it is."""
    program = BUILD / "tests" / "bin" / "mpiio_under_other_mpi"
    library = BUILD / "lib" / "libmpiio_other_mpi.so"
    shutil.copy(library, tmp_path / "libmpi_abi.so.0")
    for preloaded, told in (
        ({}, f"{library.name}, which the hook does not know"),
        (
            {"LD_PRELOAD": str(tmp_path / "libmpi_abi.so.0")},
            "libmpi_abi.so.0, MPI's standard interface, which the hook does not know: link",
        ),
    ):
        ran, profile = profiled(tmp_path, program, **SANITIZERS, **preloaded)
        assert ran.code == 0, ran.err
        said = f"MPI-IO is not recorded: the program's MPI is Other MPI 1.0 in {told}"
        assert ran.err.count(said) == 1, ran.err
        assert "files" not in profile


def test_another_tool_behind_ours(tmp_path: Path) -> None:
    """The user's own tool is called still, and no call counts twice."""
    tool = BUILD / "tests" / "bin" / "mpiio_tool.so"
    error, profile = run(tmp_path, "fork", {**COMPONENTS[0][1], "LD_PRELOAD": str(tool)})
    assert error.count("tool: 2 calls") == 4
    writes = file_of(profile, "f")["mpiio"]["writes"]
    assert (writes["collective"], writes["bytes"]) == (8, 64)


def statements(profile: dict[str, Any]) -> dict[str, Any]:
    """What the intents of the file `f` say, without the evidence."""
    text = intents_of([("profile.json", json.dumps(profile))])
    files = json.loads(text)["files"]
    (file,) = [files[path] for path in files if Path(path).name == "f"]
    said = {key: file[key]["value"] for key in ("type", "sharing_pattern", "collective")}
    return said | {"sizes": file["transfer_size_dist"], "bytes": file["volume"]}


def test_the_same_intents_as_from_darshan(tmp_path: Path) -> None:
    """The counters that Darshan has of this program, as the importer writes them, say the same."""
    _, profile = run(tmp_path, "fork", COMPONENTS[0][1])
    recorded = file_of(profile, "f")["mpiio"]["writes"]
    imported = {
        "schema": profile["schema"],
        "origin": {"kind": "darshan", "command": "", "version": "", "start": ""},
        "run": {"ranks": 4, "processes": [{"id": rank, "rank": rank} for rank in range(4)]},
        "files": [
            {
                "path": str(tmp_path / "f"),
                "processes": "0-3",
                "mpiio": {
                    "collective_opens": 4, "independent_opens": 0, "views": 0, "syncs": 0,
                    "communicator_size": 4,
                    "writes": {
                        "independent": 0, "collective": 8, "nonblocking": 0, "split": 0,
                        "bytes": 64, "elapsed_s": recorded["elapsed_s"],
                        "sizes": [{"from_bytes": 0, "below_bytes": 101, "calls": 8}],
                        "frequent": [{"bytes": 8, "calls": 8}],
                    },
                },
            }
        ],
    }  # fmt: skip
    expected = statements(imported)
    assert expected["collective"] == "requested"
    assert statements(profile) == expected
