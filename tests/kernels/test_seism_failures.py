# SPDX-License-Identifier: Apache-2.0
"""Failures in mid-run: a full disk, an interrupt. All ranks end with 1, one says what happened, and
nothing is left under the final name."""

import json
import signal
import subprocess
import time

import pytest
from seism_tool import MPIEXEC, TOOL, environment, run, seen

BASE = ("processor=2x2x1", "domain=16x16x16", "time=4", "chunk=16x16x16")


@pytest.mark.parametrize(
    "form, collective",
    [
        ("hdf5", 0),
        ("hdf5", 1),
        ("mpiio", 0),
        ("mpiio", 1),
        ("netcdf4", 0),
        ("netcdf4", 1),
        ("pnetcdf", 0),
        ("pnetcdf", 1),
        ("posix", 0),
        ("posix-per-rank", 0),
    ],
)
@pytest.mark.parametrize("fault", ["ENOSPC", "EIO"])
def test_a_write_that_fails_ends_all_ranks(tmp_path, form, collective, fault):
    (tmp_path / "seism-test.h5").write_bytes(b"precious")
    rule = f"op=write,path=*/seism-test.h5*,phase=write,after=1,short=1000,errno={fault}"
    result = run(
        tmp_path,
        4,
        *BASE,
        f"format={form}",
        f"collective_write={collective}",
        env={"TAILRACE_FAULT": rule},
    )
    assert result.code == 1 and result.codes == [1, 1, 1, 1], result.err
    assert len(result.errors) == 1, result.err
    assert "seism-test.h5" in result.err and "bytes" in result.err and "rank" in result.err
    assert (tmp_path / "seism-test.h5").read_bytes() == b"precious"
    assert seen(tmp_path) == ["results.jsonl", "seism-test.h5"]
    record = result.records[-1]
    assert record["status"] == "failed" and record["error"]["exit_code"] == 1


@pytest.mark.parametrize("form", ["hdf5", "posix", "posix-per-rank"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_cleans_up(tmp_path, form, number):
    process = subprocess.Popen(
        [
            *MPIEXEC,
            "-n",
            "3",
            TOOL,
            "processor=3x1x1",
            "domain=8x8x8",
            "time=100",
            "compute=0.2 idle",
            f"format={form}",
        ],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 30
    while not any(".part" in name for name in seen(tmp_path)) and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.5)
    assert any(".part" in name for name in seen(tmp_path))
    process.send_signal(number)
    status = process.wait(timeout=30)
    # MPICH's launcher ends with 0 now and then, whatever became of the ranks it was told to end.
    assert status != 0 or "mpich" in MPIEXEC[0]
    end = time.monotonic() + 10
    while seen(tmp_path) and time.monotonic() < end:
        time.sleep(0.05)
    assert seen(tmp_path) == []


def test_a_second_run_after_a_kill_is_not_stopped_by_what_was_left(tmp_path):
    (tmp_path / "seism-test.h5.part").write_bytes(b"left by a killed run")
    (tmp_path / "seism-test.h5.part.lock").write_text("process 1 on a host\n")
    result = run(tmp_path, 2, "processor=2x1x1", "domain=2x2x2", "time=1")
    assert result.code == 0, result.err
    assert seen(tmp_path) == ["results.jsonl", "seism-test.h5"]


def test_results_that_cannot_be_appended_are_an_error(tmp_path):
    result = run(tmp_path, 2, "processor=2x1x1", "domain=2x2x2", "time=1", "results=/dev/full")
    assert result.code == 1, result.err
    assert "/dev/full" in result.err


def test_malformed_fault_rules_are_bad_input(tmp_path):
    result = run(
        tmp_path, 2, "processor=2x1x1", "domain=2x2x2", "time=1", env={"TAILRACE_FAULT": "nonsense"}
    )
    assert result.code == 2 and "TAILRACE_FAULT" in result.err
    assert json.dumps(seen(tmp_path)) == "[]"


def test_an_interrupt_while_a_set_gets_its_name_leaves_a_whole_set(tmp_path):
    lines = ["processor=3x1x1", "domain=8x8x8", "time=2", "format=posix-per-rank"]
    assert run(tmp_path, 3, *lines).code == 0
    rule = f"op=fsync,rank=0,path=*/{tmp_path.name},delay_ms=3000"
    process = subprocess.Popen(
        [*MPIEXEC, "-n", "3", TOOL, *lines],
        cwd=tmp_path,
        env=environment() | {"TAILRACE_FAULT": rule},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    before = (tmp_path / "seism-test.h5").stat().st_ino
    end = time.monotonic() + 30
    while (tmp_path / "seism-test.h5").stat().st_ino == before and time.monotonic() < end:
        time.sleep(0.05)
    assert (tmp_path / "seism-test.h5").stat().st_ino != before, "it has its name now"
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    time.sleep(1)  # for those who clean up after a killed rank
    parts = json.loads((tmp_path / "seism-test.h5").read_text())["parts"]
    assert len(parts) == 3 and all((tmp_path / name).exists() for name in parts)
