# SPDX-License-Identifier: Apache-2.0
"""Datasets of which little was written: what nobody wrote is compared once, not terabytes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tailrace.verify import hdf5_tree
from tailrace.verify.compare import CompareOptions, compare_files
from tailrace.verify.differences import CompareReport

EXTENT, CHUNK = 1 << 20, 1 << 12
SLABS = CompareOptions(slab_bytes=1 << 15)  # of one chunk of 8 bytes each
WRITTEN = 150 * CHUNK + 7


def sparse(path: Path, values: dict[int, float], fill: float = -1.0, **more: Any) -> Path:
    with h5py.File(path, "w") as file:
        made = file.create_dataset("x", (EXTENT,), "f8", fillvalue=fill, **more)
        for place, value in values.items():
            made[place] = value
    return path


def compared(one: Path, other: Path) -> CompareReport:
    found, turned = compare_files(one, other, SLABS), compare_files(other, one, SLABS)
    assert found.differing_elements == turned.differing_elements
    return found


@pytest.mark.parametrize("chunks", [None, (CHUNK,)])
def test_terabytes_that_nobody_wrote_take_no_time(tmp_path: Path, chunks: Any) -> None:
    files = [tmp_path / "one.h5", tmp_path / "other.h5"]
    for path in files:
        with h5py.File(path, "w") as file:
            huge = (1 << 41,) if chunks is None else (1 << 36,)
            file.create_dataset("x", huge, "f8", chunks=chunks and (1 << 16,))
            if chunks:
                file["x"][12345] = 1.0
    assert compare_files(*files).ok


def test_only_the_first_of_what_nobody_wrote_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes: list[int] = []
    read = hdf5_tree.read_box

    def noted(dataset: Any, kind: Any, box: Any) -> Any:
        boxes.append(box[0].start // CHUNK)
        return read(dataset, kind, box)

    monkeypatch.setattr(hdf5_tree, "read_box", noted)
    files = [sparse(tmp_path / f"{n}.h5", {WRITTEN: 5.0}, chunks=(CHUNK,)) for n in "ab"]
    found = compare_files(*files, SLABS)
    assert found.ok and found.read_bytes == 8 * EXTENT
    assert boxes == [0, 0, WRITTEN // CHUNK, WRITTEN // CHUNK]


@pytest.mark.parametrize("chunks", [None, (CHUNK,)])
def test_other_fill_values_differ_everywhere(tmp_path: Path, chunks: Any) -> None:
    one, other = (sparse(tmp_path / f"{f}.h5", {}, f, chunks=chunks) for f in (0.0, 1.0))
    assert compared(one, other).differing_elements == EXTENT


def test_what_only_one_has_written_is_seen(tmp_path: Path) -> None:
    chunks = (CHUNK,)
    empty = sparse(tmp_path / "empty.h5", {}, chunks=chunks)
    one = sparse(tmp_path / "one.h5", {WRITTEN: 5.0}, chunks=chunks)
    other = sparse(tmp_path / "other.h5", {WRITTEN: 5.0, EXTENT - 1: 7.0}, chunks=(1 << 10,))
    assert compared(one, empty).differing_elements == 1
    assert compared(one, other).differing_elements == 1
    filled = sparse(tmp_path / "filled.h5", {WRITTEN: -1.0}, chunks=chunks)
    assert compared(empty, filled).ok, "written, but with the fill value"


def test_a_rectangle_of_chunks_in_two_dimensions(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    for name in "ab":
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            chunk = (10, 30) if name == "a" else (25, 7)
            made = file.create_dataset("x", (1000, 700), "f8", chunks=chunk)
            made[100:120, 300:333] = 2.0
    files = [tmp_path / f"{name}.h5" for name in "ab"]
    assert compared(*files).ok
    for _ in range(5):
        row, column = int(generator.integers(1000)), int(generator.integers(700))
        with h5py.File(files[1], "r+") as file:
            file["x"][row, column] = 9.0
        assert compared(*files).differing_elements == 1
        with h5py.File(files[1], "r+") as file:
            file["x"][row, column] = 2.0 if (100 <= row < 120 and 300 <= column < 333) else 0.0
