# SPDX-License-Identifier: Apache-2.0
"""Runs of programs, with the connector or without it, and what they left."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.intent import apply, plugin
from tailrace.intent.native_calls import call

BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
CONNECTOR = BUILD / "src" / "hooks" / "vol" / "plugin"
STILL = BUILD / "tests" / "bin" / "still_clock.so"

Words = list[str | Path]


@dataclass(frozen=True)
class Left:
    """What a run told, and the files that it left."""

    code: int
    out: str
    err: str
    files: dict[str, bytes]


def environment() -> dict[str, str]:
    """The time stands still, and nothing warns of what a newer numpy says to older wheels."""
    return os.environ | {"LD_PRELOAD": str(STILL), "PYTHONWARNINGS": "ignore"}


def told(text: str) -> str:
    """What a program on MPICH has said on standard error, without what MPICH says itself where a
    rank asks for the text of an error that another has met: docs/developer/hdf5_connector.md."""
    ring = re.compile(r"^Invalid error code \(\d+\) \(error ring index \d+ invalid\)\n", re.M)
    return ring.sub("", text) if os.environ["TAILRACE_TEST_MPI"] == "mpich" else text


def run(folder: Path, words: Words, **added: str) -> Left:
    folder.mkdir(parents=True)
    done = subprocess.run(
        words, cwd=folder, env=environment() | added, capture_output=True, text=True, timeout=60
    )
    return Left(done.returncode, done.stdout, told(done.stderr), files_in(folder))


def files_in(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def recorded(
    folder: Path, words: Words, connector: Path = CONNECTOR, **added: str
) -> tuple[Left, dict[str, Any]]:
    """A run in FOLDER/run, with the environment that `tailrace profile` would give, and the
    profile."""
    spools = folder / "spools"
    spools.mkdir(parents=True)
    added |= plugin.environment_for(connector, spools, None, {})
    return run(folder / "run", words, **added), profile_of(spools)


def profile_of(spools: Path) -> dict[str, Any]:
    return dict(json.loads(call("profile_of_spools", str(spools), "")))


def applied(
    folder: Path, words: Words, plan: Path, connector: Path = CONNECTOR, **added: str
) -> tuple[Left, list[apply.Line]]:
    """A run in FOLDER/run, with the environment that `tailrace apply` would give, and a line for
    each thing that became of a setting."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    document = json.loads(plan.read_text())
    compiled = plan.with_suffix(".compiled")
    compiled.write_bytes(apply.compiled(document, str(plan)))
    added |= plugin.environment_to_apply(connector, compiled, {})
    left = run(folder / "run", words, TAILRACE_PROFILE_DIR=str(notes), **added)
    return left, apply.lines_of(document, apply.outcomes(notes))
