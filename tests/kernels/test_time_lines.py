# SPDX-License-Identifier: Apache-2.0
"""Time lines of the ranks in Records: all kernels, several formats, reading, failures, many steps,
imitated nodes; held against the phases and the elapsed times of the same Record."""

import json
from itertools import pairwise

import jsonschema
import pytest
from seism_tool import BUILD, SOURCE, TOOL, good, run

SLAB, PARTICLE = BUILD / "bin/tailrace-slab", BUILD / "bin/tailrace-particle"
SCHEMA = json.loads((SOURCE / "schemas/record-1.schema.json").read_text())
NS = 1e-9  # times are rounded to it
SMALL = ("processor=2x2x1", "domain=8x8x8", "time=5")


def lines_of(record):
    """Of a Record that fits its schema: phase, start and end of every stretch, by rank."""
    jsonschema.Draft202012Validator(SCHEMA).validate(record)
    found = record["time_lines"]
    names = found["phases"]
    assert len(set(names)) == len(names)
    lines = {
        line["rank"]: [(names[one[0]], one[1], one[2]) for one in line["stretches"]]
        for line in found["list"]
    }
    for line in lines.values():
        assert all(start <= end for _name, start, end in line)
        assert all(before[2] <= after[1] + 2 * NS for before, after in pairwise(line))
        assert not line or line[-1][2] <= found["elapsed_s"] + NS
    assert sum(map(len, lines.values())) <= 4096
    return lines


def seconds_in(line, phase):
    return sum(end - start for name, start, end in line if name == phase)


def check(record, ranks):
    """Of all ranks, with the sums that the phases of the Record have."""
    lines = lines_of(record)
    assert list(lines) == list(range(ranks))
    for name, phase in record["phases"].items():
        if name == "fill":  # the first one comes before the clock
            continue
        sums = [seconds_in(line, name) for line in lines.values()]
        many = max(map(len, lines.values())) * 2 * NS
        assert min(sums) == pytest.approx(phase["min_s"], rel=1e-6, abs=many), name
        assert max(sums) == pytest.approx(phase["max_s"], rel=1e-6, abs=many), name
        assert sum(sums) / ranks == pytest.approx(phase["mean_s"], rel=1e-6, abs=many), name
    durable_s = record["elapsed"]["durable_s"]
    if durable_s is not None:
        ends = [end for line in lines.values() for name, _start, end in line if name == "publish"]
        # Ranks may wait for a processor between the start of the lines and that of the clock.
        slack = 0.1 + max(line["resolution_s"] for line in record["time_lines"]["list"])
        assert durable_s <= max(ends) + slack
        off_the_clock = {name for line in lines.values() for name, *_ in line} & {"fill", "compute"}
        assert off_the_clock or max(ends) <= durable_s + slack
    return lines


@pytest.mark.parametrize(
    ("ranks", "program", "words"),
    [
        (4, TOOL, (*SMALL, "format=hdf5", "collective_write", "compute=0.01 idle")),
        (4, TOOL, (*SMALL, "format=posix-per-rank", "fsync=step")),
        (1, TOOL, ("processor=1x1x1", "domain=8x8x8", "time=2", "format=mpiio")),
        # two ranks have no rows
        (5, SLAB, ("n1=13", "n2=3", "axis=short-split", "format=mpiio", "filename=o")),
        (2, PARTICLE, ("dim_1=100", "timesteps=3", "file_per_proc=yes", "format=hdf5")),
    ],
)
def test_the_lines_say_what_the_phases_say(tmp_path, ranks, program, words):
    reads = ("read=same", "read_back", "verify")
    record = good(tmp_path, ranks, *words, *reads, program=program).records[-1]
    lines = check(record, ranks)
    assert record["time_lines"]["clock"] == "one"
    assert record["time_lines"]["clock_uncertainty_s"] == 0
    for line in lines.values():
        names = [name for name, _start, _end in line]
        assert names.index("write") < names.index("publish") < names.index("read_back")
        # The clock stops when the last rank is there: waiting for it is on the clock.
        assert names[names.index("read_back") - 1] == "agree"
        assert names.index("read_back") < names.index("read") < names.index("verify")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (TOOL, (*SMALL, "format=hdf5")),
        (SLAB, ("n1=16", "n2=3", "format=mpiio", "filename=o")),
        (PARTICLE, ("dim_1=100", "timesteps=3", "format=hdf5")),
    ],
)
def test_a_sync_by_one_rank_is_neither_write_nor_close(tmp_path, program, words):
    """The others wait for it. The path has it whole, however many ranks there are."""
    fault = {"TAILRACE_FAULT": "op=fsync,path=*.part,delay_ms=1500"}
    record = good(tmp_path, 4, *words, program=program, env=fault).records[-1]
    elapsed, phases = record["elapsed"], record["phases"]
    assert elapsed["durable_s"] - elapsed["aggregate_s"] > 1
    assert phases["sync"]["path_s"] == phases["sync"]["max_s"] >= 1.5
    assert phases["agree"]["path_s"] <= phases["agree"]["mean_s"]
    path_s = sum(one["path_s"] or 0 for name, one in phases.items() if name != "fill")
    assert path_s == pytest.approx(elapsed["durable_s"], rel=0.1)


