# SPDX-License-Identifier: Apache-2.0
"""The limit beside the kernel: which calls its arms make, what the Record says, and that an arm
that fails takes nothing with it."""

import re
import signal
import subprocess
import time

import pytest
from seism_tool import LIMIT, MPIEXEC, ROMIO, TOOL, environment, good, seen

BASE = ("processor=2x2x1", "domain=16x16x16", "chunk=16x16x16", "time=3")
RANKS, STEPS, STEP_BYTES = 4, 3, 16**3 * 4
TOTAL = RANKS * STEPS * STEP_BYTES
ARMS = {
    "file_per_rank": "aggregate",
    "file_per_rank_fsync": "durable",
    "shared_file": "aggregate",
    "shared_file_fsync": "durable",
    "mpi_io": "aggregate",
    "mpi_io_fsync": "durable",
    "memory_copy": "write",
}
MPI_IO = [("ompio", ())] + ([("romio", ("--mca", "io", ROMIO))] if ROMIO else [])


@pytest.mark.parametrize("form", ["hdf5", "mpiio", "posix", "posix-per-rank"])
@pytest.mark.parametrize("collective", [0, 1])
@pytest.mark.parametrize("mpi", [m for _, m in MPI_IO], ids=[n for n, _ in MPI_IO])
def test_every_arm_stands_beside_the_kernel(tmp_path, form, collective, mpi):
    words = [*BASE, f"format={form}", "fill=position", "verify", f"collective_write={collective}"]
    record = good(tmp_path, RANKS, *words, "limit", mpi=mpi).records[-1]
    limit = record["limit"]
    assert sorted(limit["order"]) == sorted([*ARMS, "kernel"])
    assert set(limit["arms"]) == set(ARMS)
    for name, arm in limit["arms"].items():
        assert arm["error"] is None and arm["bytes"] == TOTAL and arm["elapsed_s"] > 0
        assert arm["against"] == ARMS[name]
        kernel = record["rates"][f"{arm['against']}_bytes_per_s"]
        assert arm["ratio"] == pytest.approx(kernel / arm["rate_bytes_per_s"])
    assert record["verification"]["status"] == "passed"
    # What the arms wrote is not the kernel's.
    alone = good(tmp_path, RANKS, *words, mpi=mpi).records[-1]
    assert alone["limit"] is None
    assert [w["bytes_done"] for w in record["writers"]["list"]] == [
        w["bytes_done"] for w in alone["writers"]["list"]
    ]
    assert not [name for name in seen(tmp_path) if ".limit." in name]


def test_the_order_is_drawn_anew(tmp_path):
    records = good(tmp_path, 1, "processor=1x1x1", "domain=2x2x2", "time=1", "repeat=4", "limit")
    orders = {tuple(record["limit"]["order"]) for record in records.records}
    assert len(records.records) == 5 and len(orders) > 1


