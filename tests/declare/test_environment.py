# SPDX-License-Identifier: Apache-2.0
"""Declarations for programs that cannot be changed: TAILRACE_INTENTS, and --declare."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from declaring import SOURCE, Ran, declared_of, file_of, intents_of, profiled, script, tailrace

from tailrace.errors import ExitCode

WRITE = """
import os, h5py, numpy as np
os.makedirs("sub", exist_ok=True)
os.chdir("sub")
for name in ("chk_1.h5", "chk_2.h5", "out.h5"):
    with h5py.File(name, "w") as f:
        f["x"] = np.arange(10)
        if name == "out.h5":
            f.flush()
with open("log.txt", "w") as log:
    log.write("x" * 10000)
"""
DECLARED = {
    "files": {
        "chk_*.h5": {"reliability": "recomputable", "type": "write_only"},
        "out.h5": {"reliability": "scratch", "datasets": {"x": {"order": "one_transfer"}}},
        "log.txt": {"append": True},
    }
}


SCHEMA = json.loads((SOURCE / "schemas" / "declarations-1.schema.json").read_text())


def declarations(folder: Path, what: object = DECLARED) -> Path:
    file = folder / "declared.json"
    file.write_text(json.dumps(what))
    return file


@pytest.mark.parametrize("way", ["inline", "file", "option"])
def test_a_program_that_cannot_be_changed(tmp_path: Path, way: str) -> None:
    declarations(tmp_path)
    jsonschema.validate(DECLARED, SCHEMA)
    options: tuple[str, ...] = ()
    given = None
    if way == "inline":
        given = json.dumps(DECLARED)
    elif way == "file":
        given = "declared.json"  # the program goes to another folder first
    else:
        options = ("--declare", "declared.json")
    ran, profile = profiled(
        tmp_path, *script(tmp_path, WRITE), options=options, TAILRACE_INTENTS=given
    )
    assert ran.code == 0, ran.err
    source = "environment" if way == "inline" else "file"
    checkpoint = (source, {"reliability": "recomputable", "type": "write_only"})
    for name in ("chk_1.h5", "chk_2.h5"):
        assert declared_of(file_of(profile, name)) == [checkpoint]
    out = file_of(profile, "out.h5")
    assert declared_of(out) == [(source, {"reliability": "scratch"})]
    assert declared_of(out["datasets"][0]) == [(source, {"order": "one_transfer"})]
    # Written by the C library: system calls have a hook of their own.
    assert declared_of(file_of(profile, "log.txt")) == [(source, {"append": "yes"})]
    # The hooks read what is declared: the program does not.
    assert not any(file["path"].endswith("declared.json") for file in profile["files"])
    ran, found = intents_of(tmp_path)
    text = " ".join(ran.out.split())
    assert f"out.h5: reliability scratch ({source}), but the profile says durable" in text
    assert found["files"][str(tmp_path / "sub" / "out.h5")]["reliability"]["value"] == "scratch"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"files": {"*.h5": {"ordr": "random"}}}', 'unknown key "ordr". Did you mean "order"?'),
        ('{"files": ', "this is no JSON"),
        ("nowhere.json", "the file of declarations is not there"),
    ],
)
def test_a_wrong_environment_is_said_before_the_program_starts(
    tmp_path: Path, text: str, what: str
) -> None:
    ran = tailrace("profile", "--", "touch", "started", cwd=tmp_path, TAILRACE_INTENTS=text)
    assert ran.code == ExitCode.OWN_FAILURE
    assert what in ran.err
    assert "TAILRACE_INTENTS" in ran.err
    assert list(tmp_path.iterdir()) == []


def run(folder: Path, *words: str | Path) -> Ran:
    return tailrace(*words, cwd=folder)


def test_declared_afterwards(tmp_path: Path) -> None:
    """The same of a profile that is there already, by intents and advise."""
    ran, profile = profiled(tmp_path, *script(tmp_path, WRITE))
    assert ran.code == 0, ran.err
    assert declared_of(file_of(profile, "out.h5")) == []
    more = {"files": {**DECLARED["files"], "chek_1.h5": {"append": "no"}}}
    file = declarations(tmp_path, more)
    ran, found = intents_of(tmp_path, "--declare", file)
    path = str(tmp_path / "sub" / "chk_1.h5")
    statement = found["files"][path]["reliability"]
    assert (statement["value"], statement["confidence"]) == ("recomputable", "full")
    assert statement["evidence"][0]["from"] == "command_line"
    assert 'declared of "chek_1.h5", which no file matches; there is "chk_1.h5"' in ran.err
    run(tmp_path, "advise", "profile.json", "--declare", file).expect(0)
    for command in ("intents", "advise"):
        wrong = run(tmp_path, command, "profile.json", "--declare", "declared.jsn")
        assert wrong.code == 2
        assert "declared.jsn" in wrong.err
    declarations(tmp_path, {"files": {"*": {"reliability": "durabel"}}})
    for command in ("intents", "advise"):
        wrong = run(tmp_path, command, "profile.json", "--declare", file)
        assert wrong.code == 2
        assert 'Did you mean "durable"?' in wrong.err
        assert "declared.json" in wrong.err
