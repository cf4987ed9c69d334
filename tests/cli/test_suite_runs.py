# SPDX-License-Identifier: Apache-2.0
"""A small suite, really run: interleaved, its Records kept, its table 80 columns wide."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_programs import need_both_mpi_io
from tailrace_cli import called

from tailrace.results import read_results
from tailrace.suite import table

CASES = """
[suite.small]
about = "for this test"
cases = ["seism", "slab", "gone", "bad"]
most_bytes = "64K"
[case.seism]
kernel = "seism"
source = "a book"
machine = "a machine"
year = 1999
ranks = 2
sizes = { time = [8, 1] }
bytes = [4, "ranks", "time", 16, 16, 16]
inputs = ["processor=2x1x1", "domain=16x16x16", "time={time}", "verify"]
figures = { write = 1.5, aggregate = 1.25 }
[case.slab]
kernel = "slab"
source = "a paper"
machine = "another"
ranks = 2
mpi_io = "romio"
sizes = { n1 = [1000, 100] }
bytes = [8, "n1", 8]
inputs = ["n1={n1}", "n2=8", "axis=long-slow", "precreate"]
figures = { open_to_close = 2.0 }
[case.gone]
kernel = "gone"
source = "a paper"
machine = "another"
ranks = 2
sizes = {}
bytes = [8]
inputs = []
[case.bad]
kernel = "bad"
source = "a paper"
machine = "another"
ranks = 1
sizes = {}
bytes = [8]
inputs = []
"""
# It likes its inputs, and fails when it runs.
BAD = '#!/bin/sh\n[ "$1" = --dry-run ] || exit 1\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cases.toml").write_text(CASES)
    monkeypatch.setattr(table, "file", tmp_path / "cases.toml")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "tailrace-bad"
    program.write_text(BAD)
    program.chmod(0o755)
    monkeypatch.setenv("TAILRACE_BIN", str(program.parent))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_published_case_is_taken_by_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_both_mpi_io()
    monkeypatch.chdir(tmp_path)
    for name in ("quick", "full", "cori-2018", "nersc-2019"):
        found = called("suite", name, "--dry-run", "--most-bytes", "1M", "--json").expect(0).json
        assert found["not_run"] == {}
        assert len(found["argv"]) == len(table.suites()[name].cases)
    assert list(tmp_path.iterdir()) == []


def test_a_suite_runs(place: Path) -> None:
    found = called("suite", "small", "--repeat", "2", "--json").expect(1).json
    rows = {(row["case"], row["figure"]): row for row in found["cases"]}
    assert list(rows) == [("seism", "write"), ("seism", "aggregate"), ("slab", "open_to_close"),
                          ("gone", "write"), ("bad", "write")]  # fmt: skip
    seism = rows["seism", "write"]
    assert seism["scaled_by"] == "bytes / 4" and "time=2" in seism["inputs"]
    assert seism["published_bytes_per_s"] == 1.5 * 2**20 and seism["year"] == 1999
    assert rows["slab", "open_to_close"]["scaled_by"] == "1"
    assert rows["gone", "write"]["not_run"] == "there is no program tailrace-gone here"
    assert rows["gone", "write"]["here"] is None
    assert rows["bad", "write"]["not_run"] == "it failed 2 times (exit code 1)"

    records = read_results([place / "results.jsonl"]).records
    arms = [(one.arm.round, one.arm.name) for one in records if one.arm]
    assert sorted(arms) == [(n, name) for n in (0, 1, 2) for name in ("seism", "slab")]
    assert [number for number, _ in arms] == [0, 0, 1, 1, 2, 2]
    measured = [one for one in records if one.kernel == "seism" and not one.warm_up]
    assert all(one.ok and one.logical_bytes == 65536 for one in measured)
    here = seism["here"]
    assert here["values_bytes_per_s"] == [one.write_bytes_per_s for one in measured]
    assert here["interval_bytes_per_s"] is None
    slab = [one for one in records if one.kernel == "slab" and not one.warm_up]
    spent = {name: longest for name, _, _, longest in slab[0].phases()}
    seconds = sum(spent[name] for name in ("open_file", "open_dataset", "write", "close"))
    rates = rows["slab", "open_to_close"]["here"]["values_bytes_per_s"]
    assert rates[0] == pytest.approx(64000 / seconds)
    assert rates[0] > (slab[0].aggregate_bytes_per_s or 0)  # the create is not in it
    assert sorted(path.name for path in place.iterdir()) == ["bin", "cases.toml", "results.jsonl"]

    (place / "bin" / "tailrace-bad").unlink()
    ran = called("suite", "small", "--repeat", "1", "--results", "other.jsonl").expect(0)
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert "not run: gone: there is no program tailrace-gone here" in ran.out
    assert "(a machine, 1999)" in ran.out and "(another)" in ran.out and "durable " in ran.out
    assert "1 repetition: too few for an interval" in ran.out
    assert "published (a machine): a book" in ran.out
