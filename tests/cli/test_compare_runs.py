# SPDX-License-Identifier: Apache-2.0
"""`tailrace compare` of Records that the program has written itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from tailrace_cli import SOURCE, environment, tailrace

import tailrace as package

pytestmark = pytest.mark.mpi
GEOMETRY = ("processor=2x1x1", "domain=16x16x16", "time=3", "fill=position")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    for words in (["repeat=4"], ["repeat=4", "chunk=16x16x16", "collective_write"]):
        tailrace("run", "seism", *GEOMETRY, *words, "-q", cwd=folder).expect(0)
    tailrace("run", "seism", *GEOMETRY, "format=posix", "results=posix.jsonl", "repeat=4", "-q",
             cwd=folder).expect(0)  # fmt: skip
    return folder / "results.jsonl"


def test_two_parts_of_one_file(results: Path) -> None:
    sides = f"{results}::collective_write=false", f"{results}::collective_write=true"
    found = tailrace("compare", *sides, "--json").expect(0).json
    assert (found["a"]["repetitions"], found["b"]["repetitions"]) == (4, 4)
    assert found["a"]["warm_ups"] == 1 and found["comparison"]["interleaved"] is False
    assert found["comparison"]["verdict"] in {
        "no_difference_beyond_noise", "faster_or_drift", "slower_or_drift"
    }  # fmt: skip
    low, high = found["comparison"]["interval"]
    assert low <= found["comparison"]["ratio"] <= high
    keys = {one["key"] for one in found["configuration"]}
    assert keys == {"chunk", "collective_write"}
    assert "file layout" in {one["key"] for one in found["in_force"]}
    assert {one["key"] for one in found["context"]} <= {"load over one minute"}
    ran = tailrace("compare", *sides).expect(0)
    assert "not interleaved" in ran.out and "1 warm-up left out" in ran.out
    assert all(len(line) <= 80 or str(results) in line for line in ran.out.splitlines())


def test_two_files_and_the_table(results: Path) -> None:
    other = results.with_name("posix.jsonl")
    part = f"{results}::chunk=none"
    found = tailrace("compare", part, other, "--metric", "write", "--json").expect(0).json
    assert found["metric"] == "write"
    assert {"key": "format", "a": "hdf5", "b": "posix"} in found["configuration"]
    table = package.load([results, other])
    assert len(table) == 15 and set(table["format"]) == {"hdf5", "posix"}
    timed = table[~table["warm_up"]]
    assert (timed["durable_s"] > 0).all() and (timed["phase_write_mean_s"] > 0).all()
    median = timed[timed["format"] == "posix"]["write_bytes_per_s"].median()
    assert found["b"]["rates"]["write_bytes_per_s"]["median"] == pytest.approx(median)


def test_runs_of_equal_settings_are_one_group_whatever_the_launcher_left(results: Path) -> None:
    """Open MPI puts numbers of jobs and folders into the environment of every run."""
    from tailrace.results import group, read_results

    tailrace("run", "seism", *GEOMETRY, "repeat=1", "filename=again.h5", "results=again.jsonl",
             "-q", cwd=results.parent).expect(0)  # fmt: skip
    files = [results, results.with_name("again.jsonl")]
    groups = group(read_results(files).records)
    assert [len(one.runs) for one in groups] == [2, 1]


def test_runs_made_by_compare_itself(tmp_path: Path) -> None:
    """Compression of noise takes many times as long: a difference on every machine."""
    words = ["seism", "processor=2x1x1", "domain=64x64x32", "chunk=64x64x32", "time=12",
             "fill=position", "collective_write"]  # fmt: skip
    ran = tailrace(
        "compare", "--run", "", "deflate=9", "--json", "--", *words,
        cwd=tmp_path, timeout=450,
    ).expect(0)  # fmt: skip
    found = ran.json
    # In 1 of 32 cases A differs from A by chance, which ends it.
    assert found["comparison"]["verdict"] in {"slower", "no_verdict"}, ran.err
    assert found["pairs_by"] == "rounds" and found["comparison"]["pairs"] in {6, 10, 16}
    if found["comparison"]["verdict"] == "slower":
        assert found["comparison"]["ratio"] < 0.9 and found["a_against_a"]["pairs"] == 6
    assert [file.name for file in tmp_path.iterdir()] == ["results.jsonl"]
    schema = json.loads((SOURCE / "schemas" / "record-1.schema.json").read_text())
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    for record in records:
        jsonschema.validate(record, schema)
    assert {record["arm"]["name"] for record in records} >= {"A", "A1", "A2", "B"}


def test_an_interrupt_leaves_the_finished_rounds(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tailrace", "compare", "--run", "", "fsync=step", "--", "seism",
             *GEOMETRY]  # fmt: skip
    process = subprocess.Popen(words, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "pair 1 of" in line:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in err, err
    assert [file.name for file in tmp_path.iterdir()] == ["results.jsonl"], "folders are removed"
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert len(lines) >= 4 and all(json.loads(line)["arm"] for line in lines)