def test_one_rank_sets_space_aside_while_another_creates_its_file(tmp_path):
    """With a file per rank both belong to opening, of which setting aside is no part: 1.5 s."""
    fault = (
        "op=fallocate,rank=0,times=1,delay_ms=2000;op=fallocate,rank=1,times=1,delay_ms=1000;"
        "op=open,rank=1,path=*rank_1_test.h5.part,times=1,delay_ms=1500"
    )
    words = ("dim_1=100", "file_per_proc=yes")
    ran = good(tmp_path, 2, *words, program=PARTICLE, env={"TAILRACE_FAULT": fault})
    record = ran.records[-1]
    assert record["phases"]["reserve"]["max_s"] >= 2
    assert record["elapsed"]["durable_s"] >= 2.5
    assert 1.5 <= record["elapsed"]["aggregate_s"] < 2.4, record["elapsed"]


def test_computation_lies_between_the_writes(tmp_path):
    words = (*SMALL, "format=mpiio", "compute=0.02 idle")
    lines = check(good(tmp_path, 4, *words).records[-1], 4)
    for line in lines.values():
        names = [name for name, _start, _end in line if name in ("write", "compute")]
        runs = [name for name, after in pairwise([*names, ""]) if name != after]
        assert runs == ["write", *["compute", "write"] * 4]
        assert all(e - s >= 0.02 for name, s, e in line if name == "compute")


def test_many_steps_are_joined_and_keep_their_sums(tmp_path):
    words = ("processor=2x1x1", "domain=1x1x4", "time=4000", "format=posix", "repeat=1")
    warm_up, record = good(tmp_path, 2, *words).records
    assert warm_up["warm_up"] and lines_of(warm_up)
    lines = check(record, 2)
    for rank, line in enumerate(lines.values()):
        assert 100 < len(line) <= 512
        about = record["time_lines"]["list"][rank]
        assert 0 < about["resolution_s"] < record["time_lines"]["elapsed_s"]
        joined = {}
        for one in about["stretches"]:
            name = record["time_lines"]["phases"][one[0]]
            joined[name] = joined.get(name, 0) + (one[3] if len(one) == 4 else 1)
        assert joined["write"] >= 4000


def test_nodes_without_a_common_clock_say_so(tmp_path):
    words = (*SMALL, "format=mpiio")
    record = good(tmp_path, 4, *words, env={"TAILRACE_RANKS_PER_NODE": "2"}).records[-1]
    check(record, 4)
    assert record["time_lines"]["clock"] == "barrier"
    assert 0 < record["time_lines"]["clock_uncertainty_s"] < 1


def test_a_failed_run_has_its_lines_up_to_the_failure(tmp_path):
    rule = "op=write,path=*/seism-test.h5*,phase=write,after=1,short=10,errno=ENOSPC"
    words = (*SMALL, "format=hdf5")
    result = run(tmp_path, 4, *words, env={"TAILRACE_FAULT": rule})
    assert result.code == 1, result.err
    record = result.records[-1]
    assert record["status"] == "failed"
    lines = check(record, 4)
    assert all("write" in {name for name, _s, _e in line} for line in lines.values())
