# SPDX-License-Identifier: Apache-2.0
"""Chunks that follow from the reads in a profile."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repacking import rows
from tailrace_cli import called

from tailrace.errors import TailraceError
from tailrace.repack import Options, repack
from tailrace.repack.elements import tiles_between
from tailrace.repack.reading import reads_in
from tailrace.repack.survey import Dataset, Storage
from tailrace.verify.tiles import grown
from tailrace.verify.types import Float


def profile(file: Path, reads: list[tuple[list[int], int]], path: str = "/rows") -> dict[str, Any]:
    shapes = [
        {"selection": "hyperslab", "length": length, "calls": calls, "call_bytes": 4}
        for length, calls in reads
    ]
    dataset = {
        "path": path, "dims": [400, 1000], "processes": "0", "interface": "hdf5",
        "type": {"class": "float", "bytes": 4},
        "reads": {"calls": sum(calls for _, calls in reads), "shapes": shapes},
    }  # fmt: skip
    return {
        "schema": "tailrace-profile/1",
        "origin": {"kind": "hook", "command": "x", "version": "1", "start": ""},
        "run": {"ranks": 1, "processes": [{"id": 0}]},
        "files": [{"path": str(file), "processes": "0", "datasets": [dataset]}],
    }


def test_columns_of_rows(tmp_path: Path) -> None:
    file = tmp_path / "rows.h5"
    values = rows(file)
    saved = tmp_path / "profile.json"
    saved.write_text(json.dumps(profile(file, [([400, 1], 30), ([1, 1000], 2)])))
    run = called("repack", file, "--profile", saved, "--json")
    assert run.code == 0, run.err
    found = run.json
    (changed,) = found["datasets"]
    chunk = changed["to"]["chunk"]
    assert changed["why"] == ["30 reads of 400 x 1"] and chunk[0] >= 100 and chunk[1] < 1000
    (price,) = found["price"]["datasets"]
    assert price["piece"] == [400, 1] and price["piece_now_s"] > price["piece_after_s"]
    with h5py.File(file) as new:
        assert list(new["rows"].chunks) == chunk and np.array_equal(new["rows"][:], values)


def test_reads_that_are_served_well(tmp_path: Path) -> None:
    file = tmp_path / "rows.h5"
    rows(file)
    report = repack(file, options=Options(profile=profile(file, [([1, 1000], 30)])))
    assert report.nothing_to_do and report.notes == ["/rows: its layout suits its reads already"]
    with pytest.raises(TailraceError) as error:
        repack(file, options=Options(profile=profile(tmp_path / "row.h5", [([1, 1000], 30)])))
    assert f"the nearest is {tmp_path}/row.h5" in error.value.what


def test_a_chunk_that_is_wished_goes_before(tmp_path: Path) -> None:
    file = tmp_path / "rows.h5"
    rows(file)
    options = Options(chunks=["rows=400x10"], profile=profile(file, [([400, 1], 30)]))
    report = repack(file, None, tmp_path / "out.h5", options)
    assert report.changes[0].new.chunk == (400, 10) and report.price is not None
    assert report.price.datasets[0].piece == (400, 1)


def dataset(shape: tuple[int, ...], chunk: tuple[int, ...] = ()) -> Dataset:
    storage = Storage("chunked" if chunk else "contiguous", chunk)
    return Dataset(["/x"], shape, shape, Float(4), 4, storage, 4 * math.prod(shape), True)


extents = st.lists(st.integers(1, 4000), min_size=1, max_size=3).map(tuple)


@settings(max_examples=100, deadline=None)
@given(extents, st.data())
def test_what_is_chosen_fits(shape: tuple[int, ...], data: st.DataObject) -> None:
    reads = [
        ([data.draw(st.integers(1, n)) for n in shape], data.draw(st.integers(1, 99)))
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    file = Path("/in.h5")
    (found,) = reads_in(profile(file, reads, "/x"), str(file), [dataset(shape)]).values()
    assert (list(found.extents), found.calls) in reads
    if found.chunk is not None:
        assert all(1 <= c <= n for c, n in zip(found.chunk, shape, strict=True))
        assert 4 * math.prod(found.chunk) <= 1 << 20


@settings(max_examples=100, deadline=None)
@given(extents, st.integers(1, 5000), st.data())
def test_tiles_are_whole_new_chunks(
    shape: tuple[int, ...], budget: int, data: st.DataObject
) -> None:
    old, new = (tuple(data.draw(st.integers(1, n)) for n in shape) for _ in range(2))
    room = 4 * max(budget, math.prod(new), math.prod(shape) // 500)
    covered = 0
    for box in tiles_between(dataset(shape, old), Storage("chunked", new), room):
        covered += math.prod(part.stop - part.start for part in box)
        assert math.prod(part.stop - part.start for part in box) * 4 <= room
        for part, step, extent in zip(box, new, shape, strict=True):
            assert part.start % step == 0 and (part.stop % step == 0 or part.stop == extent)
    assert covered == math.prod(shape)


def test_tiles_between_rows_and_columns_unpack_little() -> None:
    """Row by row, each column would be unpacked a thousand times."""
    tile = grown((1000, 1000), (1, 1), [(1, 1000), (1000, 1)], 10_000)
    assert math.prod(tile) <= 10_000
    assert 1000 / tile[0] + 1000 / tile[1] < 25
