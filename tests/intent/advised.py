# SPDX-License-Identifier: Apache-2.0
"""A profile for which several rules fire, and the command that advises on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Run = subprocess.CompletedProcess[str]


def tailrace(*words: str | Path) -> Run:
    return subprocess.run(
        [sys.executable, "-m", "tailrace", *map(str, words)],
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip


def profile_of(file: str) -> dict[str, Any]:
    """A column read again and again from compressed rows; a contiguous one read the same way."""
    reads = {
        "calls": 30, "bytes": 240000, "shapes": [
            {"selection": "hyperslab", "length": [2000, 1], "calls": 30, "call_bytes": 8000},
        ],
    }  # fmt: skip
    common = {
        "dims": [2000, 3000], "elements": 6000000, "processes": "0", "creates": 1,
        "type": {"class": "float", "bytes": 4}, "reads": reads, "interface": "hdf5",
    }  # fmt: skip
    rows = {
        **common, "path": "/rows", "layout": "chunked", "chunk": [50, 3000],
        "filters": [{"id": 1, "name": "deflate", "values": [4]}],
    }  # fmt: skip
    return {
        "schema": "tailrace-profile/1",
        "origin": {"kind": "hook", "command": "x", "version": "1", "start": ""},
        "run": {
            "ranks": 1, "node_memory_bytes": 1 << 34,
            "processes": [{"id": 0, "hdf5_version": "2.2.0"}],
        },
        "files": [{
            "path": file, "processes": "0",
            "hdf5": {
                "opens": 1, "creates": 1,
                "metadata": {"dataset": {"create": 200}, "attribute": {"create": 5000}},
            },
            "mpiio": {"writes": {"collective": 1000, "bytes": 1 << 28}, "reads": None},
            "datasets": [rows, {**common, "path": "/plain", "layout": "contiguous"}],
        }],
    }  # fmt: skip
