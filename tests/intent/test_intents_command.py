# SPDX-License-Identifier: Apache-2.0
"""`tailrace intents` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tailrace.cli import main
from tailrace.intent.darshan import read_darshan

IOR = "ior_hdf5_example.darshan"


def test_joined_runs_have_rows_of_files(call, tmp_path: Path) -> None:
    """A file that several runs made has the path of one of them; its pattern names both."""
    profiles = []
    for ranks in (4, 16):
        moved = {"calls": 1, "bytes": 80}
        made = {
            "schema": "tailrace-profile/1", "run": {"ranks": ranks},
            "origin": {"kind": "hook", "command": "x", "version": "1", "start": ""},
            "files": [{
                "path": f"/run_{ranks}/out.h5", "processes": f"0-{ranks - 1}",
                "hdf5": {"opens": ranks},
                "datasets": [{"path": "/x", "interface": "hdf5", "processes": "0", "writes": moved}],
            }],
        }  # fmt: skip
        profiles.append(tmp_path / f"{ranks}.json")
        profiles[-1].write_text(json.dumps(made))
    for order in (profiles, profiles[::-1]):
        code, out, _ = call(*order)
        table = out.partition("File ")[2].partition("Dataset ")[0]
        assert code == 0 and "out.h5" in table and "write-only" in table


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
