# SPDX-License-Identifier: Apache-2.0
"""The proof of programs that read: what H5Dread gave them, of the default and with a plan."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from plans import plan, setting

from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune import content, delivered_reads
from tailrace.tune.content import ByItself, Report, Result
from tailrace.tune.delivered_reads import Read
from tailrace.tune.loop import nothing_alike
from tailrace.tune.measurement import Measured, Runner, Setting

READS = {"in.h5:/a": Read(3, 24, "01", 0), "in.h5:/b": Read(1, 8, "02", 0)}


def given(reads: dict[str, Read], stdout: bytes = b"", unseen: int = 0) -> Result:
    return Result({}, (), stdout, 0, reads, unseen)


def held(default: Result, again: Result, tuned: Result) -> tuple[ByItself, Report]:
    known = content.by_itself(default, again)
    return known, content.against_default(default, tuned, known)


def test_equal_reads_prove_a_program_that_writes_and_prints_nothing() -> None:
    _, report = held(given(READS), given(READS), given(dict(READS)))
    assert report.equal
    assert (report.datasets_read, report.reads_compared, report.read_bytes) == (2, 4, 32)
    assert report.what == "the values of 4 reads of 2 datasets (32 B)"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (Read(3, 24, "09", 0), "in.h5:/a: H5Dread gave other values, in 3 reads"),
        (
            Read(2, 16, "01", 0),
            "in.h5:/a: is read in another way: 2 reads, 16 B; by default 3 reads",
        ),
        (Read(3, 24, "01", 1), "in.h5:/a: is read in another way"),
        (None, "in.h5:/a: was not read"),
    ],
)
def test_each_other_read_is_a_difference(changed: Read | None, said: str) -> None:
    tuned = {"in.h5:/b": READS["in.h5:/b"]} | ({"in.h5:/a": changed} if changed else {})
    _, report = held(given(READS), given(READS), given(tuned))
    assert [one.startswith(said) for one in report.differences] == [True], report.differences
    assert (report.files, report.equal) == (["in.h5"], False)


def test_what_only_the_tuned_run_reads_is_a_difference() -> None:
    _, report = held(given(READS), given(READS), given({**READS, "in.h5:/c": Read(1, 1, "3", 0)}))
    assert report.differences == ["in.h5:/c: is not read by default"]


def test_what_is_read_otherwise_by_itself_is_left_out_by_name() -> None:
    again = {**READS, "in.h5:/b": Read(1, 8, "07", 0), "in.h5:/new": Read(1, 8, "07", 0)}
    known, report = held(given(READS), given(again), given({"in.h5:/a": READS["in.h5:/a"]}))
    assert known.names == ["values read from in.h5:/b", "values read from in.h5:/new"]
    assert report.equal
    assert report.datasets_read == 1


def test_what_was_not_looked_at_is_said_and_proves_nothing() -> None:
    lists = {"in.h5:/lists": Read(4, 0, "00", 4)}
    known, report = held(given(lists), given(lists), given(lists))
    assert (report.equal, report.nothing, report.datasets_read) == (False, True, 0)
    assert report.notes[0].startswith("not compared: 4 of 4 reads of in.h5:/lists (lists")
    assert "prints nothing" in nothing_alike(known, report)
    _, full = held(given(READS, unseen=1), given(READS), given(READS))
    assert "some datasets" in full.notes[0]


def test_reads_of_nothing_prove_nothing() -> None:
    empty = {"in.h5:/empty": Read(2, 0, "00", 0)}
    _, report = held(given(empty, b"2 s\n"), given(empty, b"2 s\n"), given(empty, b"0 s\n"))
    assert (report.datasets_read, report.printed_lines) == (0, 1)
    assert report.differences == ["standard output: line 1 is '0 s' and '2 s' by default"]


def test_what_is_printed_counts_where_no_read_was_looked_at() -> None:
    _, timed = held(given(READS, b"2 s\n"), given(READS, b"2 s\n"), given(READS, b"0 s\n"))
    assert timed.equal
    assert timed.notes == ["standard output: line 1 is '0 s' and '2 s' by default"]
    assert timed.printed_lines == 0
    _, only = held(given({}, b"2 s\n"), given({}, b"2 s\n"), given({}, b"0 s\n"))
    assert not only.equal


def test_reads_that_all_differ_by_themselves_have_nothing_in_common() -> None:
    other = {name: Read(read.calls, read.bytes, "ff", 0) for name, read in READS.items()}
    known, report = held(given(READS), given(other), given(READS))
    assert report.nothing
    assert "nothing in common" in nothing_alike(known, report)


SCRIPT = """
import h5py
with h5py.File("in.h5") as file:
    for row in range(4):
        file["rows"][row]
    file["lists"][:]
