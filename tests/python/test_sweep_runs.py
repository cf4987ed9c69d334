# SPDX-License-Identifier: Apache-2.0
"""`tailrace sweep` with a program of known times in the place of a kernel."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from stage import Stage, a_stage
from tailrace_cli import SOURCE, Ran, called

from tailrace import interrupts
from tailrace.cli.rounds_display import RoundsDisplay
from tailrace.run import fresh
from tailrace.run.rounds import HowFar
from tailrace.sweep import disk

TRUTH = """
def seconds(settings, environment, number):
    time = 0.1 * (1.6 if settings["collective_write"] == "1" else 1)
    return time * (1.2 if settings["cb_nodes"] == "1" else 1) * (1 + 0.002 * (number % 5))
"""
VARY = ("--vary", "collective=on,off", "--vary", "cb_nodes=1,4")


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = a_stage(tmp_path, monkeypatch)
    made.truth(TRUTH)
    return made


def sweep(stage: Stage, *words: str) -> Ran:
    return called("sweep", "seism", "processor=1x1x1", "--launcher", stage.launcher, *words)


def test_everything_in_turns_in_an_order_that_the_seed_gives(stage: Stage) -> None:
    ran = sweep(stage, *VARY, "--seed", "5", "--json").expect(0)
    found: Any = ran.json
    assert found["ranking"][0]["name"] == "collective=off cb_nodes=4" and found["seed"] == 5
    assert [one["repetitions"] for one in found["ranking"]] == [6] * 4
    records = stage.records()
    rounds = [record["arm"]["round"] for record in records]
    assert rounds == [number for number in range(7) for _ in range(4)]
    assert all(record["warm_up"] == (record["arm"]["round"] == 0) for record in records)
    orders = [[r["arm"]["name"] for r in records[k : k + 4]] for k in range(0, 28, 4)]
    assert all(len(set(order)) == 4 for order in orders), "each once in every round"
    assert len({tuple(order) for order in orders}) > 3, "not always in the same order"
    assert len({one["filename"] for one in stage.calls()}) == 28, "a fresh folder for every run"
    assert [file.name for file in stage.work.iterdir()] == ["results.jsonl"], "they are removed"
    effects = {(one["factor"], one["level"]): one for one in found["effects"]}
    assert effects[("collective", "on")]["value"] == pytest.approx(1.6, rel=0.02)
    assert effects[("cb_nodes", "1")]["value"] == pytest.approx(1.2, rel=0.02)
    assert found["interactions"] == [] and found["left_out"] == []
    page = (SOURCE / "docs" / "reference" / "sweep.md").read_text()
    keys = [*found, *found["ranking"][0], *found["effects"][0]]
    assert [key for key in keys if f"`{key}`" not in page] == []
    (stage.work / "results.jsonl").unlink()
    sweep(stage, *VARY, "--seed", "5", "--repeat", "1").expect(0)
    assert [r["arm"]["name"] for r in stage.records()] == [r["arm"]["name"] for r in records[:8]]


def test_the_table_fits_80_columns(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = sweep(stage, *VARY, "--seed", "5").expect(0).out
    lines = out.splitlines()
    assert all(len(line) <= 80 for line in lines), out
    assert "durable total" in lines[0] and "collective=off cb_nodes=4" in lines[2]
    assert "What each value costs, and why" in out
    assert re.search(r"collective=on costs 1\.(59|60|61) times collective=off here", out), out


def test_an_interrupt_that_was_swallowed_ends_it_before_the_next_run(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python drops what is raised in a destructor or a callback of the garbage collector."""
    monkeypatch.setattr(interrupts, "_received", [])
    told = RoundsDisplay.tell

    def swallowing(display: RoundsDisplay, now: HowFar) -> None:
        if len(stage.records()) == 3:
            interrupts._received.append(2)
        told(display, now)

    monkeypatch.setattr(RoundsDisplay, "tell", swallowing)
    assert called("sweep", "seism", "processor=1x1x1", "--launcher", stage.launcher, *VARY).code
    assert len(stage.records()) == 3


