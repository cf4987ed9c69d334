# SPDX-License-Identifier: Apache-2.0
"""The script that compares with reference intents."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tailrace.intent.native_calls import intents_of
from tailrace.intent.sources import read_profiles

SCRIPT = Path(__file__).with_name("reference_table.py")


@pytest.fixture
def folder(logs: Path, tmp_path: Path) -> Path:
    """A log, and our own intents in the place of the reference."""
    log = tmp_path / "a.darshan"
    shutil.copy(logs / "ior_hdf5_example.darshan", log)
    texts, _ = read_profiles([log])
    (tmp_path / "a.intents.ref.json").write_text(intents_of(texts)[1])
    return tmp_path


def compared(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)


def change(folder: Path, field: str, value: Any) -> None:
    path = folder / "a.intents.ref.json"
    reference = json.loads(path.read_text())
    for one in reference["datasets"].values():
        one[field] = value
    path.write_text(json.dumps(reference))


def test_what_agrees(folder: Path) -> None:
    run = compared(folder)
    assert run.returncode == 0, run.stderr
    assert "| `type` | 1 |" in run.stdout
    assert str(folder) not in run.stdout


def test_a_difference_with_a_reason(folder: Path) -> None:
    (dataset,) = json.loads((folder / "a.intents.ref.json").read_text())["datasets"].values()
    change(folder, "sharing_pattern", 1)
    run = compared(folder)
    assert dataset["sharing_pattern"] == 0
    assert run.returncode == 0 and "| `sharing_pattern` | 1d |" in run.stdout


def test_a_difference_without_a_reason(folder: Path) -> None:
    change(folder, "ndims", 7)
    run = compared(folder)
    assert run.returncode == 1 and "| `ndims` | 1? |" in run.stdout
    assert "no reason" in run.stderr