"""


def write(home: Path, **changed: Any) -> None:
    with h5py.File(home / "in.h5", "w") as file:
        rows = np.arange(4000.0).reshape(4, 1000)
        rows[3, 7] = changed.get("value", 0)
        file.create_dataset("rows", data=rows, chunks=(4, 1000), compression=1)
        file.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))[0] = [1, 2]


def test_a_run_of_the_proof_hashes_what_it_reads_and_a_timed_run_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAILRACE_DELIVERED", "1")  # of the user: no timed run hashes for it
    home, root = tmp_path / "home", tmp_path / "scratch"
    home.mkdir()
    write(home)
    (home / "read.py").write_text(SCRIPT)
    cache = plan((f"{home}/in.h5", "/rows", [setting("13", "chunk_cache_bytes", value=1 << 23)]))

    def ran(name: str, document: dict[str, Any] | None, keep: bool) -> Measured:
        ground = Scratch(home, root / name, survey(home, set()), set())
        ground.fill()
        command = Setting([sys.executable, "read.py"], home, root / name)
        measured = Runner(command, ground).run(name, document, 60, keep)
        assert measured.outcome.code == 0
        return measured

    default, tuned = ran("default", None, True), ran("tuned", cache, True)
    assert default.result is not None
    assert tuned.result is not None
    # The second: at the next open the dataset goes on with its cache.
    assert [line.became for line in tuned.lines] == ["applied", "applied"]
    assert default.lines == []
    assert default.result.reads["in.h5:/rows"].calls == 4
    known, report = held(default.result, default.result, tuned.result)
    assert report.equal, report.differences
    assert (report.reads_compared, report.read_bytes) == (4, 32000)
    assert report.notes[0].startswith("not compared: 1 of 1 read of in.h5:/lists")
    assert ran("timed", cache, False).delivered == []
    write(home, value=5)
    other = ran("changed", cache, True).result
    assert other is not None
    caught = content.against_default(default.result, other, known)
    assert caught.differences == ["in.h5:/rows: H5Dread gave other values, in 4 reads"]


@pytest.mark.parametrize("linked", [["in.h5"], ["data"]])
def test_a_plan_reaches_files_of_link(linked: list[str], tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "scratch"
    (home / "data").mkdir(parents=True)
    write(home)
    (home / "in.h5").rename(home / "data" / "in.h5")
    (home / "in.h5").symlink_to("data/in.h5")
    (home / "read.py").write_text(SCRIPT)
    cache = plan(
        (f"{home}/data/in.h5", "/rows", [setting("13", "chunk_cache_bytes", value=1 << 23)])
    )
    ground = Scratch(home, root, survey(home, set(), linked), set())
    ground.fill()
    runner = Runner(Setting([sys.executable, "read.py"], home, root), ground)
    lines = runner.run("tuned", cache, 60).lines
    assert {line.became for line in lines} == {"applied"}
    assert {place for line in lines for place in line.places} == {f"{home}/data/in.h5:/rows"}


def test_names_are_those_of_the_users_folder() -> None:
    noted = [{"file": "/scratch/run/a.h5", "dataset": "/x"}]
    assert delivered_reads.at_home(noted, [(Path("/scratch/run"), Path("/home"))]) == [
        {"file": "/home/a.h5", "dataset": "/x"}
    ]
