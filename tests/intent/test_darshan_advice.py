# SPDX-License-Identifier: Apache-2.0
"""Advice from logs of each kind that the public advisor knows, with the numbers of the log; and
what a log has that is not read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_logs import SHARED, made_log, record
from tailrace_cli import called

from tailrace.errors import TailraceError
from tailrace.intent.darshan import read_darshan

Json = dict[str, Any]
FILE = 7
MIB, GIB = 1 << 20, 1 << 30
Values = dict[str, float]


def advice(log: Path) -> dict[str, str]:
    plan: Json = called("advise", "--json", log).expect(0).json["plan"]
    return {one["because"]["rule"]: one["because"]["text"] for one in plan.get("advice", [])}


def log_of(folder: Path, **modules: Values) -> Path:
    """Of four ranks that share a file."""
    names = {"POSIX": "POSIX", "MPIIO": "MPI-IO", "H5F": "H5F", "H5D": "H5D"}
    records = {names[module]: [record(names[module], FILE, SHARED, values)]
               for module, values in modules.items() if module != "H5D"}  # fmt: skip
    known = {FILE: "/scratch/data.bin"}
    if "H5D" in modules:
        known[FILE + 1] = "/scratch/data.bin:/x"
        records["H5D"] = [record("H5D", FILE + 1, SHARED, modules["H5D"], FILE)]
    return made_log(folder / "a.darshan", known, records, file_system="lustre")


def reads(calls: int, bytes_: int, end: int, **more: float) -> Values:
    return {"OPENS": 4, "READS": calls, "BYTES_READ": bytes_, "MAX_BYTE_READ": end - 1,
            "SEQ_READS": calls, "F_READ_START_TIMESTAMP": 1.0, "F_READ_END_TIMESTAMP": 5.0,
            **more}  # fmt: skip


KINDS: dict[str, tuple[str, dict[str, Values], str]] = {
    "small": ("61", {"POSIX": reads(10**6, 10**6, 10**6, SIZE_READ_0_100=10**6)},
              "1000000 of 1000000 reads (100 %)"),
    "misaligned": ("63", {"POSIX": reads(2000, 2 * GIB, 2 * GIB, FILE_NOT_ALIGNED=1500,
                                         FILE_ALIGNMENT=MIB)}, "1500 of 2000 system calls"),
    "random": ("62", {"POSIX": reads(4000, 4 * GIB, 4 * GIB) | {"SEQ_READS": 1000}},
               "3000 of 4000 reads (75 %)"),
    "imbalance": ("60", {"POSIX": reads(400, 4 * GIB, 4 * GIB, FASTEST_RANK=1, SLOWEST_RANK=0,
                                        FASTEST_RANK_BYTES=GIB // 2, SLOWEST_RANK_BYTES=2 * GIB,
                                        F_FASTEST_RANK_TIME=1.0, F_SLOWEST_RANK_TIME=4.0)},
                  "rank 0 took 4 s for 2 GiB, rank 1 took 1 s for 512 MiB"),
    "no_collective": ("64", {"MPIIO": {"COLL_OPENS": 4, "INDEP_READS": 5000,
                                       "BYTES_READ": 5000 * 65536, "MODE": 2}},
                      "5000 calls of MPI-IO that read, by 4 ranks, are independent and 0 "
                      "collective, 64 KiB on average"),
    "metadata_time": ("65", {"POSIX": reads(400, MIB, MIB, F_META_TIME=12.0, F_READ_TIME=2.0)},
                      "3 s (30 % of the run) go into opens, closes, seeks and similar calls, 0.5 s "
                      "into data, of each of 4 processes, on average; it is opened 4 times"),
    "redundant_reads": ("66", {"POSIX": reads(400, 4 * GIB, GIB)},
                        "4 GiB are read of the first 1 GiB"),
    "opened_again": ("67", {"POSIX": reads(12000, MIB, MIB) | {"OPENS": 12000}},
                     "on average a process opens it 3000 times, and moves 87 bytes"),
    "small_below_datasets": ("61", {
        "H5F": {"OPENS": 4, "USE_MPIIO": 1},
        "H5D": {"OPENS": 4, "READS": 5000, "BYTES_READ": 5000 * 512, "DATASPACE_NDIMS": 1,
                "DATASPACE_NPOINTS": 640000, "DATATYPE_SIZE": 4},
        "POSIX": reads(5000, 5000 * 512, 5000 * 512, SIZE_READ_100_1K=5000),
        "MPIIO": {"COLL_OPENS": 4, "INDEP_READS": 5000, "COLL_READS": 4, "BYTES_READ": 5000 * 512,
                  "MODE": 2},
    }, "5000 of 5000 reads (100 %) have at most 1 MiB, 512 bytes on average"),
    "written_twice": ("68", {
        "H5F": {"OPENS": 4, "USE_MPIIO": 1},
        "H5D": {"OPENS": 4, "WRITES": 4, "BYTES_WRITTEN": 320 * MIB, "DATASPACE_NDIMS": 1,
                "DATASPACE_NPOINTS": 40 * MIB, "DATATYPE_SIZE": 8},
        "MPIIO": {"COLL_OPENS": 4, "INDEP_WRITES": 8, "BYTES_WRITTEN": 640 * MIB, "MODE": 9},
    }, "asked to write 320 MiB and wrote 640 MiB"),
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_is_said_with_its_numbers(tmp_path: Path, kind: str) -> None:
    rule, modules, text = KINDS[kind]
    found = advice(log_of(tmp_path, **modules))
    assert text in found.get(rule, ""), found


def many_files(folder: Path, files: int, of_rank: Callable[[int], int], **values: float) -> Path:
    """Of a file each record of a rank."""
    known = {number: f"/scratch/part_{chr(97 + number % 26)}.{number}" for number in range(files)}
    records = [record("POSIX", number, of_rank(number), values) for number in known]
    return made_log(folder / "many.darshan", known, {"POSIX": records}, file_system="lustre")


def test_small_calls_are_summed_over_the_files_of_a_run(tmp_path: Path) -> None:
    """None of the files has enough of them for rule 61."""
    small = {"OPENS": 1, "WRITES": 100, "BYTES_WRITTEN": 100 * 512, "SIZE_WRITE_100_1K": 100,
             "SEQ_WRITES": 100}  # fmt: skip
    found = advice(many_files(tmp_path, 300, lambda number: number % 4, **small))
    assert set(found) == {"69"}
    assert found["69"].startswith(
        "30000 of 30000 system calls that read or write (100 %) have at most 1 MiB, in 300 files; "
        "a call moves 512 bytes on average; the most in one file, 100, in /scratch/part_"
    )
    large = small | {"WRITES": 1000, "BYTES_WRITTEN": 900 * 8 * MIB, "SIZE_WRITE_4M_10M": 901,
                     "SIZE_WRITE_100_1K": 99, "SEQ_WRITES": 1000}  # fmt: skip
    assert advice(many_files(tmp_path, 300, lambda number: number % 4, **large)) == {}
    # Nine files of 110 calls are not worth a word.
    assert advice(many_files(tmp_path, 9, lambda number: 0, **small)) == {}


def test_blocks_of_a_mebibyte_are_not_small(tmp_path: Path) -> None:
    """Darshan counts them with what is below."""
    blocks = reads(4000, 4000 * MIB, 4000 * MIB, SIZE_READ_100K_1M=4000)
    said = {"ACCESS1_ACCESS": MIB, "ACCESS1_COUNT": 4000}
    assert advice(log_of(tmp_path, POSIX=blocks | said)) == {}
    less = {"ACCESS1_ACCESS": MIB // 2, "ACCESS1_COUNT": 4000}
    assert set(advice(log_of(tmp_path, POSIX=blocks | less))) == {"61"}


def test_time_in_metadata_is_summed_over_the_files_of_a_run(tmp_path: Path) -> None:
    times = {"OPENS": 1, "F_META_TIME": 0.02, "WRITES": 1, "F_WRITE_TIME": 0.01}
    found = advice(many_files(tmp_path, 400, lambda number: number % 4, **times))
    assert set(found) == {"70"}
    assert found["70"].startswith(
        "2 s (20 % of the run) go into opens, closes, seeks and similar calls, 1 s into data, by "
        "each of 4 processes, on average; 400 files are opened 400 times; the most for one "
        "file, 0.02 s of 8 s, for /scratch/part_"
    )
    # Rank 3 has its files all alone.
    found = advice(many_files(tmp_path, 120, lambda number: 3 if number < 117 else number - 117,
                              **times))  # fmt: skip
    assert "2.34 s (23 % of the run)" in found["70"]
    assert "by process 3 in files that it alone uses; 120 files are opened 120 times" in found["70"]
    slow = times | {"F_WRITE_TIME": 0.03}
    assert advice(many_files(tmp_path, 400, lambda number: number % 4, **slow)) == {}


def test_what_is_asked_for_already_is_no_advice(tmp_path: Path) -> None:
    """Of collective writes HDF5 itself makes independent calls, of descriptions or of parts."""
    written = {"OPENS": 4, "WRITES": 40, "BYTES_WRITTEN": 40 * MIB, "DATASPACE_NDIMS": 1,
               "DATASPACE_NPOINTS": 10 * MIB, "DATATYPE_SIZE": 4}  # fmt: skip
    below = {"COLL_OPENS": 4, "INDEP_READS": 5000, "COLL_WRITES": 40, "BYTES_READ": 5000 * 2096,
             "BYTES_WRITTEN": 40 * MIB, "MODE": 9}  # fmt: skip
    for asked, word in ((1, "asked for already"), (0, "transfer collectively")):
        log = log_of(tmp_path, H5F={"OPENS": 4, "USE_MPIIO": 1}, MPIIO=below,
                     H5D=written | {"USE_MPIIO_COLLECTIVE": asked})  # fmt: skip
        plan = called("advise", "--json", log).expect(0).json["plan"]
        (text,) = [one["text"] for one in plan["advice"] if one["because"]["rule"] == "64"]
        assert word in text, text


def test_nothing_is_said_of_large_calls_in_order(tmp_path: Path) -> None:
    plain = reads(400, 4 * GIB, 4 * GIB, FASTEST_RANK=1, SLOWEST_RANK=0, F_READ_TIME=8.0,
                  FASTEST_RANK_BYTES=GIB, SLOWEST_RANK_BYTES=GIB, F_META_TIME=1.0,
                  F_FASTEST_RANK_TIME=1.9, F_SLOWEST_RANK_TIME=2.0,
                  SIZE_READ_4M_10M=400)  # fmt: skip
    assert advice(log_of(tmp_path, POSIX=plain)) == {}


def test_modules_that_are_not_read_are_named(tmp_path: Path) -> None:
    """Whoever does all I/O through DAOS has not done none."""
    only = made_log(tmp_path / "dfs.darshan", {FILE: "/daos/x"},
                    {"DFS": [bytes(512)], "APMPI": [bytes(64)]})  # fmt: skip
    with pytest.raises(TailraceError) as caught:
        read_darshan([only])
    assert "not read: APMPI (times of MPI calls), DFS (files of DAOS)" in caught.value.text()
    both = made_log(tmp_path / "both.darshan", {FILE: "/x"},
                    {"POSIX": [record("POSIX", FILE, 0, {"OPENS": 1})],
                     "DAOS": [bytes(512)]})  # fmt: skip
    (profile,) = read_darshan([both])
    assert profile["origin"]["notes"] == ["not read: DAOS (objects of DAOS)"]
