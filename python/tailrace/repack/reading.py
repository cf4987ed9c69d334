# SPDX-License-Identifier: Apache-2.0
"""How a program reads a file, from its profile, and the chunks that suit these reads."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError
from tailrace.intent.native_calls import checked_profile
from tailrace.intent.sources import read_profiles
from tailrace.repack.memory import Memory
from tailrace.repack.survey import Dataset, Storage
from tailrace.verify.model import Shape

# Finding, reading and unpacking a chunk takes as long as moving so many bytes more.
_bytes_per_chunk = 64 << 10
_page_bytes = 4096
_sizes = (256 << 10, 1 << 20)  # of chunks that are tried
_smallest_dataset = 1 << 20
_worth = 2.0  # by how much less must be moved

Reads = dict[str, list["Read"]]


@dataclass(frozen=True)
class Read:
    """Calls of one shape."""

    extents: Shape
    calls: int


def reads_in(
    profile: Path | str | Mapping[str, Any], name: str, datasets: Sequence[Dataset]
) -> Reads:
    """The reads of a file's datasets, by the dataset's first path.

    Raises:
        TailraceError: the profile is none, or knows no such file.
    """
    if isinstance(profile, Mapping):
        where, text = "profile", json.dumps(profile)
    else:
        ((where, text),), _ = read_profiles([Path(profile)])
    document = json.loads(checked_profile(text, where))
    files = {file["path"]: file for file in document.get("files") or []}
    if name not in files:
        near = difflib.get_close_matches(name, files, 1, 0.0)
        nearest = f"; the nearest is {near[0]}" if near else ""
        raise TailraceError(
            f"knows no file {name}{nearest}", where=where,
            hint="--as NAME repacks the file as if it had that name",
        )  # fmt: skip
    known = {one["path"]: one for one in files[name].get("datasets") or []}
    found: Reads = {}
    for dataset in datasets:
        seen = next((known[path] for path in dataset.paths if path in known), None)
        if seen is not None and dataset.shape:
            found[dataset.path] = list(_of_dataset(seen, dataset.shape))
    return {path: reads for path, reads in found.items() if reads}


def _of_dataset(seen: Mapping[str, Any], shape: Shape) -> Iterator[Read]:
    for one in (seen.get("reads") or {}).get("shapes") or []:
        extents = tuple(one.get("length") or ())
        if one.get("selection") == "all":
            extents = shape
        if len(extents) == len(shape) and 0 not in extents and one.get("calls"):
            within = (min(n, extent) for n, extent in zip(extents, shape, strict=True))
            yield Read(tuple(within), int(one["calls"]))


def dominant(reads: Sequence[Read]) -> Read:
    """The shape that moves the most elements."""
    return max(reads, key=lambda one: one.calls * math.prod(one.extents))


def chunk_for(dataset: Dataset, reads: Sequence[Read], memory: Memory) -> Shape | None:
    """The chunk with which these reads move the least; None where that is not much less than now.

    Tried are the shapes of the reads, and what they have in common, grown to 256 KiB and 1 MiB.
    """
    shape = dataset.shape
    if not shape or not reads or dataset.bytes < _smallest_dataset:
        return None
    common = tuple(min(one.extents[axis] for one in reads) for axis in range(len(shape)))
    most = memory.largest_chunk_bytes
    tried = {
        _sized(start, shape, max(1, min(size, most) // dataset.item_bytes))
        for start in (common, *(one.extents for one in reads))
        for size in _sizes
    }
    # Of equal ones the larger: fewer chunks in the file.
    best = min(tried, key=lambda one: (_cost(one, dataset, reads), -math.prod(one)))
    now = _cost_now(dataset.storage, dataset, reads)
    return best if _worth * _cost(best, dataset, reads) <= now else None


def _sized(start: Shape, shape: Shape, room: int) -> Shape:
    """Extents of about `room` elements: halved where longest, then doubled in turns, last first."""
    made = list(start)
    while math.prod(made) > room:
        longest = made.index(max(made))
        made[longest] = -(-made[longest] // 2)
    grown = True
    while grown and 2 * math.prod(made) <= room:
        grown = False
        for axis in reversed(range(len(made))):
            wider = min(2 * made[axis], shape[axis])
            if wider > made[axis] and math.prod(made) // made[axis] * wider <= room:
                made[axis], grown = wider, True
    return tuple(made)


def _cost(chunk: Shape, dataset: Dataset, reads: Sequence[Read]) -> float:
    size = math.prod(chunk) * dataset.item_bytes + _bytes_per_chunk
    return sum(one.calls * size * _touched(one.extents, chunk, dataset) for one in reads)


def _cost_now(storage: Storage, dataset: Dataset, reads: Sequence[Read]) -> float:
    if storage.chunk:
        return _cost(storage.chunk, dataset, reads)
    page = max(1, _page_bytes // dataset.item_bytes)
    row = (*(1,) * (len(reads[0].extents) - 1), page)
    return sum(2 * _page_bytes * one.calls * _touched(one.extents, row, dataset) for one in reads)


def _touched(extents: Shape, chunk: Shape, dataset: Dataset) -> float:
    """Chunks that a read has a part of, on the average of all places where it may begin."""
    assert dataset.shape is not None
    return math.prod(
        min(1 + (n - 1) / c, -(-extent // c))
        for n, c, extent in zip(extents, chunk, dataset.shape, strict=True)
    )
