# SPDX-License-Identifier: Apache-2.0
"""Whole programs on a failing disk: one that counts its system calls, on a disk that is really
full, and one that does not, where the libraries are as they are. Each rank's end is recorded."""

import os
import shlex
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from mpi_programs import BUILD, MPIEXEC, PRELOAD, SANITIZERS, mpi_components
from own_namespace import unshare

RANKS = 4

# What a program without held errors cannot be kept from: HDF5 or MPI-IO itself waits for ranks that
# have left with an error, before we hear of it (docs/developer/hdf5_failures.md).
MAY_HANG = {
    ("ompio", "define", "collective"),
    ("ompio", "write", "collective"),
    ("romio", "define", "collective"),
    ("romio", "define", "independent"),
    ("romio", "write", "collective"),
}


def launch(program, folder, words, environment, seconds, before=()):
    """Runs the program on all ranks; returns None after a hang, else what each rank wrote."""
    outcomes = folder / "outcomes"
    outcomes.mkdir()
    command = [*before, *MPIEXEC, "-n", RANKS, BUILD / "tests/bin" / program]
    command += [folder / "disk/f.h5", outcomes, *words]
    # Of two that Open MPI starts in one folder the first to end takes it from the other.
    clean = {"TAILRACE_FAULT": "", "TMPDIR": tempfile.mkdtemp()}
    process = subprocess.Popen(
        [str(word) for word in command],
        env=os.environ | SANITIZERS | clean | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()  # mpiexec passes it on and cleans up
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return None
    assert "HDF5-DIAG" not in output
    ends = [(outcomes / f"rank.{rank}").read_text().split() for rank in range(RANKS)]
    print(words, environment.get("TAILRACE_FAULT"), process.returncode, ends)
    return ends


def check_ends(ends, folder, codes):
    assert {end[0] for end in ends} <= codes, "every rank has an Error"
    assert len({end[0] for end in ends}) == 1, "and all have the same"
    assert all(end[1:] == ["finalized"] for end in ends), "and all got through MPI_Finalize"
    assert list((folder / "disk").iterdir()) == [], "and nothing is left"


def environment_of(mpi_io, who):
    rank = {"all": "", "first": ",rank=0", "last": f",rank={RANKS - 1}"}[who]
    return {
        **mpi_io[1],
        "LD_PRELOAD": str(PRELOAD),
        "TAILRACE_FAULT": f"op=write,path=*/f.h5.part,errno=ENOSPC{rank}",
    }


@pytest.mark.parametrize("mode", ["collective", "independent"])
@pytest.mark.parametrize("cell", ["create", "define", "write"])
@pytest.mark.parametrize("mpi_io", mpi_components(), ids=lambda pair: pair[0])
def test_without_counting(tmp_path, mpi_io, cell, mode):
    extra = {"create": ["fill", "precreate"], "define": ["fill"], "write": []}[cell]
    may_hang = (mpi_io[0], cell, mode) in MAY_HANG

    def attempt(who):
        (tmp_path / who / "disk").mkdir(parents=True)
        environment, seconds = environment_of(mpi_io, who), 5 if may_hang else 60
        return launch("fault_writer", tmp_path / who, [mode, *extra], environment, seconds)

    # Nobody but the first rank writes in the first cell.
    everybody = ["all", "first"] if cell == "create" else ["all", "first", "last"]
    with ThreadPoolExecutor(3) as pool:  # side by side: a hang is waited for
        found = dict(zip(everybody, pool.map(attempt, everybody), strict=True))
    for who, ends in found.items():
        if ends is None:
            assert may_hang, "it hangs, and the documents do not say so"
            continue
        # One aggregator writes for all under OMPIO: a fault on another rank never comes to pass.
        if all(end[0] == "ok" for end in ends):
            assert (mode, who) == ("collective", "last") or cell == "define"
            continue
        check_ends(ends, tmp_path / who, {"no_space", "io"})


@pytest.mark.parametrize("mode", ["collective", "independent"])
@pytest.mark.parametrize(
    "words", [[], ["fill"], ["netcdf4"]], ids=["never_fill", "fill", "netcdf4"]
)
@pytest.mark.parametrize("mpi_io", mpi_components(), ids=lambda pair: pair[0])
def test_really_full_disk(tmp_path, mpi_io, mode, words):
    disk = tmp_path / "disk"
    disk.mkdir()
    # The launcher is started inside the new mount name space, and with it each rank; what is left
    # has to be looked at there, too.
    listing = tmp_path / "left"
    script = (
        f"mount -t tmpfs -o size=300k tailrace {shlex.quote(str(disk))} || exit 9\n"
        f'"$0" "$@"; code=$?; ls -A {shlex.quote(str(disk))} >{shlex.quote(str(listing))}; '
        "exit $code"
    )
    before = [*unshare("-m"), "sh", "-c", script]
    ends = launch("held_fault_writer", tmp_path, [mode, *words], mpi_io[1], 60, before)
    assert ends is not None, "hang"
    check_ends(ends, tmp_path, {"no_space"})
    assert listing.read_text() == "", "and nothing is left on the disk"
