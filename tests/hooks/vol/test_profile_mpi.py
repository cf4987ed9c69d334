# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a program on four ranks."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest
from mpi_programs import MPIEXEC, programs
from profiled import dataset_of, file_of, profiled

PROGRAM = programs() / "vol_ranks"


@pytest.mark.parametrize("kind", ["alike", "uneven"])
def test_four_ranks(tmp_path: Path, kind: str) -> None:
    ran, profile = profiled(tmp_path, *MPIEXEC, "-n", "4", PROGRAM, "r.h5", kind)
    assert ran.code == 0, ran.err
    run = profile["run"]
    assert run["ranks"] == 4
    assert [process["rank"] for process in run["processes"]] == [0, 1, 2, 3]
    assert all(process["mpi_version"] for process in run["processes"])
    file = file_of(profile, "r.h5")
    hdf5 = file["hdf5"]
    assert (file["processes"], hdf5["driver"], hdf5["mpio"]) == ("0-3", "mpio", True)
    assert hdf5["communicator_size"] == 4
    assert hdf5["settings_of_program"] == {
        "alignment_bytes": 4096,
        "alignment_threshold_bytes": 1024,
    }
    assert hdf5["same_order"] is True
    assert hdf5["same_transfer_order"] is (kind == "alike")
    if kind == "uneven":
        assert [order["processes"] for order in hdf5["transfer_orders"]] == ["0-2", "3"]

    for name, actual in (("/collective", "collective"), ("/chunked", "chunk_collective")):
        dataset = dataset_of(profile, "r.h5", name)
        writes = dataset["writes"]
        assert (writes["calls"], writes["requested_collective"]) == (8, 8)
        assert writes["actual"][actual] == 8
        assert writes["actual"]["not_known"] == 0
        assert writes["bytes"] == 64 * 16 * 8 / 2
        assert writes["coverage"]["full"] is True
        assert writes["order"] == {
            "sequential": 0, "strided": 4, "random": 0, "repeated": 0, "step": [16, 0],
            "chunk_changes": 4 if name == "/chunked" else 0,
        }  # fmt: skip
        assert [share["first"]["start"] for share in writes["by_process"]] == [
            [0, 0], [4, 0], [8, 0], [12, 0],
        ]  # fmt: skip
        assert dataset["read_after_write"]["same_process"] is True
    alone = dataset_of(profile, "r.h5", "/independent")["writes"]
    assert alone["requested_independent"] == (8 if kind == "alike" else 9)
    assert alone["actual"]["independent"] == alone["requested_independent"]


def test_options_of_collective_transfers(tmp_path: Path) -> None:
    program = PROGRAM.with_name("vol_apply_transfers")
    ran, profile = profiled(tmp_path, *MPIEXEC, "-n", "4", program, "t.h5")
    assert ran.code == 0, ran.err
    # One of its datasets is written once with a list of the program's own.
    assert dataset_of(profile, "t.h5", "/linked")["settings_of_program"] == {"chunk_io": "multi_io"}
    assert "settings_of_program" not in dataset_of(profile, "t.h5", "/several")


@pytest.mark.parametrize("how", ["alone", "together"])
def test_ranks_that_read_metadata_together_look_for_no_names(tmp_path: Path, how: str) -> None:
    """Each would read as many links as its own clock lets it, and all read the same or nothing."""
    with h5py.File(tmp_path / "n.h5", "w") as file:
        for name in ("named", "0", "1", "2", "group/within"):
            file[name] = 1.0
        to = [file[name].ref for name in ("0", "1", "2", "group", "0")]
        file.create_dataset("refs", data=to, dtype=h5py.ref_dtype)
    program = PROGRAM.with_name("vol_references")
    ran, profile = profiled(tmp_path, *MPIEXEC, "-n", "2", program, "n.h5", how)
    assert ran.code == 0, ran.err
    named = {one["path"] for one in file_of(profile, "n.h5")["datasets"]}
    found = {"/0", "/1", "/2", "/group/within"} if how == "alone" else set()
    assert named == {"/named", "/refs"} | found
    of_each_rank = {} if how == "alone" else {"unnamed_of_ranks": 2 * 4}
    assert profile["origin"].get("dropped", {}) == of_each_rank
    reason = "the file has collective metadata reads" in str(profile["origin"].get("notes"))
    assert reason is (how == "together")