def test_resume_runs_exactly_what_is_missing(stage: Stage) -> None:
    sweep(stage, *VARY, "--repeat", "3").expect(0)
    lines = (stage.work / "results.jsonl").read_text().splitlines(keepends=True)
    kept = [line for k, line in enumerate(lines) if k not in {5, 11, 12, 15}]
    (stage.work / "results.jsonl").write_text("".join(kept) + '{"half of a li')
    before = len(stage.calls())
    ran = sweep(stage, *VARY, "--repeat", "3", "--resume", "--json").expect(0)
    assert "going on with sweep-" in ran.err and len(stage.calls()) - before == 4
    lost = {json.loads(lines[k])["arm"]["name"] + str(json.loads(lines[k])["arm"]["round"])
            for k in (5, 11, 12, 15)}  # fmt: skip
    records = [json.loads(line) for line in (stage.work / "results.jsonl").read_text().splitlines()
               if line.endswith("}")]  # fmt: skip
    again = {r["arm"]["name"] + str(r["arm"]["round"]) for r in records[-4:]}
    assert again == lost and len({r["arm"]["comparison"] for r in records}) == 1
    assert [one["repetitions"] for one in ran.json["ranking"]] == [3] * 4
    # Nothing is missing: nothing is run; more repetitions are.
    sweep(stage, *VARY, "--repeat", "3", "--resume").expect(0)
    assert len(stage.calls()) - before == 4
    sweep(stage, *VARY, "--repeat", "4", "--resume").expect(0)
    assert len(stage.calls()) - before == 8


def test_another_program_or_other_factors_are_another_sweep(stage: Stage) -> None:
    sweep(stage, *VARY, "--repeat", "1").expect(0)
    for change in ("two", None):
        if change:
            (stage.folder / "commit.txt").write_text(change)
        words = VARY if change else ("--vary", "collective=on,off", "--vary", "cb_nodes=1,2")
        ran = sweep(stage, *words, "--repeat", "1", "--resume").expect(0)
        assert "holds no such run" in ran.err
    assert len({record["arm"]["comparison"] for record in stage.records()}) == 3


def test_what_the_kernel_refuses_is_left_out_before_anything_runs(stage: Stage) -> None:
    stage.truth(
        TRUTH.replace('settings["cb_nodes"]', 'settings.get("deflate")')
        + """
def dry_run(settings, hints):
    if settings.get("deflate") == "1" and settings["collective_write"] == "0":
        return "deflate needs collective writes"
    return ""
"""
    )
    vary = ("--vary", "collective=on,off", "--vary", "deflate=0,1", "--vary", "time=1,2")
    ran = sweep(stage, *vary, "--repeat", "1", "--json").expect(0)
    assert len(ran.json["ranking"]) == 6 and len(ran.json["left_out"]) == 2
    assert {one["why"] for one in ran.json["left_out"]} == {"deflate needs collective writes"}
    said = "collective=off deflate=1 time=1 and 1 more are left out because: deflate needs"
    assert said in ran.err
    before = len(stage.calls())
    ran = sweep(stage, "collective_write=0", "deflate=1", "--vary", "time=1,2").expect(2)
    assert "each of the 2 combinations is refused by the kernel: deflate needs" in ran.err
    assert len(stage.calls()) == before


def test_what_would_be_the_same_runs_once(stage: Stage) -> None:
    stage.truth("""
def seconds(settings, environment, number):
    return 0.1
def dry_run(settings, hints):
    if settings["format"] == "posix" and settings["collective_write"] == "1":
        return "note: collective_write has no effect with format posix"
    return ""
""")
    ran = sweep(stage, "--vary", "format=hdf5,posix", "--vary", "collective=off,on", "--repeat",
                "1", "--json").expect(0)  # fmt: skip
    assert [one["name"] for one in ran.json["left_out"]] == ["format=posix collective=on"]
    why = "collective_write has no effect with format posix"
    assert ran.json["left_out"][0]["why"] == f"the same as format=posix collective=off: {why}"
    vary = ("--vary", "format=hdf5,posix", "--vary", "collective=on,off", "--dry-run", "--json")
    left_out = sweep(stage, *vary).expect(0).json["left_out"]
    assert left_out == [
        {
            "name": "format=posix collective=off",
            "why": f"the same as format=posix collective=on: {why}",
        }
    ], "in the other order too"


