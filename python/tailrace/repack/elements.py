# SPDX-License-Identifier: Apache-2.0
"""The elements of a dataset to its copy with another layout, in bounded memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from h5py import h5p, h5s, h5t

from tailrace.repack.attributes import unknown_type
from tailrace.repack.memory import Memory, chunk_bytes
from tailrace.repack.pointers import copy_elements
from tailrace.repack.references import References, holds_references
from tailrace.repack.survey import Dataset, Storage
from tailrace.verify.allocated import Allocated, Everything, allocated
from tailrace.verify.model import Box, Shape, Values
from tailrace.verify.pace import Pace
from tailrace.verify.tiles import grown, paced

Tell = Callable[[int], None]

_slots = 100_003  # of a chunk cache's hash table, a prime


def access_of(storage: Storage, item_bytes: int, room: int) -> Any:
    """How a dataset is opened to be read, or made to be written, tile by tile."""
    access = h5p.create(h5p.DATASET_ACCESS)
    if storage.layout == "chunked":
        # A chunk that does not fit the cache would be written element by element.
        size = max(room, chunk_bytes(storage, item_bytes))
        access.set_chunk_cache(_slots, size, 0.75)
    return access


def copy_fixed(
    source: Any, target: Any, old: Dataset, new: Storage, memory: Memory, tell: Tell
) -> None:
    """Elements of fixed size, as the bytes that they are.

    Tiles are whole chunks of the copy, so that each is packed once, and as wide as the memory lets
    them, so that the chunks of the source are unpacked as seldom as can be.
    """
    assert old.shape is not None
    tid = source.get_type()
    there = allocated(source, old.storage.layout, old.shape, old.storage.chunk)
    for box in tiles_between(old, new, memory.tile_bytes):
        if there.overlaps(box):
            values = np.empty(_extents(box), f"V{tid.get_size()}")
            source.read(*_selected(source, box), values, mtype=tid)
            for part in _parts(box, new.chunk, there):
                target.write(*_selected(source, part), _within(values, box, part), mtype=tid)
        tell(math.prod(_extents(box)) * old.item_bytes)


def copy_variable(
    source: Any, target: Any, old: Dataset, references: References, tell: Tell
) -> None:
    """Elements of variable length, and references, which are made anew."""
    assert old.shape is not None
    try:
        dtype = source.dtype
    except TypeError:
        raise unknown_type(f"dataset {old.path}") from None
    memory_type = h5t.py_create(dtype)
    there = allocated(source, old.storage.layout, old.shape, old.storage.chunk)
    pace = Pace()
    base = dtype if dtype.subdtype is None else dtype.subdtype[0]
    for box in paced(old.shape, pace) if old.shape else iter([()]):
        if there.overlaps(box):
            spaces = _selected(source, box)
            values = np.zeros(_extents(box), dtype, order="C")
            source.read(*spaces, values, mtype=memory_type)
            pace.learn(values)
            if holds_references(dtype):
                target.write(*spaces, references.translated(values, base), mtype=memory_type)
            else:
                del values
                copy_elements(source, target, source.get_type(), spaces)
        tell(math.prod(_extents(box)) * old.item_bytes)


def copy_chunks(source: Any, target: Any, old: Dataset, tell: Tell) -> None:
    """Chunks that stay as they are, packed."""
    assert old.shape is not None
    for offset in Allocated(source, old.shape, old.storage.chunk).offsets():
        mask, data = source.read_direct_chunk(offset)
        target.write_direct_chunk(offset, data, mask)
        tell(len(data))


def _within(values: Values, box: Box, part: Box) -> Values:
    """The part of a box's values; without a copy where it is all of them."""
    if part == box:
        return values
    inner = (slice(p.start - b.start, p.stop - b.start) for p, b in zip(part, box, strict=True))
    return np.ascontiguousarray(values[tuple(inner)])


def _parts(box: Box, chunk: Shape, there: Allocated | Everything) -> Iterator[Box]:
    """A box as it is written: whole, or where some has no storage those new chunks that have."""
    if there.whole or not chunk:
        yield box
        return
    ranges = [range(part.start, part.stop, step) for part, step in zip(box, chunk, strict=True)]
    for corner in itertools.product(*ranges):
        part = tuple(
            slice(low, min(low + step, whole.stop))
            for low, step, whole in zip(corner, chunk, box, strict=True)
        )
        if there.overlaps(part):
            yield part


def tiles_between(old: Dataset, new: Storage, budget_bytes: int) -> Iterator[Box]:
    """Boxes that cover the dataset."""
    shape = old.shape
    assert shape is not None
    if not shape:
        yield ()
        return
    tile, order = tile_between(old, new, budget_bytes)
    ranges = [range(0, shape[axis], tile[axis]) for axis in order]
    for corner in itertools.product(*ranges):
        low = dict(zip(order, corner, strict=True))
        yield tuple(
            slice(low[axis], min(low[axis] + tile[axis], extent))
            for axis, extent in enumerate(shape)
        )


def tile_between(old: Dataset, new: Storage, budget_bytes: int) -> tuple[list[int], list[int]]:
    """Extents of the tiles, and the order of dimensions in which they follow each other, the
    fastest last: where chunks of the source are cut, so that the cache still has them."""
    shape = old.shape
    assert shape
    base = new.chunk or (1,) * len(shape)
    chunks = [old.storage.chunk or _rows(shape, old.item_bytes)]
    tile = grown(shape, base, chunks, max(1, budget_bytes // old.item_bytes))
    room = max(1, budget_bytes // old.item_bytes)
    for axis in reversed(range(len(shape))):  # what is left of the budget: fewer, longer reads
        others = math.prod(tile) // tile[axis]
        most = room // others
        tile[axis] = shape[axis] if most >= shape[axis] else max(
            tile[axis], most - most % base[axis]
        )  # fmt: skip
        if tile[axis] < shape[axis]:
            break
    cut = [chunks[0][axis] / tile[axis] for axis in range(len(shape))]
    return tile, sorted(range(len(shape)), key=lambda axis: (cut[axis] > 1, cut[axis], axis))


def _rows(shape: Shape, item_bytes: int) -> Shape:
    """What a contiguous dataset is read by: a page, for what is near comes with it."""
    return (*(1,) * (len(shape) - 1), max(1, min(shape[-1], 4096 // item_bytes)))


def _extents(box: Box) -> Shape:
    return tuple(part.stop - part.start for part in box)


def _selected(dataset: Any, box: Box) -> tuple[Any, Any]:
    """The dataspaces of memory and file; the same for both files."""
    if not box:
        return h5s.create(h5s.SCALAR), h5s.create(h5s.SCALAR)
    space = dataset.get_space()
    space.select_hyperslab(tuple(part.start for part in box), _extents(box))
    return h5s.create_simple(_extents(box)), space
