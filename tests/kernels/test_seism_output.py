# SPDX-License-Identifier: Apache-2.0
"""The output for a person and for a program."""

import json
import os
import re

import jsonschema
import pytest
from mpi_programs import mpi_components
from seism_tool import SOURCE, good

# The two published sample blocks, line by line.
ECHO = """\
================================================================================
Number of processes:            8
Process layout:                 2 x 2 x 2
Per process grid:               6 x 4 x 4
Chunk dimensions:               3 x 4 x 4
Number of time steps:           5
Pre-create:                     1
Collective I/O:                 1
Collective metadata requested:  1
Early allocation:               1
H5D_FILL_TIME_NEVER set:        1
"""
RESULTS = [
    ("Pre-create/open:                ", "s"),
    ("Time in precreate_0():          ", "s"),
    ("Time in H5Fopen():              ", "s"),
    ("Time in H5Dopen():              ", "s"),
    ("Write:                          ", "s"),
    ("Write throughput:               ", "rate"),
    ("Close file:                     ", "s"),
    ("Aggregate throughput:           ", "rate"),
    ("Mdata ops actually collective:  ", "count"),
]
INPUT = """\
# default test set
processor 2 2 2
chunk 3 4 4
domain 6 4 4
time 5
precreate
collective_write
set_collective_metadata
never_fill
DONE
"""
NUMBER = r"([0-9.e+-]+)"


@pytest.fixture(scope="module")
def classic(tmp_path_factory):
    return good(tmp_path_factory.mktemp("classic"), 8, lines=INPUT)


def values_of(result):
    """The classic result lines: label to first number."""
    lines = result.out.splitlines()[11:20]
    values = {}
    for line, (label, kind) in zip(lines, RESULTS, strict=True):
        assert line.startswith(label), line
        patterns = {
            "s": rf"^{NUMBER} s$",
            "rate": rf"^{NUMBER} MiB/s \({NUMBER} MB/s\)$",
            "count": r"^([01])( \(.*\))?$",
        }
        match = re.match(patterns[kind], line[len(label) :])
        assert match, line
        values[label.strip()] = float(match.group(1))
        if kind == "rate":
            assert float(match.group(2)) == pytest.approx(
                float(match.group(1)) * 1.048576, rel=1e-4
            )
    return values


def test_labels_columns_and_order_are_the_published_ones(classic):
    assert classic.out.startswith(ECHO)
    values_of(classic)


def test_the_figures_fit_each_other_and_the_record(classic):
    values, record = values_of(classic), classic.records[-1]
    total = 5 * 8 * 6 * 4 * 4 * 4
    mib = total / 2**20
    assert record["bytes"]["logical"] == total
    assert values["Write throughput:"] == pytest.approx(mib / values["Write:"], rel=1e-4)
    aggregate = values["Pre-create/open:"] + values["Write:"] + values["Close file:"]
    assert values["Aggregate throughput:"] == pytest.approx(mib / aggregate, rel=1e-4)
    elapsed = record["elapsed"]
    assert elapsed["write_s"] == pytest.approx(values["Write:"], rel=1e-4)
    assert elapsed["aggregate_s"] == pytest.approx(aggregate, rel=1e-4)
    # The durable total holds everything: agreement and sync as well.
    assert elapsed["durable_s"] > elapsed["write_s"]
    assert elapsed["durable_s"] >= record["phases"]["sync"]["max_s"]
    steps = sum(step["write_s"]["max"] for step in record["steps"])
    assert len(record["steps"]) == 5 and steps == pytest.approx(elapsed["write_s"], rel=1e-9)
    assert record["rates"]["durable_bytes_per_s"] == pytest.approx(total / elapsed["durable_s"])


