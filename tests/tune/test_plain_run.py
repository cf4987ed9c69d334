# SPDX-License-Identifier: Apache-2.0
"""The default of the proofs, under connector and hooks, is held against one without."""

from __future__ import annotations

import sys
from pathlib import Path

from tailrace_cli import tailrace

from tailrace.tune import content, plain_run
from tailrace.tune.content import Result
from tailrace.tune.delivered_reads import Read
from tailrace.tune.loop import nothing_alike

NOTICES = """
import h5py, os
with h5py.File("out.h5", "w") as file:
    data = file.create_dataset("x", (3, 524288), "f8", chunks=(3, 524288), shuffle=True)
    for number in range(3):
        data[number] = number
    file.attrs["plain"] = "HDF5_VOL_CONNECTOR" not in os.environ
"""


def test_a_program_that_behaves_otherwise_under_the_connector_is_not_proven(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(NOTICES)
    words = ["--json", "--", sys.executable, "script.py"]
    found = tailrace("tune", *words, cwd=tmp_path, HDF5_VOL_CONNECTOR=None).expect(3).json
    assert found["verdict"] == "not_proven"
    assert "other files than with them: out.h5: /@plain" in found["reason"]
    assert found["kept"] is False


def result(folder: Path, name: str, files: dict[str, str], **more: object) -> Result:
    places = {}
    for file, text in files.items():
        places[file] = folder / name / file
        places[file].parent.mkdir(parents=True, exist_ok=True)
        places[file].write_text(text)
    reads: dict[str, Read] = {"a:x": Read(1, 8, "1", 0)} if more.get("reads") else {}
    return Result(places, (), str(more.get("prints", "")).encode(), 0, reads)


def test_copies_at_closes_are_known_only_with_the_hooks(tmp_path: Path) -> None:
    files = {"a": "1", "a (close 1)": "0"}
    one, two = (result(tmp_path, name, files) for name in ("one", "two"))
    known = content.by_itself(one, two)

    def found(name: str, files: dict[str, str]) -> list[str]:
        return plain_run.differences(one, result(tmp_path, name, files), known).with_ours

    assert found("plain", {"a": "1"}) == []
    assert found("other", {"a": "2"}) == ["a: has other bytes"]
    assert found("none", {}) == ["a: was not written"]
    assert found("more", {"a": "1", "b": "1"}) == ["b: is not written by default"]


def test_what_is_printed_counts_where_there_is_nothing_else(tmp_path: Path) -> None:
    one, two = (result(tmp_path, name, {}, prints="sum 3\n") for name in ("one", "two"))
    other = result(tmp_path, "other", {}, prints="sum 4\n")
    assert plain_run.differences(one, other, content.by_itself(one, two)).with_ours
    one, two = (result(tmp_path, name, {}, prints="1.0 s\n", reads=True) for name in ("one", "two"))
    assert plain_run.differences(one, other, content.by_itself(one, two)).with_ours == []


def test_names_that_differ_in_no_pattern_are_not_blamed_on_the_connector(tmp_path: Path) -> None:
    def run(name: str, word: str, text: str = "1") -> Result:
        return result(tmp_path, name, {"a": text, f"log-{word}": "x"})

    one, two = run("one", "amber"), run("two", "coral")
    known = content.by_itself(one, two)
    found = plain_run.differences(one, run("plain", "ivory"), known)
    assert (found.with_ours, found.names) == ([], ["log-ivory"])
    assert found.reason.startswith("names of its files differ from run to run, and log-ivory")
    assert "hooks" not in " ".join([found.reason, *found.notes])
    both = plain_run.differences(one, run("both", "jade", "2"), known)
    assert both.reason.endswith("other files than with them: a: has other bytes")


def test_names_with_a_uuid_fit_those_of_the_other_runs(tmp_path: Path) -> None:
    def run(name: str, tail: str) -> Result:
        part = f"part-6f9619ff-8b86-4d01-b42d-{tail}.h5"
        return result(tmp_path, name, {"log.txt": "1", part: "x"})

    one, two = run("one", "00cf4fc964ff"), run("two", "3a1b5c7d9e0f")
    known = content.by_itself(one, two)
    assert (known.names, known.files.keys()) == ([], {"log.txt", *one.files})
    assert plain_run.differences(one, run("plain", "ffffffffffff"), known).reason == ""


def test_names_with_a_time_are_the_reason_where_nothing_else_is_left(tmp_path: Path) -> None:
    times = (("120205", "120206"), ("120209", "120210"))
    one, two = (
        result(tmp_path, str(at), {f"run_20261124_{time}/out.h5": "1" for time in pair})
        for at, pair in enumerate(times)
    )
    known = content.by_itself(one, two)
    reason = nothing_alike(known, content.against_default(one, two, known))
    assert "other names in each run (run_20261124_*/out.h5)" in reason
