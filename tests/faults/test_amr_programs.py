# SPDX-License-Identifier: Apache-2.0
"""tailrace-amr on a failing disk, and interrupted: all ranks end with the same verdict, and nothing
half-written has a name."""

import json
import os
import re
import shlex
import signal
import subprocess
import time

import pytest
from mpi_programs import BUILD, MPIEXEC, mpi_components
from own_namespace import unshare

RANKS = 4
RANK = "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"
MESH = ["ncells=24", "max_grid_size=8", "nlevs=2", "ncomp=2", "nppc=1"]
PNETCDF = os.environ["TAILRACE_TEST_PNETCDF"] not in {"", "FALSE", "OFF"}
SHARED = [*(["pnetcdf"] if PNETCDF else []), "hdf5", "netcdf4", "mpiio"]  # by MPI-IO
FORMATS = [*SHARED, "posix", "posix-per-rank", "native"]
FORMATS_AND_MPI_IO = [
    (form, mpi_io)
    for form in FORMATS
    for mpi_io in (mpi_components() if form in SHARED else mpi_components()[:1])
]
over_mpi_io = pytest.mark.parametrize("mpi_io", mpi_components(), ids=lambda pair: pair[0])


def command(words, folder, before=()):
    """Each rank's exit code goes to a file: the launcher would kill the others at the first."""
    codes = folder / "codes"
    codes.mkdir(exist_ok=True)
    tool = f'"$0" "$@"; echo $? > {shlex.quote(str(codes))}/{RANK}'
    program = BUILD / "bin/tailrace-amr"
    results = f"results={folder}/r.jsonl"
    command = [*before, *MPIEXEC, "-n", RANKS, "sh", "-c", tool, program, *MESH, *words, results]
    return [str(word) for word in command]


def run(folder, mpi_io, *words, fault="", before=()):
    """In folder/disk; a hang is a failure by the time that is given."""
    (folder / "disk").mkdir(exist_ok=True)
    done = subprocess.run(
        command(words, folder, before),
        cwd=folder / "disk",
        env={**os.environ, **mpi_io[1], "TAILRACE_FAULT": fault},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
    )
    assert "HDF5-DIAG" not in done.stderr
    return done.stderr


def parts(disk):
    """What is half-written. A lock may stay if the signal comes just when it is made: the next run
    takes it over."""
    return [path for path in disk.glob("*.part*") if path.suffix != ".lock"]


def codes(folder):
    return [int((folder / "codes" / str(rank)).read_text()) for rank in range(RANKS)]


def last_record(folder):
    return json.loads((folder / "r.jsonl").read_text().splitlines()[-1])


def names(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def alone(form):
    """That layout and no other."""
    return [f"format={form}", "outputs=native particles" if form == "native" else "outputs=shared"]


FILL = """mount -t tmpfs -o size=10m tailrace . && cd "$PWD" || exit 9
(while ! ls plt00001* >/dev/null 2>&1; do sleep 0.02; done
cat /dev/zero >filler 2>/dev/null) & filler=$!
"$0" "$@"
kill $filler 2>/dev/null
ls -A . > """


@pytest.mark.parametrize(
    ("form", "mpi_io"),
    FORMATS_AND_MPI_IO,
    ids=lambda one: one if isinstance(one, str) else one[0],
)
def test_a_disk_that_fills_in_mid_run(tmp_path, mpi_io, form):
    """Somebody takes all that is left as soon as the second file of a series is begun. The first
    stays, with all its parts; of the second nothing does."""
    before = [*unshare("-m"), "sh", "-c", FILL + shlex.quote(str(tmp_path / "left"))]
    # netCDF-4 takes its space when it defines: later there is nothing to miss.
    phase = "*" if form == "netcdf4" else "write"
    fault = f"op=write,path=*/plt00001*,phase={phase},times=1,delay_ms=300"
    words = [*alone(form), "steps=2", "reserve=off"]
    err = run(tmp_path, mpi_io, *words, fault=fault, before=before)
    assert codes(tmp_path) == [1] * RANKS, err
    assert len(re.findall("^tailrace: error: .*plt00001", err, re.M)) == 1, err
    left = (tmp_path / "left").read_text().split()
    assert "filler" in left and len(left) > 1
    assert all(name.startswith("plt00000") for name in left if name != "filler"), left
    record = last_record(tmp_path)
    assert record["status"] == "failed" and record["error"]["code"] == "no_space"


SMALL = f'mount -t tmpfs -o size={700 << 10} tailrace . && cd "$PWD" || exit 9\n'


def small_disk(script, folder):
    listing = f'"$0" "$@"; ls -A . > {shlex.quote(str(folder / "left"))}'
    return [*unshare("-m"), "sh", "-c", SMALL + script + listing]


@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["run", "dry"])
def test_a_disk_that_is_too_small_for_a_series(tmp_path, more):
    """Space is looked for before the first file, for all."""
    before = small_disk("", tmp_path)
    err = run(tmp_path, mpi_components()[0], *alone("hdf5"), "steps=3", *more, before=before)
    assert codes(tmp_path) == [2] * RANKS, err
    assert re.search("plt00000.h5: too little disk space: [0-9]+ bytes needed for 3 files", err)
    fits = int(re.search(r"\bncells (\d+) would fit", err)[1])
    assert (tmp_path / "left").read_text() == "" and not (tmp_path / "r.jsonl").exists()
    words = [*alone("hdf5"), "steps=3", f"ncells={fits}"]
    run(tmp_path, mpi_components()[0], *words, before=small_disk("", tmp_path))
    assert codes(tmp_path) == [0] * RANKS and fits > 12