def test_lines_behind_the_classic_ones(classic):
    labels = [line[:32].rstrip() for line in classic.out.splitlines()[20:] if line[30:31] != ""]
    for label in (
        "Durable total:",
        "Durable throughput:",
        "Bytes logical:",
        "Bytes stored:",
        "Who wrote:",
        "Transfer in force:",
        "MPI-IO:",
        "Hints in force:",
        "Space reserved:",
        "File:",
    ):
        assert label in labels, classic.out
    assert "seism-test.h5 (hdf5)" in classic.out


def test_without_precreate_there_are_no_lines_about_it(tmp_path):
    out = good(tmp_path, 2, "processor=2x1x1", "domain=2x2x2", "time=1", "precreate=0").out
    assert "precreate_0()" not in out and "H5Fopen()" not in out and "Write:" in out
    assert "Pre-create/open:" not in out and "\nCreate/open:" in out


@pytest.mark.parametrize("kind", ["hdf5", "mpiio", "netcdf4", "pnetcdf", "posix-per-rank"])
def test_setting_space_aside_has_its_own_figures_and_can_be_left_out(tmp_path, kind):
    words = ("processor=2x1x1", "domain=16x16x16", "time=2", f"format={kind}")
    result = good(tmp_path, 2, *words)
    phases = result.records[-1]["phases"]
    line = next(one for one in result.out.splitlines() if one.startswith("Setting space aside:"))
    assert float(line.split()[3]) == pytest.approx(phases["reserve"]["max_s"], rel=1e-4)
    off = good(tmp_path, 2, *words, "reserve=off").records[-1]["reservation"]
    assert not off["reserved"] and "nothing set aside (reserve off)" in off["how"]


def test_a_hint_that_is_not_in_force_is_said(tmp_path):
    words = ("processor=2x1x1", "domain=2x2x2", "time=1", "hint=romio_cb_write=disable")
    for name, variables in mpi_components():
        result = good(tmp_path, 2, *words, env=variables)
        told = result.records[-1]["mpi_io"]["hints_in_force"]
        assert ("romio_cb_write" in told) == (name == "romio"), told
        line = "Hints not in force:             romio_cb_write=disable\n"
        assert (line in result.out) == (name == "ompio"), result.out


def test_contiguous_layout_is_said(tmp_path):
    out = good(tmp_path, 2, "processor=2x1x1", "domain=2x2x2", "time=1").out
    assert "Chunk dimensions:               none (contiguous)\n" in out
    assert "Mdata ops actually collective:  not requested; not measured" in out


def test_records_follow_their_schema(classic):
    schema = json.loads((SOURCE / "schemas/record-1.schema.json").read_text())
    for record in classic.records:
        jsonschema.validate(record, schema)
    record = classic.records[-1]
    assert record["configuration"]["processor"] == [2, 2, 2]
    assert record["configuration"]["hint"] is None
    assert record["configuration"]["fill"] == "rank"
    assert record["context"]["ranks"] == 8
    assert record["context"]["hdf5_version"] and record["context"]["mpi_library"]
    assert record["mpi_io"]["implementation"]
    assert len(record["writers"]["list"]) == 8


def test_memory_of_a_rank(tmp_path):
    """Its data, 10 % and 64 MiB above the process after MPI_Init; also with all checks."""
    domain = 128 * 128 * 320 * 4  # 20 MiB per rank
    for more in (["chunk=128x128x64"], ["format=posix"], ["format=mpiio", "collective_write"]):
        record = good(
            tmp_path,
            2,
            "processor=2x1x1",
            "domain=128x128x320",
            "time=2",
            "read_back",
            "verify",
            "fill=position",
            *more,
        ).records[-1]
        memory = record["memory"]
        assert memory["data_bytes_max"] == domain
        if not os.environ.get("TAILRACE_TEST_SANITIZE"):  # sanitizers keep what is freed
            assert memory["peak_above_init_bytes_max"] <= 1.1 * domain + 64 * 2**20, more


def test_quiet_ranks(classic):
    """One rank prints: no line twice, nothing of ours on standard error."""
    lines = [line for line in classic.out.splitlines() if line.strip()]
    assert len(lines) == len(set(lines))
    assert "tailrace:" not in classic.err
