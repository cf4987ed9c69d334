# SPDX-License-Identifier: Apache-2.0
"""`tailrace compare --run` with a program of known rates in the place of a kernel."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from records import a_record, written
from tailrace_cli import SOURCE, Ran, called

from tailrace.compare import rounds
from tailrace.run import fresh

# Writes one Record per call. times.json holds the seconds per `fill`, one after the other; 0 is a
# failure. What it was called with goes to calls.txt.
_program = """#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
if "--dry-run" in words:
    print("fine") if "bad" not in " ".join(words) else sys.stderr.write("bad input\\n")
    sys.exit(2 if "bad" in " ".join(words) else 0)
settings = dict(word.partition("=")[::2] for word in words)
with (here / "calls.txt").open("a") as calls:
    calls.write(json.dumps(settings) + "\\n")
times = json.loads((here / "times.json").read_text())
time = times[settings["fill"]].pop(0)
(here / "times.json").write_text(json.dumps(times))
kind = "record" if time else "failed"
text = (here / (kind + ".json")).read_text().replace("777.0", repr(1 / time if time else 0.0))
text = text.replace("position", settings["fill"])
pathlib.Path(settings["results"]).write_text(text + "\\n")
pathlib.Path(settings["filename"]).write_text("data")
sys.exit(0 if time else 1)
"""


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program, a launcher that starts it once, and nobody else's rest."""
    program, launcher = tmp_path / "tailrace-seism", tmp_path / "mpiexec-one"
    program.write_text(_program.replace("{python}", sys.executable))
    launcher.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    for file in (program, launcher):
        file.chmod(0o755)
    record = a_record()
    record["rates"] = dict.fromkeys(record["rates"], 777.0)
    (tmp_path / "record.json").write_text(json.dumps(record))
    (tmp_path / "failed.json").write_text(json.dumps(a_record(failed=True)))
    monkeypatch.setenv("TAILRACE_BIN", str(tmp_path))
    monkeypatch.setattr(fresh, "settle", lambda: True)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def compare(stage: Path, a: list[float], b: list[float], *words: str) -> Ran:
    (stage / "times.json").write_text(json.dumps({"rank": a, "position": b}))
    return called(
        "compare", "--run", "fill=rank", "fill=position", "--json", "--launcher",
        str(stage / "mpiexec-one"), *words, "--", "seism", "processor=1x1x1", "fill=plugin",
    )  # fmt: skip


def calls(stage: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (stage / "calls.txt").read_text().splitlines()]


def noise(count: int) -> list[float]:
    """Times that go up and down in turns, by less than an effect: the order within the pairs is
    random, and six of one sign come by chance."""
    return [1 + 0.002 * (-1) ** k * (1 + k % 5) for k in range(count)]


def test_a_clear_difference_ends_at_six_pairs(stage: Path) -> None:
    ran = compare(stage, noise(19), [0.5 * time for time in noise(7)]).expect(0)
    found: Any = ran.json
    assert found["comparison"]["verdict"] == "faster" and found["comparison"]["pairs"] == 6
    assert found["pairs_by"] == "rounds" and found["a_against_a"]["pairs"] == 6
    assert (found["a"]["warm_ups"], found["b"]["warm_ups"]) == (1, 1)
    records = [json.loads(line) for line in Path("results.jsonl").read_text().splitlines()]
    arms = [(one["arm"]["name"], one["arm"]["round"]) for one in records]
    assert len(records) == 26 and {name for name, _ in arms} == {"A", "B", "A1", "A2"}
    assert arms[:2] == [("A", 0), ("B", 0)] and records[0]["warm_up"]
    assert {name for name, _ in arms[2:14]} == {"A1", "A2"}, "A against A comes first"
    assert sorted(arms[14:]) == sorted((name, k) for name in "AB" for k in range(1, 7))
    used = calls(stage)
    assert len({one["filename"] for one in used}) == 26, "a fresh folder for every run"
    assert all(one["fill"] != "plugin" for one in used), "an arm's own key replaces the common one"
    assert list(Path().iterdir()) == [Path("results.jsonl")], "the folders are gone"
    assert "A1 against A2, pair 6 of 6" in ran.err
    page = (SOURCE / "docs" / "user" / "compare.md").read_text()
    assert all(f"`{key}`" in page for key in found)
    again = called("compare", *(f"results.jsonl::arm={name}" for name in "AB"), "--json").json
    assert again["comparison"] == found["comparison"]