def test_without_lustre_its_striping_does_not_vary(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--vary", "collective=on,off", "--vary", "lfs_stripe_count=1,4", "--dry-run", "--json")
    found = sweep(stage, *words).expect(0).json
    assert len(found["argv"]) == 2 and "there is no lfs here" in found["left_out"][0]["why"]
    lfs = stage.folder / "lfs"
    lfs.write_text("#!/bin/sh\n")
    lfs.chmod(0o755)
    monkeypatch.setenv("PATH", str(stage.folder), prepend=":")
    assert len(sweep(stage, *words).expect(0).json["argv"]) == 4


def test_a_run_that_fails_is_made_again_and_one_that_fails_twice_is_left_out(stage: Stage) -> None:
    stage.truth("""
def seconds(settings, environment, number):
    if settings["cb_nodes"] == "4":
        return "hdf5_failed"
    return "hdf5_failed" if number == 3 else 0.1
""")
    ran = sweep(stage, "--vary", "cb_nodes=1,2,4", "--repeat", "2", "--seed", "1", "--json")
    found = ran.expect(0).json
    assert sorted(one["name"] for one in found["ranking"]) == ["cb_nodes=1", "cb_nodes=2"]
    assert [one["repetitions"] for one in found["ranking"]] == [2, 2]
    assert found["left_out"][0]["name"] == "cb_nodes=4"
    assert "it failed 2 times (exit code 1: disk is full)" in found["left_out"][0]["why"]


def test_where_all_fail_it_says_so(stage: Stage) -> None:
    stage.truth("def seconds(settings, environment, number): return 'hdf5_failed'")
    ran = sweep(stage, *VARY, "--repeat", "1").expect(1)
    assert "every combination failed" in ran.err and ran.out == ""


def test_it_stops_before_the_disk_is_full(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [400 << 20]

    def usage(_folder: Path) -> Any:
        left[0] -= 20 << 20  # somebody else writes
        return shutil._ntuple_diskusage(1 << 30, 0, left[0])  # type: ignore[attr-defined]

    monkeypatch.setattr(disk.shutil, "disk_usage", usage)
    ran = sweep(stage, *VARY, "--json").expect(1)
    assert "the next run writes 64.0 MiB and wants 134.4 MiB of free space" in ran.err
    assert "make room and continue with --resume" in ran.err
    assert ran.json["ranking"] and len(stage.calls()) == 13, "what there is is shown"
    monkeypatch.undo()


def test_a_full_disk_ends_it_and_is_no_fault_of_the_combination(stage: Stage) -> None:
    stage.truth("""
def seconds(settings, environment, number):
    return "no_space" if number == 7 else 0.1
""")
    ran = sweep(stage, *VARY, "--json").expect(1)
    assert len(stage.calls()) == 8 and ran.json["left_out"] == []
    assert "make room" in ran.err


def test_one_full_disk_of_several_leaves_out_what_writes_there(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory = Path(tempfile.mkdtemp(dir="/dev/shm"))
    assert memory.stat().st_dev != tmp_path.stat().st_dev, "two file systems"
    real = shutil.disk_usage

    def usage(folder: Path) -> Any:
        full = Path(folder) == memory
        return shutil._ntuple_diskusage(1, 1, 0) if full else real(folder)  # type: ignore[attr-defined]

    monkeypatch.setattr(disk.shutil, "disk_usage", usage)
    stage.truth("def seconds(settings, environment, number): return 0.1")
    vary = ("--vary", f"filename={memory}/a,{tmp_path}/b", "--vary", "cb_nodes=1,4")
    ran = sweep(stage, *vary, "--json").expect(0)
    assert {Path(one["filename"]).parent.parent for one in stage.calls()} == {tmp_path}
    assert len(ran.json["ranking"]) == 2 and len(ran.json["left_out"]) == 2
    assert all("no room" in one["why"] and str(memory) in one["why"]
               for one in ran.json["left_out"])  # fmt: skip
    memory.rmdir()


def test_an_interrupt_leaves_a_table_of_what_there_is(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [0]
    real = fresh.execute

    def interrupted(*words: Any, **more: Any) -> Any:
        runs[0] += 1
        if runs[0] == 15:
            raise KeyboardInterrupt
        return real(*words, **more)

    monkeypatch.setattr(fresh, "execute", interrupted)
    ran = sweep(stage, *VARY, "--json").expect(130)
    assert ran.json["interrupted"] and len(ran.json["ranking"]) == 4
    assert "--resume continues" in ran.err
    assert [file.name for file in stage.work.iterdir()] == ["results.jsonl"]


def test_a_budget_gives_up_what_loses(stage: Stage) -> None:
    stage.truth("""
def seconds(settings, environment, number):
    return 0.1 * int(settings["time"]) * (1 + 0.002 * (number % 5))
""")
    values = ",".join(map(str, range(1, 7)))
    ran = sweep(stage, "--vary", f"time={values}", "--budget", "10m", "--json").expect(0)
    found = ran.json
    best = found["ranking"][0]
    assert best["name"] == "time=1" and best["repetitions"] == 6
    assert [(one["name"], one["round"]) for one in found["dropped"][:3]] == [
        (f"time={k}", 1) for k in (4, 5, 6)
    ]
    assert len(found["dropped"]) == 4 and len(stage.calls()) == 6 * 2 + 3 + 2 * 4
    assert "given up after round 1: time=4 (" in ran.err
    counts = [one["repetitions"] for one in found["ranking"]]
    assert counts == [6, 6, 2, 1, 1, 1]


def test_a_short_budget_begins_with_a_part_and_finds_the_best(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tailrace.sweep.narrow import Latin

    monkeypatch.setattr(Latin, "affordable", lambda _budget, _run, _levels: 8)
    stage.truth("""
def seconds(settings, environment, number):
    a, b, c = (int(settings[key]) for key in ("time", "deflate", "cb_nodes"))
    return 0.1 * (1 + 0.5 * a) * (1 + 0.5 * b) * (1 + 0.5 * c) * (1 + 0.002 * (number % 3))
""")
    vary = ("--vary", "time=3,2,1", "--vary", "deflate=3,2,1", "--vary", "cb_nodes=3,2,1")
    ran = sweep(stage, *vary, "--budget", "10m", "--seed", "3", "--json").expect(0)
    assert "8 of 27 combinations are begun with" in ran.err
    tried = {one["name"] for one in ran.json["ranking"]} | {
        one["name"] for one in ran.json["dropped"]
    }
    assert len(ran.json["not_tried"]) == 27 - len(tried) > 0
    assert not tried & set(ran.json["not_tried"])
    assert ran.json["ranking"][0]["name"] == "time=1 deflate=1 cb_nodes=1"
    assert len(stage.calls()) < 27 * 3


def test_a_budget_that_is_over_ends_it(stage: Stage) -> None:
    ran = sweep(stage, *VARY, "--budget", "0.1s").expect(1)
    assert "the time was over before a round was run" in ran.err and len(stage.calls()) < 9


def test_a_budget_that_ends_in_the_first_round_shows_what_there_is(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tailrace.sweep.experiment import Experiment

    monkeypatch.setattr(Experiment, "_is_over", lambda self, _share=1.0: self._done >= 6)
    ran = sweep(stage, *VARY, "--budget", "10m", "--json").expect(0)
    assert 0 < len(ran.json["ranking"]) < 4 and len(stage.calls()) < 4 + 4
    assert "no time is left for the rest of round 1" in ran.err


def test_dry_run_shows_the_plan_and_runs_nothing(stage: Stage) -> None:
    ran = sweep(stage, *VARY, "--dry-run", "--json").expect(0)
    assert ran.json["runs"] == 28 and ran.json["estimate_s"] > 28 * 64 / 200
    assert len(ran.json["argv"]) == 4 and stage.calls() == []
    out = sweep(stage, *VARY, "--dry-run").expect(0).out
    assert "collective_write=1 hint=cb_nodes=4 filename=FRESH/out" in out
    assert "(measured)" in out and "(assumed)" in out
    assert list(stage.work.iterdir()) == []


def test_variables_reach_the_program_and_tell_the_combinations_apart(stage: Stage) -> None:
    stage.truth("""
def seconds(settings, environment, number):
    return 0.1 * int(environment["SOME_VARIABLE"])
""")
    ran = sweep(stage, "--vary", "env.SOME_VARIABLE=2,1", "--repeat", "1", "--output", "best",
                "--json").expect(0)  # fmt: skip
    assert [one["name"] for one in ran.json["ranking"]] == [
        "env.SOME_VARIABLE=1", "env.SOME_VARIABLE=2"
    ]  # fmt: skip
    assert "export SOME_VARIABLE=1\n" in Path("best/environment.sh").read_text()


def test_the_report_of_a_sweep(stage: Stage) -> None:
    out = sweep(stage, *VARY, "--repeat", "2", "--report", "page.html").expect(0).out
    assert "page.html: 4 groups of equal settings, 12 Records" in out
    assert "The combinations, ranked" in Path("page.html").read_text()


def test_a_launcher_that_sets_what_varies(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    from tailrace.run.programs import MpiLibrary
    from tailrace.sweep import plan

    mpi = MpiLibrary("openmpi", Path("/usr/lib/libmpi.so.40"))
    monkeypatch.setattr(plan.programs, "mpi_library", lambda _program: mpi)
    words = ("sweep", "seism", "processor=1x1x1", "--vary", "mca.fcoll=a,b", "--launcher")
    ran = called(*words, f"{stage.launcher} --mca fcoll c").expect(2)
    assert 'the launcher sets "fcoll" (--mca fcoll)' in ran.err and stage.calls() == []


MISTAKES = [
    (["--vary", "chunks=1,2"], 'Did you mean "chunk"?'),
    ([], "what shall vary?"),
    ([*VARY, "repeat=3"], '"repeat=3": every run is one repetition'),
    ([*VARY, "-"], "not standard input"),
    ([*VARY, "--metric", "durible"], 'Did you mean "durable"?'),
    ([*VARY, "--budget", "soon"], '"soon" is no time'),
    ([*VARY, "--output", "no/where"], "the folder above it does not exist"),
    ([*VARY, "--report", "no/where.html"], "there is no such folder"),
    (["--vary", "time=" + ",".join(map(str, range(5000)))], "these are 5,000 combinations"),
]


@pytest.mark.parametrize(("words", "text"), MISTAKES)
def test_mistakes(words: list[str], text: str, stage: Stage) -> None:
    ran = sweep(stage, *words).expect(2)
    assert text in ran.err and stage.calls() == []
    assert list(stage.work.iterdir()) == [], "nothing is made on an error"


def test_a_kernel_that_is_none(stage: Stage) -> None:
    assert 'Did you mean "seism"?' in called("sweep", "seizm", *VARY).expect(2).err


def test_files_of_others_are_not_overwritten(stage: Stage) -> None:
    Path("best").mkdir()
    Path("best/hints").write_text("mine")
    ran = sweep(stage, *VARY, "--output", "best").expect(2)
    assert "it is not overwritten" in ran.err and Path("best/hints").read_text() == "mine"
    assert stage.calls() == []