def test_a_second_file_that_finds_no_space(tmp_path):
    """After the first has its name that is no usage error. An older one was not counted."""
    before = small_disk("echo older > plt00001.h5\n", tmp_path)
    err = run(tmp_path, mpi_components()[0], *alone("hdf5"), "steps=2", before=before)
    assert codes(tmp_path) == [1] * RANKS, err
    assert "plt00001.h5: too little disk space" in err, err
    assert (tmp_path / "left").read_text().split() == ["plt00000.h5", "plt00001.h5"]
    assert last_record(tmp_path)["error"]["code"] == "no_space"


# Which call fails of the native folder, and on whose file.
FAILURES = [
    ("write", "*/Cell_D_00002*", 2), ("write", "*/DATA_00000*", 0), ("write", "*/Cell_H*", 0),
    ("write", "*/Header*", 0), ("close", "*/Cell_D_00003*", 3), ("fsync", "*/DATA_00001*", 1),
    ("fsync", "*/Cell_D_00003*", 3), ("open", "*/DATA_00002*", 2), ("rename", "*plt00000*", 0),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "path", "rank"), FAILURES)
def test_one_rank_s_file_of_the_folder(tmp_path, operation, path, rank):
    """The older folder stays as it was."""
    mpi_io = mpi_components()[0]
    disk = tmp_path / "disk"
    (disk / "plt00000").mkdir(parents=True)
    (disk / "plt00000/Header").write_text("older")
    before = names(disk)
    fault = f"op={operation},path={path},rank={rank},errno=EIO"
    err = run(tmp_path, mpi_io, *alone("native"), fault=fault)
    assert codes(tmp_path) == [1] * RANKS, err
    assert err.count("tailrace: error:") == 1 and "plt00000" in err and "EIO" in err, err
    assert f"rank {rank} of {RANKS}" in err, err
    assert names(disk) == before and (disk / "plt00000/Header").read_text() == "older"
    record = last_record(tmp_path)
    assert record["status"] == "failed" and record["error"]["code"] == "io"


@over_mpi_io
@pytest.mark.parametrize("form", SHARED)
def test_the_shared_file_fails_before_the_folder(tmp_path, mpi_io, form):
    fault = "op=write,path=*/plt00000.*,phase=write,short=100,errno=ENOSPC"
    err = run(tmp_path, mpi_io, f"format={form}", fault=fault)
    assert codes(tmp_path) == [1] * RANKS, err
    assert err.count("tailrace: error:") == 1 and "hint:" in err, err
    assert names(tmp_path / "disk") == []
    assert last_record(tmp_path)["error"]["code"] == "no_space"


@pytest.mark.parametrize("after", ["verify=1", "read_back=1", "read=region", "read=other"])
@pytest.mark.parametrize("rank", [0, 1])
def test_one_rank_cannot_read_the_folder(tmp_path, after, rank):
    """What was written stays."""
    fault = f"op=read,path=*/Cell_D_*,rank={rank},errno=EIO"
    err = run(tmp_path, mpi_components()[0], *alone("native"), after, fault=fault)
    assert codes(tmp_path) == [1] * RANKS, err
    assert err.count("tailrace: error:") == 1 and f"rank {rank} of {RANKS}" in err, err
    assert "Cell_D_" in err and "EIO" in err, err
    assert (tmp_path / "disk/plt00000/particle0/Header").exists()
    record = last_record(tmp_path)
    assert record["status"] == "failed" and record["error"]["code"] == "io"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["int", "term"])
@pytest.mark.parametrize("form", [SHARED[0], "posix-per-rank", "native"])
def test_interrupted_in_mid_run(tmp_path, form, how):
    """Between the first and the second file of a series, in the emulated computation, and while the
    second is there as an unfinished one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    words = [*alone(form), "steps=1000", "compute=0.02 idle"]
    process = subprocess.Popen(
        command(words, tmp_path),
        cwd=disk,
        env={**os.environ, "TAILRACE_FAULT": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    until = time.monotonic() + 30
    while not list(disk.glob("plt00001*")) and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(how)
    try:
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode != 0, err
    assert list(disk.glob("plt00000*")), err
    until = time.monotonic() + 10  # for those who clean up after a killed rank
    while parts(disk) and time.monotonic() < until:
        time.sleep(0.05)
    assert not parts(disk), names(disk)
