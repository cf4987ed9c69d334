# SPDX-License-Identifier: Apache-2.0
"""What a person sees of a long run: a bar or the live view in a terminal, plain lines elsewhere,
nothing with --quiet; and a run that was interrupted goes on with --resume."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tailrace_cli import SOURCE, environment, in_terminal, tailrace

pytestmark = pytest.mark.mpi
SMALL = ("processor=2x1x1", "domain=8x8x8")
SLOW = (*SMALL, "time=30", "compute=0.05 idle")


def records(folder: Path) -> list[dict[str, object]]:
    """Of a file that may still be written: a line without an end is not a Record yet."""
    lines = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def test_the_live_view_in_a_terminal_of_80_columns(tmp_path: Path) -> None:
    screen = in_terminal(["run", "seism", *SLOW, "repeat=1", "--watch"], cwd=tmp_path)
    assert screen.code == 0
    assert "repetition 1 of 1" in screen.text or "one run" in screen.text
    for part in ("warm-up before 1 repetitions", "MiB/s now", "median", "stalls", " left"):
        assert part in screen.text, screen.text
    assert "Durable throughput:" in screen.text, "the results are seen as well"
    assert "tailrace-progress" not in screen.text


def test_a_bar_in_a_terminal(tmp_path: Path) -> None:
    screen = in_terminal(["run", "seism", *SLOW, "repeat=1"], cwd=tmp_path)
    assert screen.code == 0 and "warm-up before" in screen.text and " left" in screen.text
    assert "tailrace-progress" not in screen.text


def test_plain_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    run = tailrace("run", "seism", *SLOW, "--watch", cwd=tmp_path).expect(0)
    lines = [line for line in run.err.splitlines() if "step" in line and "MiB/s" in line]
    assert lines and all(line.startswith("tailrace: one run: ") for line in lines)
    assert "tailrace: one run: write, step" in lines[0], "later lines may tell of the close"
    assert "\x1b" not in run.err and "tailrace-progress" not in run.out + run.err
    short = tailrace("run", "seism", *SMALL, "time=2", cwd=tmp_path).expect(0)
    assert "step" not in short.err, "a short run has no progress to tell"


def test_quiet_runs_tell_nothing(tmp_path: Path) -> None:
    run = tailrace("run", "seism", *SLOW, "--watch", "--quiet", cwd=tmp_path).expect(0)
    assert (run.out, run.err) == ("", "")


def test_a_reader_that_goes_away_changes_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", "run", "seism", *SMALL, "time=40", "repeat=3"],
        cwd=tmp_path, env=environment(PYTHONPATH=str(SOURCE / "python")),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert "Traceback" not in process.stderr.read() if process.stderr else True
    assert len(records(tmp_path)) == 4


def test_a_full_standard_output_does_not_end_the_run(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [sys.executable, "-m", "tailrace", "run", "seism", *SMALL, "time=40", "repeat=3"],
            cwd=tmp_path, env=environment(PYTHONPATH=str(SOURCE / "python")),
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert run.returncode == 1 and len(records(tmp_path)) == 4
    assert "its text could not be printed: No space left on device" in run.stderr


def test_letters_that_the_terminal_has_not_are_escaped(tmp_path: Path) -> None:
    words = ("run", "seism", *SMALL, "time=1", "filename=b\xe4.h5")
    run = tailrace(*words, cwd=tmp_path, PYTHONIOENCODING="ascii").expect(0)
    assert "b\\xe4.h5 (hdf5)" in run.out and len(records(tmp_path)) == 1


def test_runs_that_appended_in_turns_are_told_apart(tmp_path: Path) -> None:
    words = ("run", "seism", *SMALL, "time=1", "repeat=3")
    tailrace(*words, cwd=tmp_path).expect(0)
    own = records(tmp_path)
    other = [record | {"run_id": "other"} for record in own]
    turns = [own[0], other[0], own[1], other[1], own[2], other[2]]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in turns))
    told = tailrace(*words, "--resume", cwd=tmp_path).expect(0)
    assert "Resumed: 2 repetitions" in told.out
    timed = [r["repetition"] for r in records(tmp_path) if r["run_id"] == "other"]
    assert timed == [0, 1, 2, 0, 3]


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    words = ["run", "seism", *SMALL, "time=3", "compute=0.15 idle", "repeat=20"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", *words],
        cwd=tmp_path, env=environment(PYTHONPATH=str(SOURCE / "python")),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if (tmp_path / "results.jsonl").exists() and len(records(tmp_path)) >= 3:
            break
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=40) == 130
    done = {r["repetition"] for r in records(tmp_path) if not r["warm_up"]}
    assert {1, 2} <= done < set(range(1, 21)), "it was interrupted in between"
    told = tailrace(*words, "--resume", cwd=tmp_path).expect(0)
    assert f"Resumed: {len(done)} repetitions are in results.jsonl" in told.out
    timed = [r["repetition"] for r in records(tmp_path) if not r["warm_up"]]
    assert timed == list(range(1, 21)) and len({r["run_id"] for r in records(tmp_path)}) == 1
    before = (tmp_path / "results.jsonl").read_bytes()
    assert "nothing to do" in tailrace(*words, "--resume", cwd=tmp_path).expect(0).out
    assert (tmp_path / "results.jsonl").read_bytes() == before


def test_other_inputs_are_another_run(tmp_path: Path) -> None:
    words = ["run", "seism", *SMALL, "repeat=1"]
    tailrace(*words, "time=1", cwd=tmp_path).expect(0)
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"half a line\n[1]\n{"schema": "tailrace-record/1"}\n')
    told = tailrace(*words, "time=2", "--resume", cwd=tmp_path).expect(0)
    assert "Resumed: 0 repetitions" in told.out
    lines = [line for line in (tmp_path / "results.jsonl").read_text().splitlines()
             if line.startswith('{"schema":"tailrace-record/1","kernel"')]  # fmt: skip
    assert len({json.loads(line)["run_id"] for line in lines}) == 2


def test_more_repetitions_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    words = ["run", "seism", *SMALL, "time=1"]
    tailrace(*words, cwd=tmp_path).expect(0)  # one without a warm-up is no repetition of a run
    told = tailrace(*words, "repeat=2", "--resume", cwd=tmp_path).expect(0)
    assert "Resumed: 0 repetitions" in told.out
    told = tailrace(*words, "repeat=3", "--resume", "results=./results.jsonl", cwd=tmp_path)
    assert "Resumed: 2 repetitions" in told.expect(0).out
    ran = [record["repetition"] for record in records(tmp_path)]
    assert ran == [1, 0, 1, 2, 0, 3] and len({r["run_id"] for r in records(tmp_path)}) == 2
    assert "nothing to do" in tailrace(*words, "repeat=2", "--resume", cwd=tmp_path).expect(0).out


def test_a_repetition_that_is_missing_in_between_is_run_again(tmp_path: Path) -> None:
    words = ["run", "seism", *SMALL, "time=1", "repeat=3"]
    tailrace(*words, cwd=tmp_path).expect(0)
    file = tmp_path / "results.jsonl"
    lines = file.read_text().splitlines()
    lines[2] = lines[2][:100]  # the second repetition
    file.write_text("\n".join(lines) + "\n")
    told = tailrace(*words, "--resume", cwd=tmp_path).expect(0)
    assert "Resumed: 2 repetitions" in told.out
    new = [json.loads(line) for line in file.read_text().splitlines()[4:]]
    assert [record["repetition"] for record in new] == [0, 2]


def test_what_steers_mpi_io_makes_another_run(tmp_path: Path) -> None:
    words = ["run", "seism", *SMALL, "time=1", "repeat=1", "--resume"]
    tailrace(*words, cwd=tmp_path).expect(0)
    assert "Resumed: 1 " in tailrace(*words, cwd=tmp_path).expect(0).out
    steered = tailrace(*words, cwd=tmp_path, ROMIO_HINTS="/none", SLURM_JOB_ID=None).expect(0)
    assert "Resumed: 0 " in steered.out
