# SPDX-License-Identifier: Apache-2.0
"""tailrace-amr on a failing disk: each layout and both implementations of MPI-IO end on all ranks
with one verdict, in seconds; the older output stays, and nothing of the new one is left."""

import shutil
import signal
import subprocess
import time

import pytest
from seism_tool import BUILD, MPIEXEC, ROMIO, environment, good, run, seen

AMR = BUILD / "bin/tailrace-amr"
RANKS = 4
MESH = ["ncells=24", "max_grid_size=8", "nlevs=2", "ncomp=2", "nppc=1"]
MPI_IO = {"ompio": ("--mca", "io", "ompio"), "romio": ("--mca", "io", ROMIO)} if ROMIO else {"": ()}
LAYOUTS = {
    "pnetcdf": ["format=pnetcdf", "filename=plt00000.nc"],
    "pnetcdf independent": ["format=pnetcdf", "collective_write=0", "filename=plt00000.nc"],
    "hdf5": ["format=hdf5", "filename=plt00000.nc"],
    "hdf5 independent": ["format=hdf5", "collective_write=0", "filename=plt00000.nc"],
    "netcdf4": ["format=netcdf4", "filename=plt00000.nc"],
    "native": ["format=native", "outputs=native particles"],
}
FULL = "op=write,path=*/plt00000*,limit_bytes=20000"
FAULTS = {
    "full": FULL,
    "write": "op=write,path=*/plt00000*,phase=write,errno=EIO",
    "fsync": "op=fsync,path=*/plt00000*,errno=EIO",
    "close": "op=close,path=*/plt00000*,errno=EIO",
    "rename": "op=rename,path=*/plt00000*,errno=EIO",
}


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """A plot file of before, in both layouts."""
    folder = tmp_path_factory.mktemp("older")
    good(folder, 1, "ncells=8", "max_grid_size=8", "nlevs=1", "ncomp=1", "nppc=0", program=AMR)
    (folder / "results.jsonl").unlink()
    return folder


def old_outputs(older, folder):
    shutil.copytree(older, folder, dirs_exist_ok=True)
    return contents(folder)


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith((".code", "results"))
    }


CELLS = [
    (mpi, layout, fault)
    for mpi in MPI_IO
    for layout in LAYOUTS
    for fault in FAULTS
    if layout != "native" or mpi != "romio"  # no MPI-IO is in a folder
    if fault in ("full", "write") or (mpi != "romio" and "independent" not in layout)
]


@pytest.mark.parametrize(("mpi", "layout", "fault"), CELLS)
def test_a_failing_disk(older, tmp_path, mpi, layout, fault):
    before = old_outputs(older, tmp_path)
    words = [*MESH, *LAYOUTS[layout]]
    if layout != "native":
        words.append("outputs=shared")
    result = run(
        tmp_path, RANKS, *words, program=AMR, mpi=MPI_IO[mpi], env={"TAILRACE_FAULT": FAULTS[fault]}
    )
    assert result.code == 1 and result.codes == [1] * RANKS, result.err + result.out
    assert len(result.errors) == 1 and "plt00000" in result.err, result.err
    assert "Traceback" not in result.err and "HDF5-DIAG" not in result.err
    assert contents(tmp_path) == before
    assert [name for name in seen(tmp_path) if "part" in name or "lock" in name] == []
    assert result.records[-1]["status"] == "failed"


@pytest.mark.parametrize("rank", [0, RANKS - 1])
@pytest.mark.parametrize(
    "rule", ["op=open,path=*/Cell_D*", "op=write,path=*/Cell_H*", "op=write,path=*/DATA_0*",
             "op=fsync,path=*/Cell_D*", "op=ftruncate,path=*/Level_*"],
)  # fmt: skip
def test_one_rank_of_a_folder(older, tmp_path, rule, rank):
    """Its failure is that of all; a rank that has no such file cannot fail."""
    before = old_outputs(older, tmp_path)
    fault = {"TAILRACE_FAULT": f"{rule},errno=EIO,rank={rank}"}
    result = run(tmp_path, RANKS, *MESH, *LAYOUTS["native"], program=AMR, env=fault)
    if rank != 0 and "Cell_H" in rule:  # rank 0 writes the texts
        assert result.codes == [0] * RANKS
        return
    assert len(set(result.codes)) == 1 and result.codes[0] in (1, 2), result.err
    assert len(result.errors) == 1 and f"rank {rank}" in result.err
    assert contents(tmp_path) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("layout", ["pnetcdf", "native"])
def test_interrupts(older, tmp_path, layout, number):
    """In the middle of writing: the older output is there, and no part."""
    before = old_outputs(older, tmp_path)
    slow = {"TAILRACE_FAULT": "op=write,path=*/plt00000*,delay_ms=400"}
    words = [*MESH, *LAYOUTS[layout], f"outputs={'native' if layout == 'native' else 'shared'}"]
    process = subprocess.Popen(
        [*MPIEXEC, "-n", "2", str(AMR), *words], cwd=tmp_path, env=environment() | slow,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    end = time.monotonic() + 30
    while not any("part" in name for name in seen(tmp_path)):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode != 0
    end = time.monotonic() + 10  # for those who clean up after a killed rank
    while any("part" in name for name in seen(tmp_path)) and time.monotonic() < end:
        time.sleep(0.05)
    assert contents(tmp_path) == before
    assert [name for name in seen(tmp_path) if "part" in name] == []
