# SPDX-License-Identifier: Apache-2.0
"""The records that C++ writes against the published schema, and the schema against its rules.

TAILRACE_REGENERATE=1 writes the schema anew."""

from __future__ import annotations

import copy
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

root = Path(os.environ["TAILRACE_SOURCE_DIR"])
Json = dict[str, Any]


SCHEMA = root / "schemas/record-1.schema.json"


def printed(*arguments: str) -> str:
    program = os.environ["TAILRACE_TEST_RECORD_SAMPLES"]
    run = subprocess.run([program, *arguments], capture_output=True, check=True, timeout=20)
    return run.stdout.decode("utf-8")


@pytest.fixture(scope="module")
def schema() -> Json:
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def records() -> list[Json]:
    return [json.loads(line) for line in printed().splitlines()]


def test_the_file_is_up_to_date() -> None:
    written = printed("schema")
    if os.environ.get("TAILRACE_REGENERATE"):
        SCHEMA.write_text(written, encoding="utf-8")
    assert SCHEMA.read_text(encoding="utf-8") == written


def test_samples_are_valid(schema: Json, records: list[Json]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert len(records) == 3
    for record in records:
        jsonschema.Draft202012Validator(schema).validate(record)


def properties(schema: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Every property of every object in the schema, by a path for messages."""
    for name, inner in schema.get("properties", {}).items():
        yield f"{path}/{name}", inner
        yield from properties(inner, f"{path}/{name}")
    for branch in [*schema.get("anyOf", []), *schema.get("$defs", {}).values()]:
        yield from properties(branch, path)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from properties(schema[key], f"{path}[]")


def test_every_key_is_described(schema: Json) -> None:
    found = list(properties(schema))
    assert len(found) > 120
    for path, inner in found:
        described = "description" in inner or "$ref" in inner
        assert described, path


def test_numbers_have_their_unit_in_the_name(schema: Json) -> None:
    """A description that says bytes or seconds belongs to a name that says so."""
    units = {"in bytes": "bytes", "in seconds": "_s"}
    for path, inner in properties(schema):
        if inner.get("type") not in ("integer", "number"):
            continue
        for words, part in units.items():
            if words in inner["description"].lower():
                assert part in path, path


def test_the_schema_is_strict(schema: Json, records: list[Json]) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    for path in ((), ("context",), ("elapsed",), ("writers",), ("verification",), ("error",)):
        record = copy.deepcopy(records[2])
        place = record
        for step in path:
            place = place[step]
        place["surprise"] = 1
        assert not validator.is_valid(record), path


def test_wrong_records_are_refused(schema: Json, records: list[Json]) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    for path, value in (
        (("schema",), "tailrace-record/2"),
        (("status",), "fine"),
        (("started",), "yesterday"),
        (("bytes", "stored"), -1),
        (("bytes", "stored"), 1.5),
        (("elapsed", "durable_s"), -1),
        (("verification", "status"), "ok"),
        (("file", "content_hashes"), {"/chunked": "123"}),
        (("writers", "list", 0, "by_size"), {"4k": 1}),
        (("context", "ranks"), "8"),
        (("time_lines", "clock"), "sundial"),
        (("time_lines", "list", 0, "stretches", 0), [0, 0.0]),
        (("time_lines", "list", 0, "stretches", 0), [0, -1.0, 0.0]),
    ):
        record = copy.deepcopy(records[0])
        place: Any = record
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        assert not validator.is_valid(record), path
    lacking_in_older = {"limit", "reads", "serving", "time_lines"}
    for key in records[0].keys() - lacking_in_older:
        record = copy.deepcopy(records[0])
        del record[key]
        assert not validator.is_valid(record), key
