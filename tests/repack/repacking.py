# SPDX-License-Identifier: Apache-2.0
"""What the tests of repack share: plans, and a badly laid out file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

BECAUSE = {"rule": "17", "text": "because", "effect": "faster", "source": "a test"}


def rows(path: Path, shape: tuple[int, int] = (400, 1000)) -> Any:
    """A file of rows that somebody reads by columns; and its values."""
    values = np.random.default_rng(5).integers(0, 99, shape).astype("f4")
    with h5py.File(path, "w") as file:
        file.create_dataset("rows", data=values, chunks=(1, shape[1]), compression=1)
        file["rows"].attrs["units"] = "K"
        file["plain"] = values[:20]
    return values


def setting(key: str, value: Any) -> dict[str, Any]:
    """Of a plan; a list of extents for the function `tile` is a tuple."""
    made = {"key": key, "class": "layout", "because": BECAUSE}
    if isinstance(value, tuple):
        function = {"name": "tile", "numbers": {"max_bytes": 1 << 20}, "extents": list(value)}
        return {**made, "function": function}
    return {**made, "value": value}


def plan(file: str | Path, dataset: str = "/rows", **settings: Any) -> dict[str, Any]:
    entry = {
        "file": str(file), "dataset": dataset, "when": "create",
        "settings": [setting(key, value) for key, value in settings.items()],
    }  # fmt: skip
    return {"schema": "tailrace-plan/1", "origin": {"version": "1"}, "entries": [entry]}


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def untouched(folder: Path, before: dict[str, bytes]) -> bool:
    """Whether a folder holds just what it held."""
    return contents(folder) == before and all(file.is_file() for file in folder.iterdir())
