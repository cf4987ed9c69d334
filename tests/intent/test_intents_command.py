# SPDX-License-Identifier: Apache-2.0
"""`tailrace intents` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tailrace.cli import main
from tailrace.intent.darshan import read_darshan

IOR = "ior_hdf5_example.darshan"


def test_errors_as_json(call, tmp_path: Path) -> None:
    code, out, _ = call(tmp_path / "none.darshan", "--json")
    assert code == 2
    assert json.loads(out)["error"]["exit_code"] == 2


def test_a_damaged_log_and_what_can_be_read_of_it(call, logs: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.darshan"
    whole = (logs / IOR).read_bytes()
    cut.write_bytes(whole[: int(len(whole) * 0.9)])
    code, _, err = call(cut)
    assert code == 2 and "--partial" in err
    code, out, err = call(cut, "--partial")
    assert code == 0 and "why" in out
    assert "could not be read to the end" in err
