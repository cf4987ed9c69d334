# SPDX-License-Identifier: Apache-2.0
"""Profiles of so many datasets that nobody looks at each: as a text, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

from tailrace.intent import advice
from tailrace.intent.native_calls import checked_profile
from tailrace.intent.sources import profile_text, whole_profile

SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "profile-1.schema.json"
MANY = 4000
Json = dict[str, Any]


def dataset(number: int) -> Json:
    """Three kinds in turns, some of them with more or with less than others of their kind."""
    kind, at = number % 3, number * 1e-4
    length = [16 << kind]
    found: Json = {
        "path": f"/group/d{number}", "interface": "hdf5", "processes": "0", "ndims": 1,
        "type": {"class": "float", "bytes": 8, "name": "f64le"}, "elements": length[0],
        "dims": length, "max_dims": [None], "layout": "chunked", "chunk": [16], "creates": 0,
        "fill": {"defined": "default", "time": "ifset"}, "opens": 1, "flushes": 0,
        "open": {"start_s": at, "end_s": at + 1e-5},
        "reads": {
            "calls": 1, "bytes": 8 * length[0], "elements": length[0], "failed": 0, "whole": 1,
            "elapsed_s": 1e-5 * (number % 7), "active": {"start_s": at, "end_s": at + 1e-5},
            "order": {"sequential": 0, "strided": 0, "random": 0, "repeated": 0},
            "shapes": [{"selection": "all", "calls": 1, "length": length}],
        },
    }  # fmt: skip
    if number % 50 == 7:
        del found["reads"]
    elif number % 50 == 8:
        found["reads"]["order"]["step"] = [number]
        found["writes"] = {"calls": 2, "bytes": 16}
    elif number % 50 == 9:
        del found["reads"]["shapes"], found["fill"]
        found["settings_of_program"] = {"chunk_cache_bytes": number}
    return found


def profile(count: int) -> Json:
    file = {"path": "/d/a.h5", "processes": "0", "hdf5": {"opens": 1, "read_only_opens": 1},
            "datasets": [dataset(number) for number in range(count)]}  # fmt: skip
    return {
        "schema": "tailrace-profile/1",
        "origin": {"kind": "hook", "command": "x", "version": "", "start": ""},
        "run": {"elapsed_s": 2.0, "ranks": 1}, "files": [{"path": "/d/b"}, file],
    }  # fmt: skip


def test_all_of_it_comes_back_from_a_small_text() -> None:
    made = profile(MANY)
    text = profile_text(made)
    assert len(text) < 0.5 * len(json.dumps(made, separators=(",", ":")))
    assert whole_profile(text) == made
    assert made == profile(MANY), "what was written is left as it is"
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text()))
    assert checked_profile(text, "x") == checked_profile(json.dumps(made), "x")


def test_people_read_profiles_of_few() -> None:
    text = profile_text(profile(1000))
    assert '"like"' not in text and text.count("\n") > 1000
    assert whole_profile(text) == profile(1000)


def test_datasets_that_have_little_in_common_stay_as_they_are() -> None:
    made = profile(MANY)
    for number, one in enumerate(made["files"][1]["datasets"]):
        one["dims"] = one["chunk"] = [number + 1]
        one["reads"] = dict.fromkeys(("calls", "bytes", "elements", "whole", "multi"), number)
        for key in ("type", "layout", "fill", "open", "max_dims", "opens", "creates", "flushes"):
            one.pop(key, None)
    assert '"like"' not in profile_text(made)


def test_advice_is_the_same(tmp_path: Path) -> None:
    plans, made = [], profile(MANY)
    for name, text in (("whole", json.dumps(made)), ("brief", profile_text(made))):
        (tmp_path / name).write_text(text)
        plan, about, notes = advice.advise([tmp_path / name], [], [])
        plan["origin"]["sources"] = []
        plans.append((plan, about, notes))
    assert plans[0] == plans[1]
