# SPDX-License-Identifier: Apache-2.0
"""Reading results files: what is kept, what is counted, what is refused; groups and selections."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
from records import MIB, a_record, a_run, written
from tailrace_cli import SOURCE

import tailrace
from tailrace.errors import ExitCode, TailraceError
from tailrace.report.read import read_selected
from tailrace.results import Selection, group, read_results


def test_the_records_of_these_tests_fit_the_schema() -> None:
    schema = json.loads((SOURCE / "schemas" / "record-1.schema.json").read_text())
    for record in (a_record(), a_record(failed=True)):
        jsonschema.validate(record, schema)


def test_figures_and_the_whole_record(tmp_path: Path) -> None:
    file = written(tmp_path / "r.jsonl", ["", *a_run([0.5, 0.25])])
    found = read_results([file])
    warm_up, first, second = found.records
    assert [one.line for one in found.records] == [2, 3, 4]
    assert warm_up.warm_up and not warm_up.timed
    assert first.timed and first.durable_s == 0.5 and first.logical_bytes == 64 * MIB
    assert second.durable_bytes_per_s == 256 * MIB and second.where == f"{file}:4"
    assert first.ranks_that_wrote == 4 and first.calls == 16 and first.largest_bytes == 4 * MIB
    phases = {name: mean for name, _, mean, _ in first.phases()}
    assert phases == pytest.approx({"create": 0.05, "write": 0.25, "sync": 0.175, "close": 0.025})
    assert second.full() == json.loads(file.read_text().splitlines()[3])
    assert first.settings is second.settings


def test_lines_that_are_no_record_are_kept_apart_and_counted(tmp_path: Path) -> None:
    whole = json.dumps(a_record())
    lines = [whole, "", whole[:700], "[1, 2]", '{"schema": "tailrace-bench/1"}', '{"a": NaN}']
    file = written(tmp_path / "r.jsonl", [*lines, '{"schema": "tailrace-record/1"}', "  ", whole])
    with file.open("a") as stream:
        stream.write(whole[:100])  # cut off while it was written
    found = read_results([file])
    assert [record.line for record in found.records] == [1, 9]
    problems = found.problems.by_kind
    assert {kind: one.count for kind, one in problems.items()} == {
        "empty": 2, "damaged": 3, "other": 2, "incomplete": 1
    }  # fmt: skip
    assert problems["damaged"].first == [f"{file}:3", f"{file}:6", f"{file}:10"]
    assert found.problems.count == 8
    assert f"2 empty lines are left out: {file}:2, {file}:8" in found.problems.texts()


def test_a_line_without_end_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.results.read._longest_line", 1 << 16)
    file = written(tmp_path / "r.jsonl", ["x" * 3_000_000, a_record()])
    found = read_results([file])
    assert found.records[0].line == 2 and found.records[0].full()["kernel"] == "seism"
    assert found.problems.by_kind["too_long"].first == [f"{file}:1"]


def test_a_file_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    file = written(tmp_path / "r.jsonl", a_run([0.5, 0.25]))
    link = tmp_path / "link.jsonl"
    link.symlink_to(file)
    found = read_results([link, file, tmp_path / "." / "r.jsonl"])
    assert len(found.records) == 3 and found.sources == [link]
    whole, part = str(file), f"{link}::repetition=1"
    assert len(read_selected([part, whole]).records) == 3
    assert len(read_selected([part, f"{whole}::repetition=2"]).records) == 2


def test_a_newer_schema_is_an_error_with_its_place(tmp_path: Path) -> None:
    newer = a_record() | {"schema": "tailrace-record/2"}
    file = written(tmp_path / "r.jsonl", [a_record(), newer])
    with pytest.raises(TailraceError, match="tailrace-record/2, written by a newer") as caught:
        read_results([file])
    assert caught.value.where == f"{file}:2" and "update" in caught.value.hint
    assert caught.value.code == ExitCode.USAGE


def test_files_that_hold_nothing(tmp_path: Path) -> None:
    empty = written(tmp_path / "empty.jsonl", [])
    with pytest.raises(TailraceError, match="there is no Record"):
        read_results([empty])
    with pytest.raises(TailraceError, match="1 damaged or truncated line"):
        read_results([written(tmp_path / "bad.jsonl", ["{"])])
    with pytest.raises(TailraceError, match="No such file"):
        read_results([tmp_path / "absent.jsonl"])
    with pytest.raises(TailraceError, match="no regular file"):
        read_results([tmp_path])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TailraceError, match="no regular file"):
        read_results([tmp_path / "pipe"])


def test_a_file_that_was_written_anew_is_noticed(tmp_path: Path) -> None:
    file = written(tmp_path / "r.jsonl", [a_record()])
    record = read_results([file]).records[0]
    written(file, [a_record(run="another")])
    with pytest.raises(TailraceError, match="has changed"):
        record.full()


def test_groups_of_equal_settings(tmp_path: Path) -> None:
    lines = [
        *a_run([0.5], run="a"),
        *a_run([0.4], run="b", configuration={"collective_write": True, "filename": "b.h5"}),
        *a_run([0.6], run="c", configuration={"filename": "other.h5", "repeat": 9}),
        a_record(run="d", failed=True),
    ]
    found = read_results([written(tmp_path / "r.jsonl", lines)])
    one, other = group(found.records)
    assert one.runs == ["a", "c", "d"] and other.runs == ["b"]
    assert (one.name, other.name) == ("collective_write=false", "collective_write=true")
    assert one.values("durable_s") == [0.5, 0.6]
    assert len(one.warm_ups) == 2 and len(one.failed) == 1
    assert one.typical().run_id == "a"
    assert [g.name for g in group(found.records, by="run")] == [f"run {x}" for x in "abcd"]
    telling = [a_record(configuration={"alloc": k, "format": k}) for k in ("hdf5", "posix")]
    both = group(read_results([written(tmp_path / "t.jsonl", telling)]).records)
    assert [each.name for each in both] == ["format=hdf5", "format=posix"]
    assert group(one.records)[0].name == "seism hdf5 on 4 ranks"


def test_a_group_of_a_sweep_is_named_by_what_has_an_effect(tmp_path: Path) -> None:
    arms = [
        {"name": "collective=on format=hdf5", "default": True},
        {"name": "collective=on format=posix", "without": ["collective"]},
    ]
    lines = [
        a_record(configuration={"format": one["name"][20:], "collective_write": True},
                 arm={"comparison": "sweep-1", "round": 1, **one})
        for one in arms
    ]  # fmt: skip
    found = group(read_results([written(tmp_path / "r.jsonl", lines)]).records)
    assert [one.name for one in found] == ["collective=on format=hdf5 (default)", "format=posix"]


def test_the_commit_and_the_environment_tell_groups_apart(tmp_path: Path) -> None:
    lines = [
        a_record(),
        a_record(context={"commit": "fedcba987654"}),
        a_record(context={"environment": {"HDF5_COLL": "1", "SLURM_JOB_ID": "7"}}),
        a_record(context={"environment": {"SLURM_JOB_ID": "8"}, "load_1m": 3.0}),
    ]
    groups = group(read_results([written(tmp_path / "r.jsonl", lines)]).records)
    assert [len(one.records) for one in groups] == [2, 1, 1]
    assert len({one.name for one in groups}) == 3


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    return written(
        tmp_path / "r.jsonl",
        [
            *a_run([0.5, 0.5], run="one"),
            *a_run([0.4], run="two", configuration={"collective_write": True, "chunk": [8, 8, 8]}),
            *a_run([0.3], run="three", configuration={"hint": {"a": "1,2", "b": "3"}}),
        ],
    )


@pytest.mark.parametrize(
    ("conditions", "count"),
    [
        ("collective_write=false", 5),
        ("collective_write=yes", 2),
        ("chunk=8x8x8,format=hdf5", 2),
        ("chunk=none", 5),
        ("time=4.0", 7),
        ("run=tw", 2),
        ("host=node1,run=one,repetition=2", 1),
        ("hint=a=1,2;b=3", 2),
        ("started=2026-01-01T00:00:02", 1),
    ],
)
def test_selections(mixed: Path, conditions: str, count: int) -> None:
    assert len(Selection.parse(f"{mixed}::{conditions}").read().records) == count


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ("colective_write=true", ['key "colective_write"', 'Did you mean "collective_write"']),
        ("format=hdf4", ['Did you mean "hdf5"', "values of format there: hdf5"]),
        ("run=four", ["values of run there: one, two, three"]),
        ("run=one,collective_write=true", ["all together for none"]),
        ("nonsense", ['"nonsense" is no condition']),
        ("=5", ["is no condition"]),
    ],
)
def test_a_selection_of_nothing_says_why(mixed: Path, conditions: str, words: list[str]) -> None:
    with pytest.raises(TailraceError) as caught:
        Selection.parse(f"{mixed}::{conditions}").read()
    assert all(word in caught.value.text() for word in words), caught.value.text()


def test_a_file_whose_name_looks_like_a_selection(tmp_path: Path) -> None:
    file = written(tmp_path / "a::b=c.jsonl", [a_record()])
    assert Selection.parse(str(file)).read().records[0].source == file


def test_load_gives_a_table(mixed: Path) -> None:
    table = tailrace.load(mixed)
    assert len(table) == 7 and list(table["run_id"].unique()) == ["one", "two", "three"]
    timed = table[~table["warm_up"]]
    assert timed.groupby("run_id")["durable_s"].median()["one"] == 0.5
    assert timed["config.chunk"].tolist()[2] == "8x8x8"
    assert table["phase_write_mean_s"].iloc[1] == pytest.approx(0.25)
    assert table["durable_bytes_per_s"].iloc[1] == 128 * MIB
    assert table.attrs["problems"] == []
    page = (SOURCE / "docs" / "user" / "results.md").read_text()
    named = [c for c in table.columns if not c.startswith(("config.", "phase_", "limit_"))]
    assert [name for name in named if f"`{name}`" not in page] == []


def test_the_limit_stands_beside_the_figures(tmp_path: Path) -> None:
    arm = {"bytes": 8, "elapsed_s": 1.0, "against": "write", "ratio": 0.5, "error": None}
    arms = {"shared_file": arm | {"rate_bytes_per_s": 8.0},
            "mpi_io": arm | {"rate_bytes_per_s": None}}  # fmt: skip
    limited = a_record(limit={"order": ["kernel", "shared_file", "mpi_io"], "arms": arms})
    file = written(tmp_path / "r.jsonl", [limited, a_record(limit=None), a_record()])
    assert [one.limits() for one in read_results([file]).records] == [{"shared_file": 8.0}, {}, {}]
    table = tailrace.load(file)
    assert table["limit_shared_file_bytes_per_s"][0] == 8.0
    assert table["limit_mpi_io_bytes_per_s"].isna().all()


def test_load_of_failed_records_has_no_figures(tmp_path: Path) -> None:
    table = tailrace.load([written(tmp_path / "r.jsonl", ["", a_record(failed=True)])])
    assert table["durable_s"].isna().all() and table["error"][0] == "no_space: disk is full"
    assert table.attrs["problems"][0]["kind"] == "empty"


def test_who_waits_hears_how_far_the_reading_is(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    line = json.dumps(a_record()) + "\n"
    file.write_text(line * 1200)
    heard: list[tuple[int, int]] = []
    read_results([file], done=lambda done, total: heard.append((done, total)))
    size = file.stat().st_size
    assert [total for _, total in heard] == [size, size]
    assert [done for done, _ in heard] == [499 * len(line), 999 * len(line)]
