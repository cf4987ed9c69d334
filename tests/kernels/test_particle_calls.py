# SPDX-License-Identifier: Apache-2.0
"""Interleaved particles are written by h5bench's own calls: what is seen below HDF5 is the same
for `bench/kernels/classic.cpp`, which makes these calls and knows nothing of ours."""

import json
from pathlib import Path

import pytest
from seism_tool import BUILD, MPIEXEC
from tailrace_cli import tailrace

PARTICLES, STEPS = 100_000, 2  # 3.2 MB per rank and step: not a multiple of HDF5's buffer of 1 MiB
BUFFERS = -(-PARTICLES * 32 // 2**20)
KINDS = ("independent", "collective")


def below_hdf5(folder: Path, name: str, *program):
    """How often a file was written and read through MPI-IO, and the bytes written. How many are
    read hangs on the time: behind the end of the file, which the other rank moves, are none."""
    profile = folder / "profile.json"
    command = [*MPIEXEC, "-n", "2", *program]
    tailrace("profile", "-o", profile, "--", *command, cwd=folder).expect(0)
    files = {Path(one["path"]).name: one for one in json.loads(profile.read_text())["files"]}
    found = files[name]["mpiio"]
    calls = {way: {kind: found[way][kind] for kind in KINDS} for way in ("writes", "reads")}
    return calls, found["writes"]["bytes"]


@pytest.mark.parametrize("collective", [False, True])
def test_as_many_calls_as_h5bench(tmp_path: Path, collective: bool) -> None:
    mode = "T" if collective else "F"
    theirs = below_hdf5(
        tmp_path, "theirs.h5", BUILD / "bench/tailrace_bench_classic",
        "particle", PARTICLES, STEPS, mode, 0, tmp_path / "theirs.h5",
    )  # fmt: skip
    ours = below_hdf5(
        tmp_path, "ours.h5.part", BUILD / "bin/tailrace-particle", "file_pattern=interleaved",
        f"dim_1={PARTICLES}", f"timesteps={STEPS}", "filename=ours.h5",
        f"collective_data={'yes' if collective else 'no'}",
    )  # fmt: skip
    assert ours == theirs
    assert sum(ours[0]["writes"].values()) >= 2 * STEPS * 8 * BUFFERS, "they are counted"