def test_without_a_difference_all_sixteen_pairs_are_run(stage: Path) -> None:
    found = compare(stage, noise(29), noise(17)).expect(0).json
    assert found["comparison"]["verdict"] == "no_difference_beyond_noise"
    assert found["comparison"]["pairs"] == 16


def test_where_a_differs_from_a_nothing_else_is_run(
    stage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In every round A1 first: then each second run of A is slower.
    monkeypatch.setattr(rounds.random.Random, "shuffle", lambda self, order: None)
    found = compare(stage, [1.0, *[1.0, 2.0] * 6], [0.5]).expect(0).json
    assert found["comparison"]["verdict"] == "no_verdict"
    assert "A differs from A" in found["words"][0] and len(calls(stage)) == 14


def test_a_failed_run_is_made_again_and_three_end_it(stage: Path) -> None:
    times = [0.5 * time for time in noise(8)]
    times[3] = 0
    ran = compare(stage, noise(20), times).expect(0)
    assert ran.json["comparison"]["pairs"] == 6 and ran.json["pairs_dropped"] == 1
    assert "B failed in round 3 (exit code 1: disk is full)" in ran.err
    ran = compare(stage, noise(30), [1.0, 0, 0, 0]).expect(1)
    assert "3 runs failed" in ran.err
    assert compare(stage, [0.0], []).expect(1).err.count("its warm-up failed") == 1


def test_inputs_that_the_program_does_not_like_end_it_before_anything_runs(stage: Path) -> None:
    ran = called("compare", "--run", "fill=rank", "fill=bad", "--launcher",
                 str(stage / "mpiexec-one"), "--", "seism", "processor=1x1x1")  # fmt: skip
    assert ran.code == 2 and not (stage / "calls.txt").exists()


MISTAKES = [
    (["--run", "a=1", "b=2"], "which kernel?"),
    (["--run", "a=1", "b=2", "--", "seismic"], 'Did you mean "seism"'),
    (["--run", "results=x", "b=2", "--", "seism"], 'results=x" is no input'),
    (["--run", "'a=1", "b=2", "--", "seism"], "side A"),
    (["--run", "", "", "--", "seism", "-"], "not standard input"),
    (["a.jsonl", "b.jsonl", "c.jsonl"], '"c.jsonl" is too much'),
    (["a.jsonl", "b.jsonl", "--dry-run"], "belongs to --run"),
]


@pytest.mark.parametrize(("words", "text"), MISTAKES)
def test_mistakes(words: list[str], text: str, stage: Path) -> None:
    assert text in called("compare", *words).expect(2).err


def test_a_name_may_hold_what_looks_like_the_end_of_a_line(stage: Path) -> None:
    text = (stage / "record.json").read_text().replace("out.h5", "o\u2028u\x85t.h5")
    (stage / "record.json").write_text(text, encoding="utf-8")
    compare(stage, noise(19), [0.5 * time for time in noise(7)]).expect(0)


def test_dry_run_runs_nothing(stage: Path) -> None:
    found = compare(stage, [], [], "--dry-run").expect(0).json
    assert found["argv"]["A"][-3:-1] == ["fill=rank", "filename=FRESH/out"]
    assert not (stage / "calls.txt").exists()


def test_records_are_appended_behind_a_half_written_line(tmp_path: Path) -> None:
    from tailrace.results import read_results
    from tailrace.results.append import append_records

    file = written(tmp_path / "r.jsonl", [a_record()])
    with file.open("a") as stream:
        stream.write('{"schema": "tailrace-rec')
    append_records(file, [a_record(run="new")])
    found = read_results([file])
    assert [one.run_id for one in found.records][1] == "new"
    assert found.problems.by_kind["damaged"].count == 1
