# SPDX-License-Identifier: Apache-2.0
"""tailrace-seism whose disk fails while it reads its own file back: exit code 1 and a text that
names file, rank and bytes; the written file stays as it is. And what ended a run the hard way."""

import json
import os
import struct
import subprocess

import pytest
from mpi_programs import BUILD, MPIEXEC, mpi_components

RANKS = 4
STEPS, BLOCK = 3, 4 * 16 * 16

over_mpi_io = pytest.mark.parametrize("mpi_io", mpi_components(), ids=lambda pair: pair[0])


def seism(folder, mpi_io, *words, fault="", seconds=60):
    command = [*MPIEXEC, "-n", RANKS, BUILD / "bin/tailrace-seism"]
    command += ["processor=4x1x1", "domain=4x16x16", f"time={STEPS}", "filename=x.dat", *words]
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **mpi_io[1], "TAILRACE_FAULT": fault},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )


@over_mpi_io
@pytest.mark.parametrize("form", ["format=hdf5", "format=mpiio"])
@pytest.mark.parametrize("mode", [[], ["collective_write"]], ids=["independent", "collective"])
@pytest.mark.parametrize("after", ["verify", "read_back", "read=shuffled"])
@pytest.mark.parametrize("error", ["errno=EIO", "errno=EIO,short=8"])
def test_read_errors(tmp_path, mpi_io, form, mode, after, error):
    for rank in (0, RANKS - 1):
        if rank > 0 and mode:
            continue  # one rank reads for all
        fault = f"op=read,rank={rank},path=*/x.dat,phase=read,{error}"
        run = seism(tmp_path, mpi_io, form, *mode, after, "results=r.jsonl", fault=fault)
        assert run.returncode == 1, run.stdout + run.stderr
        for word in ("x.dat", "EIO", f"rank {rank}", "bytes asked", "hint:"):
            assert word in run.stderr, run.stderr
        assert "HDF5-DIAG" not in run.stderr
        record = json.loads((tmp_path / "r.jsonl").read_text().splitlines()[-1])
        assert record["status"] == "failed"
        assert record["error"]["code"] == "io"
        content = (tmp_path / "x.dat").read_bytes()
        for one in range(1, RANKS):
            assert content.count(struct.pack("<f", one) * BLOCK) == STEPS


@over_mpi_io
@pytest.mark.parametrize("form", ["format=hdf5", "format=mpiio"])
def test_a_hint_that_mpi_does_not_take(tmp_path, mpi_io, form):
    for hint, why in (
        ("k" * 400 + "=1", "its key has 400 characters"),
        ("key=" + "v" * 5000, "its value has 5000 characters"),
    ):
        run = seism(tmp_path, mpi_io, form, f"hint={hint}")
        assert run.returncode == 2, run.stderr
        assert why in run.stderr
        assert "hint: this MPI takes keys of 1 to" in run.stderr
        assert list(tmp_path.iterdir()) == []


@over_mpi_io
@pytest.mark.parametrize("form", ["format=hdf5", "format=mpiio"])
def test_collective_only_where_data_was_exchanged(tmp_path, mpi_io, form):
    if mpi_io[0] != "romio":
        return  # the hint is ROMIO's
    words = [form, "collective_write", "results=r.jsonl"]
    run = seism(tmp_path, mpi_io, *words, "hint=romio_cb_write=disable")
    assert run.returncode == 0, run.stderr
    run = seism(tmp_path, mpi_io, *words)
    assert run.returncode == 0, run.stderr
    without, exchanged = map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines())
    assert without["transfers"]["collective_actual"] is False
    assert without["transfers"]["no_collective_cause"] == "romio_cb_write=disable"
    assert exchanged["transfers"]["collective_actual"] is True
