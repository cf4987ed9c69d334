# SPDX-License-Identifier: Apache-2.0
"""Files that are opened to append or read past their end, and hints that are given again."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from mpi_programs import BUILD, MPIEXEC, SANITIZERS, mpi_components  # noqa: E402
from profiled import file_of, profiled  # noqa: E402

from tailrace.intent.native_calls import intents_of  # noqa: E402

PROGRAM = BUILD / "tests" / "bin" / "mpiio_ends"
SIZE = 1000


@pytest.mark.parametrize(("name", "environment"), mpi_components())
def test_ends_and_hints(tmp_path: Path, name: str, environment: dict[str, str]) -> None:
    for file in ("pointer", "behind", "elsewhere", "plain", "short", "hints", "in_turn"):
        (tmp_path / file).write_bytes(bytes(SIZE))
    command = (*MPIEXEC, "-n", "4", PROGRAM, tmp_path)
    ran, profile = profiled(tmp_path, *command, **SANITIZERS, **environment)
    assert ran.code == 0, ran.err
    text = intents_of([("profile.json", json.dumps(profile))])
    files = json.loads(text)["files"]

    hints = file_of(profile, "hints")["mpiio"]
    assert hints["hints_given"]["cb_buffer_size"] == "1048576"
    in_force = hints.get("hints_in_force", {})  # not each library tells of this one
    assert in_force.get("cb_buffer_size", "none") == ran.out.split()[0]

    reads = file_of(profile, "short")["mpiio"]["reads"]
    assert reads["highest_byte"] == SIZE - 1
    assert {one["end_byte"] for one in reads["ranges"]} == {SIZE}
    assert files[str(tmp_path / "short")]["fs_size"]["bytes"] == SIZE

    opens = {"pointer": 4, "behind": 4, "elsewhere": 4, "fresh": 4, "plain": 0, "short": 0,
             "in_turn": 4}  # fmt: skip
    assert {file: file_of(profile, file)["mpiio"]["append_opens"] for file in opens} == opens
    made = {file: file_of(profile, file)["mpiio"]["create_mode"] for file in opens}
    assert made == {file: file == "fresh" for file in opens}
    created = files[str(tmp_path / "fresh")]["created"]
    assert (created["value"], created["confidence"]) == ("yes", "medium")
    assert files[str(tmp_path / "behind")]["created"]["value"] == "no"

    said = {file: files[str(tmp_path / file)]["append"]["value"] for file in opens}
    assert said == {
        "pointer": "yes", "behind": "yes", "elsewhere": "not known", "fresh": "not known",
        "plain": "not known", "short": "not known", "in_turn": "not known",
    }  # fmt: skip
