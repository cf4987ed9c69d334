# SPDX-License-Identifier: Apache-2.0
"""Files that a program made, in logs that count no creates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_logs import SHARED, made_log, record

from tailrace.intent.darshan import read_darshan
from tailrace.intent.darshan_layers import mpiio, posix
from tailrace.intent.darshan_log import Record
from tailrace.intent.native_calls import intents_of

CREATE, READ_WRITE, READ_ONLY = 1, 8, 2
MIB = 1 << 20


@pytest.mark.parametrize(
    ("modes", "told"),
    [
        ([CREATE | READ_WRITE], True),
        ([READ_ONLY, CREATE | READ_WRITE], True),  # of several ranks
        ([READ_WRITE], False),
        ([0], None),  # opened by nobody
        ([CREATE | 64], None),  # no access: of an MPI that numbers them in another way
    ],
)
def test_the_mode_of_mpi_io(modes: list[int], told: bool | None) -> None:
    records = [Record(1, rank, {"MPIIO_MODE": mode, "MPIIO_INDEP_WRITES": 0}, {})
               for rank, mode in enumerate(modes)]  # fmt: skip
    assert mpiio(records, 4).get("create_mode") is told


def test_the_mode_of_a_system_call() -> None:
    def told(*modes: int) -> bool | None:
        records = [Record(1, rank, {"POSIX_MODE": mode}, {}) for rank, mode in enumerate(modes)]
        found: bool | None = posix(records).get("create_mode")
        return found

    assert told(0, 0o644) is True
    assert told(0) is False
    assert told(-1) is None


def striped_log(path: Path, mode: int) -> Path:
    """Four ranks write 2 GiB to one file of HDF5 on Lustre, and never read it."""
    layer = {"COLL_OPENS": 4, "COLL_WRITES": 400, "MODE": mode, "BYTES_WRITTEN": 2048 * MIB,
             "F_WRITE_START_TIMESTAMP": 1.0, "F_WRITE_END_TIMESTAMP": 5.0}  # fmt: skip
    records = {
        "MPI-IO": [record("MPI-IO", 7, SHARED, layer)],
        "H5F": [record("H5F", 7, SHARED, {"OPENS": 4, "USE_MPIIO": 1})],
    }
    return made_log(path, {7: "/scratch/f.h5"}, records, file_system="lustre")


def test_intents_say_it_with_what_it_rests_on(tmp_path: Path) -> None:
    log = striped_log(tmp_path / "a.darshan", CREATE | READ_WRITE)
    (profile,) = read_darshan([log])
    found = json.loads(intents_of([("a", json.dumps(profile))]))["files"]["/scratch/f.h5"]
    assert (found["created"]["value"], found["created"]["confidence"]) == ("yes", "high")
    assert found["created"]["evidence"][0] == {
        "name": "create_mode", "value": "yes", "unit": "", "from": "mpiio", "profile": 0,
    }  # fmt: skip


def test_opened_once_more_for_reading_what_was_written_is_still_new(tmp_path: Path) -> None:
    (profile,) = read_darshan([striped_log(tmp_path / "a.darshan", READ_ONLY)])

    def said() -> str:
        found = json.loads(intents_of([("a", json.dumps(profile))]))["files"]["/scratch/f.h5"]
        return f"{found['created']['value']}, {found['created']['confidence']}"

    layer = profile["files"][0]["mpiio"]
    assert layer["create_mode"] is False
    assert said() == "yes, medium"  # written, and HDF5 reads the begin of what it opens
    layer["reads"] = layer.pop("writes")
    assert said() == "no, medium"
