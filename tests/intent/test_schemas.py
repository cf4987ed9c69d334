# SPDX-License-Identifier: Apache-2.0
"""The schemas that stand in schemas/ are those of the program, and what it writes keeps to them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tailrace.intent.darshan import read_darshan
from tailrace.intent.native_calls import checked_profile, intents_of
from tailrace.native import core

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"


@pytest.mark.parametrize("name", ["profile", "intents", "declarations"])
def test_the_file_is_up_to_date(name: str) -> None:
    module = core()
    assert module is not None
    assert (SCHEMAS / f"{name}-1.schema.json").read_text() == getattr(module, f"{name}_schema")()


@pytest.mark.parametrize("log", ["ior_hdf5_example.darshan", "noposix.darshan"])
def test_what_is_written_keeps_to_it(logs: Path, log: str) -> None:
    (profile,) = read_darshan([logs / log])
    text = checked_profile(json.dumps(profile), log)
    own = intents_of([(log, text)])
    for name, document in (("profile", text), ("intents", own)):
        schema = json.loads((SCHEMAS / f"{name}-1.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(json.loads(document), schema)


def test_every_key_has_a_sentence() -> None:
    for name in ("profile", "intents", "declarations"):
        schema = json.loads((SCHEMAS / f"{name}-1.schema.json").read_text())
        for part in [schema, *schema["$defs"].values()]:
            for key, one in part["properties"].items():
                assert one["description"].endswith("."), key


def test_an_import_is_complete_in_the_model(logs: Path) -> None:
    """Nothing that the import says is lost on the way through the compiled model."""
    (profile,) = read_darshan([logs / "ior_hdf5_example.darshan"])
    assert json.loads(checked_profile(json.dumps(profile), "x")) == json.loads(json.dumps(profile))
