# SPDX-License-Identifier: Apache-2.0
"""A row of the table is of all files of its pattern: sums, or how many differ and how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_logs import made_log, record
from tailrace_cli import called

MIB = 1 << 20
Counters = dict[str, float]


def wrote(bytes_: int, **more: float) -> Counters:
    return {"OPENS": 1, "WRITES": 10, "BYTES_WRITTEN": bytes_, "MAX_BYTE_WRITTEN": bytes_ - 1,
            "F_WRITE_START_TIMESTAMP": 1.0, "F_WRITE_END_TIMESTAMP": 2.0, **more}  # fmt: skip


def read(bytes_: int, end: int) -> Counters:
    return {"OPENS": 1, "READS": 10, "BYTES_READ": bytes_, "MAX_BYTE_READ": end - 1,
            "F_READ_START_TIMESTAMP": 3.0, "F_READ_END_TIMESTAMP": 4.0}  # fmt: skip


NOTHING: Counters = {"OPENS": 1}


def row_of(folder: Path, *files: Counters) -> str:
    """The row of files that differ in their number only, each of a rank of its own."""
    names = {(n + 1) << 32: f"/data/part.{n}.dat" for n in range(len(files))}
    records = [record("POSIX", key, n, values)
               for n, (key, values) in enumerate(zip(names, files, strict=True))]  # fmt: skip
    log = made_log(folder / "a.darshan", names, {"POSIX": records}, ranks=len(files))
    out = called("intents", log).expect(0).out
    return " ".join(out.partition("File ")[2].split())


def test_one_empty_file_and_five_with_data(tmp_path: Path) -> None:
    row = row_of(tmp_path, NOTHING, *[wrote(20 * MIB)] * 5)
    assert "write-only (5), no-data (1): 100.0 MiB" in row
    assert "not known" not in row and "nothing moved" not in row


def test_most_move_nothing(tmp_path: Path) -> None:
    row = row_of(tmp_path, *[NOTHING] * 20, wrote(3 * MIB), wrote(4 * MIB))
    assert "no-data (20), write-only (2): 7.0 MiB" in row


def test_read_far_more_than_its_size(tmp_path: Path) -> None:
    row = row_of(tmp_path, read(512 * MIB, 859))
    assert "read-only: 859 bytes, 512.0 MiB read" in row


def test_some_are_written(tmp_path: Path) -> None:
    row = row_of(tmp_path, *[read(MIB, MIB)] * 3, wrote(2 * MIB))
    assert "read-only (3), write-only (1): 5.0 MiB, 2.0 MiB written, 3.0 MiB read" in row


@pytest.mark.parametrize("count", [1, 3])
def test_alike_they_are_said_once(tmp_path: Path, count: int) -> None:
    row = row_of(tmp_path, *[wrote(MIB)] * count)
    assert "write-only: " in row and "(" not in row.partition("write-only")[2]


def test_what_is_said_of_a_pattern_in_advice(tmp_path: Path) -> None:
    names = {1 << 32: "/data/part.0.dat", 2 << 32: "/data/part.1.dat"}
    records = [record("POSIX", 1 << 32, 0, NOTHING), record("POSIX", 2 << 32, 1, wrote(MIB))]
    log = made_log(tmp_path / "a.darshan", names, {"POSIX": records}, ranks=2)
    found: dict[str, Any] = called("advise", "--json", log).expect(0).json
    assert found["intents"][0]["why"] == (
        "output: written, not read by this run (1); opened without moving data (1)"
    )


def how_of(folder: Path, values: Counters) -> str:
    log = made_log(folder / "a.darshan", {1: "/a.dat"}, {"POSIX": [record("POSIX", 1, 0, values)]})
    (file,) = called("intents", "--json", log).expect(0).json["files"].values()
    how: str = file["words"]["how"]
    return how


def test_the_most_frequent_size_is_not_that_of_most_calls(tmp_path: Path) -> None:
    often = {"ACCESS1_ACCESS": 30, "ACCESS1_COUNT": 4}
    assert "most often 30 bytes at a time" in how_of(tmp_path, wrote(MIB, **often))
    assert "mostly 30 bytes at a time" in how_of(
        tmp_path, wrote(MIB, **often | {"ACCESS1_COUNT": 6})
    )


def test_one_transfer_of_each_dataset_is_not_one_of_the_file(tmp_path: Path) -> None:
    names = {1: "/a.h5", 2: "/a.h5:/x", 3: "/a.h5:/y"}
    once = {"OPENS": 1, "WRITES": 1, "BYTES_WRITTEN": 8, "DATASPACE_NDIMS": 1,
            "DATASPACE_NPOINTS": 1, "DATATYPE_SIZE": 8,
            "ACCESS1_ACCESS": 8, "ACCESS1_COUNT": 1}  # fmt: skip
    records = {"H5F": [record("H5F", 1, 0, {"OPENS": 1})],
               "H5D": [record("H5D", key, 0, once, 1) for key in (2, 3)]}  # fmt: skip
    log = made_log(tmp_path / "a.darshan", names, records)
    found = called("intents", "--json", log).expect(0).json
    assert "one transfer per process and dataset" in found["files"]["/a.h5"]["words"]["how"]
    assert {one["words"]["how"].rpartition(", ")[2] for one in found["datasets"].values()} == {
        "one transfer per process"
    }
    assert "per process and dataset" in " ".join(called("advise", log).expect(0).out.split())


def test_few_calls_of_one_of_several_processes(tmp_path: Path) -> None:
    """Rank 0 may write three pieces of a file that four have open."""
    three = {"OPENS": 4, "WRITES": 3, "BYTES_WRITTEN": 3 * MIB, "SEQ_WRITES": 2}
    for consecutive, word in ((2, "sequential"), (0, "one transfer per process")):
        values = three | {"CONSEC_WRITES": consecutive}
        log = made_log(tmp_path / "a.darshan", {1: "/x"},
                       {"POSIX": [record("POSIX", 1, -1, values)]})  # fmt: skip
        (file,) = called("intents", "--json", log).expect(0).json["files"].values()
        assert file["words"]["how"].endswith(word), file["words"]["how"]


def test_brackets_in_a_name_are_part_of_it(tmp_path: Path) -> None:
    """They are no markup of the table; "[/b]" alone would be an error."""
    names = {1: "/run[bold]/x", 2: "/y[/b]", 3: "/:warning:/z"}
    records = {"POSIX": [record("POSIX", key, 0, wrote(MIB)) for key in names]}
    out = called("intents", made_log(tmp_path / "a.darshan", names, records)).expect(0).out
    assert all(name in out for name in names.values()), out