@pytest.mark.parametrize("mpi", [m for _, m in MPI_IO], ids=[n for n, _ in MPI_IO])
def test_the_arms_make_the_calls_that_they_are_named_after(tmp_path, mpi):
    """Independent, chunk = domain: a rank's data of a step is one piece everywhere; told by
    strace."""
    trace = tmp_path / "trace"
    words = [*BASE, "results=results.jsonl"]
    launcher = [*MPIEXEC, *mpi, "-n", str(RANKS)]
    strace = ["strace", "-f", "-ff", "-y", "-e", "trace=write,pwrite64,pwritev,pwritev2,fsync"]
    subprocess.run(
        [*launcher, *strace, "-o", str(trace), str(LIMIT), *words],
        cwd=tmp_path, env=environment(), timeout=100, check=True, capture_output=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    lines = [
        line
        for file in tmp_path.glob("trace.*")
        for line in file.read_text().splitlines()
        # Not the file that OMPIO keeps in its session folder under the same name.
        if re.search(r"\.limit\.[0-9a-f]{8}(\.\d{5})?>", line)
    ]
    own = [line for line in lines if ".0000" in line]
    shared = [line for line in lines if ".0000" not in line]
    whole = f", {STEP_BYTES}, "

    def writes(of):
        return [line for line in of if "fsync" not in line]

    assert len(writes(own)) == 2 * RANKS * STEPS and all(whole in line for line in writes(own))
    assert sum("fsync" in line for line in own) == RANKS, "one arm of two, every rank its own"
    bytes_done = sum(int(line.rsplit("= ", 1)[1].split()[0]) for line in writes(shared))
    assert bytes_done == 4 * TOTAL, "two arms of pwrite and two of MPI-IO"
    assert len(writes(shared)) == 4 * RANKS * STEPS
    assert sum("fsync" in line for line in shared) == 2, "by one rank of the node"
    offsets = {int(line.split(", ")[-1].split(")")[0]) for line in writes(shared)}
    assert offsets == {k * STEP_BYTES for k in range(RANKS * STEPS)}


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO"])
@pytest.mark.parametrize("collective", [0, 1])
@pytest.mark.parametrize("mpi", [m for _, m in MPI_IO], ids=[n for n, _ in MPI_IO])
def test_an_arm_that_fails_is_told_and_takes_nothing_with_it(tmp_path, fault, collective, mpi):
    rule = f"op=write,rank=1,path=*.limit.*,after=1,short=100,errno={fault}"
    words = [*BASE, f"collective_write={collective}", "verify", "limit"]
    result = good(tmp_path, RANKS, *words, env={"TAILRACE_FAULT": rule}, mpi=mpi)
    record = result.records[-1]
    assert record["status"] == "ok" and record["verification"]["status"] == "passed"
    arms = record["limit"]["arms"]
    assert arms["memory_copy"]["error"] is None
    for name in ("file_per_rank", "shared_file_fsync"):
        error = arms[name]["error"]
        assert ".limit." in error["where"] and error["rank"] == 1 and arms[name]["ratio"] is None
    if not collective:  # the aggregator may be another rank
        assert arms["mpi_io"]["error"]["rank"] == 1
    assert "not measured" in result.out
    assert not [name for name in seen(tmp_path) if ".limit." in name]


def test_a_failing_fsync_is_an_error_of_its_arm(tmp_path):
    rule = "op=fsync,rank=0,path=*.limit.*,errno=EIO"
    record = good(tmp_path, 2, "processor=2x1x1", "domain=4x4x4", "time=1", "limit",
                  env={"TAILRACE_FAULT": rule}).records[-1]  # fmt: skip
    failed = {name for name, arm in record["limit"]["arms"].items() if arm["error"]}
    assert failed == {"file_per_rank_fsync", "shared_file_fsync", "mpi_io_fsync"}


def test_the_limit_alone_takes_the_same_inputs_and_leaves_no_file(tmp_path):
    result = good(tmp_path, RANKS, *BASE, "repeat=2", program=LIMIT)
    assert [record["kernel"] for record in result.records] == ["limit"] * 3
    record = result.records[-1]
    assert record["limit"]["order"].count("kernel") == 0
    assert set(record["limit"]["arms"]) == set(ARMS)
    assert record["bytes"]["logical"] is None and record["status"] == "ok"
    assert seen(tmp_path) == ["results.jsonl"]
    assert "medians of 2 repetitions" in result.out


def test_a_file_that_is_there_stays_what_it_is(tmp_path):
    (tmp_path / "seism-test.h5").write_bytes(b"precious")
    good(tmp_path, 2, "processor=2x1x1", "domain=4x4x4", "time=1", program=LIMIT)
    assert (tmp_path / "seism-test.h5").read_bytes() == b"precious"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing(tmp_path, number):
    rule = "op=fsync,path=*.limit.*,delay_ms=4000"
    process = subprocess.Popen(
        [*MPIEXEC, "-n", "2", LIMIT, "processor=2x1x1", "domain=8x8x8", "time=1", "repeat=9"],
        cwd=tmp_path, env=environment({"TAILRACE_FAULT": rule}), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    end = time.monotonic() + 30
    while not any(".limit." in name for name in seen(tmp_path)) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(1)
    assert any(".limit." in name for name in seen(tmp_path))
    process.send_signal(number)
    process.wait(timeout=30)
    end = time.monotonic() + 10
    while any(".limit." in name for name in seen(tmp_path)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [name for name in seen(tmp_path) if ".limit." in name]


def test_the_programs_say_what_they_are():
    for program, name in ((TOOL, "tailrace-seism"), (LIMIT, "tailrace-limit")):
        said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
        assert name in said.stdout
