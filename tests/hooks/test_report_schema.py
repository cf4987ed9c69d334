# SPDX-License-Identifier: Apache-2.0
"""Real reports of the interposer against the published schema, and the schema against its rules."""

import copy
import json
import os
from pathlib import Path

import jsonschema
import pytest
from interposer_runs import WRITER, report_lines, run
from mpi_programs import BUILD, MPIEXEC, PRELOAD, mpi_components

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
MANY_FILES = """
import os, sys
for index in range(4200):
    fd = os.open(f"{sys.argv[1]}/f.{index}", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"x")
    os.close(fd)
"""


@pytest.fixture(scope="module")
def schema():
    return json.loads((SOURCE / "schemas/posix-1.schema.json").read_text())


@pytest.fixture(scope="module")
def validator(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def lines_of(tmp_path, command, environment=None):
    preload = {} if command[0] in MPIEXEC[:1] else {"LD_PRELOAD": str(PRELOAD)}
    report = {"TAILRACE_POSIX_REPORT": f"{tmp_path}/report.%p"}
    run(command, {**preload, **report, **(environment or {})})
    lines = report_lines(tmp_path)
    assert lines
    return lines


def test_reports_of_programs_that_know_nothing_of_it(tmp_path, validator):
    faults = {"TAILRACE_FAULT": f"op=write,path={tmp_path}/full,limit_bytes=1000"}
    dd = ["dd", "if=/dev/zero", f"of={tmp_path}/full", "bs=700", "count=3"]
    for line in lines_of(tmp_path, dd, faults):
        validator.validate(line)
    [full] = [line for line in report_lines(tmp_path) if line["path"] == f"{tmp_path}/full"]
    assert full["write"]["failed_calls"] == 1
    assert "rank" not in full


def test_more_files_than_it_knows(tmp_path, validator):
    (tmp_path / "files").mkdir()
    lines = lines_of(tmp_path, ["python3", "-c", MANY_FILES, tmp_path / "files"])
    for line in lines:
        validator.validate(line)
    assert [line["path"] for line in lines].count(None) == 1


@pytest.mark.parametrize("component,environment", mpi_components())
def test_reports_of_ranks_with_phases(tmp_path, validator, component, environment):
    target = tmp_path / "data.bin"
    command = [*MPIEXEC, "-n", 4, WRITER, target, "mpiio", "collective"]
    lines = lines_of(tmp_path, command, environment)
    for line in lines:
        validator.validate(line)
    mine = [line for line in lines if line["path"] == str(target)]
    assert {line["rank"] for line in mine} == {0, 1, 2, 3}
    assert all(line["by_phase"] for line in mine)


def test_the_schema_is_strict(tmp_path, validator):
    writer = BUILD / "tests/bin/held_writer"
    [line] = [
        line
        for line in lines_of(tmp_path, [writer, tmp_path / "data"])
        if line["path"] == str(tmp_path / "data")
    ]
    for path in ((), ("write",), ("read",), ("writes_by_family",), ("by_phase", "")):
        wrong = copy.deepcopy(line)
        place = wrong
        for step in path:
            place = place[step]
        place["surprise"] = 1
        assert not validator.is_valid(wrong), path
    for key in line:
        wrong = copy.deepcopy(line)
        del wrong[key]
        assert validator.is_valid(wrong) == (key == "rank"), key
    for path, value in (
        (("schema",), "tailrace-posix/2"),
        (("path",), None),
        (("write", "done_bytes"), -1),
        (("write", "calls_by_log2_size"), {"48": 1}),
        (("read", "first_errno"), "EIO"),
    ):
        wrong = copy.deepcopy(line)
        place = wrong
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        assert not validator.is_valid(wrong), path


def properties(schema, path=""):
    for name, inner in schema.get("properties", {}).items():
        if isinstance(inner, dict):
            yield f"{path}/{name}", inner
            yield from properties(inner, f"{path}/{name}")
    for inner in schema.get("$defs", {}).values():
        yield from properties(inner, path)


def test_every_key_is_described(schema):
    found = list(properties(schema))
    assert len(found) > 25
    for path, inner in found:
        assert inner.get("description"), path
