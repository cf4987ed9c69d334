# SPDX-License-Identifier: Apache-2.0
"""What reading and writing a dataset costs, in the old layout and in the new one, from a sample."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s

from tailrace.repack.elements import access_of, tile_between
from tailrace.repack.layout import Change
from tailrace.repack.memory import Memory
from tailrace.repack.survey import Dataset, Storage, raw
from tailrace.repack.target import abandon
from tailrace.verify.model import Box, Shape

SAMPLE_BYTES = 4 << 20
_samples = 3
_touched_bytes = 32 << 20  # of chunks that one measured read unpacks at most
_enough_s = 1.0  # for one thing that is measured


@dataclass
class DatasetPrice:
    """Seconds are for the whole dataset, but `piece_...`: for one read of extents `piece`."""

    path: str
    bytes: int  # of its elements that have storage
    read_now_s: float = 0.0
    read_after_s: float = 0.0
    write_s: float = 0.0
    stored_after: int = 0
    piece: Shape = ()
    pieces: int = 0  # that the whole dataset has
    piece_now_s: float = 0.0
    piece_after_s: float = 0.0
    sampled_bytes: int = 0  # 0: nothing could be measured

    @property
    def saved_s(self) -> float:
        """By one read of a piece."""
        return self.piece_now_s - self.piece_after_s


def measure(
    source: h5py.File, change: Change, price: DatasetPrice, memory: Memory, file: Path, piece: Shape
) -> None:
    old = change.dataset
    started = time.perf_counter()
    read_s = write_s = again_s = 0.0
    stored = count = 0
    extents: Shape = ()
    for box in _sample_boxes(old, change.new):
        access = access_of(old.storage, old.item_bytes, memory.cache_bytes)
        values, seconds = _timed(source, old, access, box)
        read_s += seconds
        count += values.nbytes
        extents = values.shape
        seconds, size = _written(source, change, values, file)
        write_s += seconds
        stored += size
        again_s += _again(file, extents, extents, memory.cache_bytes)
        if time.perf_counter() - started > _enough_s:
            break
    scale = price.bytes / count
    # The repack has more memory than the sample, and unpacks less in vain.
    tiles = [tile_between(old, change.new, room)[0] for room in (memory.tile_bytes, SAMPLE_BYTES)]
    wide, narrow = (_touched(tuple(one), old, old.storage) / math.prod(one) for one in tiles)
    price.read_now_s, price.write_s = read_s * scale * wide / narrow, write_s * scale
    price.read_after_s, price.stored_after = again_s * scale, int(stored * scale)
    price.sampled_bytes = count
    assert old.shape is not None
    price.piece = tuple(min(n, extent) for n, extent in zip(piece, old.shape, strict=True))
    price.pieces = math.prod(-(-n // p) for n, p in zip(old.shape, price.piece, strict=True))
    price.piece_now_s = _piece_now(source, old, price.piece, memory)
    within = tuple(min(a, b) for a, b in zip(price.piece, extents, strict=True))
    share = _touched(price.piece, old, change.new) / _touched(within, old, change.new)
    price.piece_after_s = share * _again(file, extents, within, None)


def _sample_boxes(old: Dataset, new: Storage) -> list[Box]:
    """Tiles as the repack has them, near the beginning, the middle and the end."""
    assert old.shape
    tile, _ = tile_between(old, new, SAMPLE_BYTES)
    boxes = []
    for part in range(_samples):
        low = []
        for extent, step in zip(old.shape, tile, strict=True):
            steps = -(-extent // step)
            low.append(step * min(steps - 1, steps * (2 * part + 1) // (2 * _samples)))
        box = tuple(
            slice(a, min(a + step, n)) for a, step, n in zip(low, tile, old.shape, strict=True)
        )
        if box not in boxes:
            boxes.append(box)
    return boxes


def _timed(source: h5py.File, old: Dataset, access: Any, box: Box) -> tuple[Any, float]:
    """Reads a box; the dataset is opened for it, so that no chunk is unpacked already."""
    extents = tuple(part.stop - part.start for part in box)
    values = np.zeros(extents, f"V{old.item_bytes}")
    started = time.perf_counter()
    dataset = h5d.open(source.id, raw(old.path), access)
    space = dataset.get_space()
    space.select_hyperslab(tuple(part.start for part in box), extents)
    dataset.read(h5s.create_simple(extents), space, values, mtype=dataset.get_type())
    return values, time.perf_counter() - started


def _written(source: h5py.File, change: Change, values: Any, file: Path) -> tuple[float, int]:
    """Seconds to write a sample and sync it, and the bytes that it takes."""
    old = h5d.open(source.id, raw(change.dataset.path))
    chunk = change.new.chunk or values.shape
    extents = tuple(max(n, c) for n, c in zip(values.shape, chunk, strict=True))
    started = time.perf_counter()
    made = h5f.create(bytes(file), h5f.ACC_TRUNC)
    try:
        dataset = h5d.create(
            made, b"sample", old.get_type().copy(), h5s.create_simple(extents),
            change.creation(old.get_create_plist()),
            dapl=access_of(change.new, change.dataset.item_bytes, 1 << 20),
        )  # fmt: skip
        space = dataset.get_space()
        space.select_hyperslab((0,) * len(extents), values.shape)
        dataset.write(h5s.create_simple(values.shape), space, values, mtype=old.get_type())
        dataset.flush()
        size = dataset.get_storage_size()
        del dataset
        h5f.flush(made)
    except BaseException:
        abandon(made, file)
        raise
    made.close()
    with file.open("rb") as stream:
        os.fsync(stream.fileno())
    return time.perf_counter() - started, int(size)


def _again(file: Path, extents: Shape, piece: Shape, cache_bytes: int | None) -> float:
    """Seconds to read the first `piece` of a sample of these extents."""
    with h5py.File(file, "r") as made:
        storage = h5d.open(made.id, b"sample")
        size = storage.get_type().get_size()
        access = None
        if cache_bytes is not None:
            access = h5p.create(h5p.DATASET_ACCESS)
            access.set_chunk_cache(10007, cache_bytes, 0.75)
        del storage
        values = np.zeros(piece, f"V{size}")
        started = time.perf_counter()
        dataset = h5d.open(made.id, b"sample", access)
        space = dataset.get_space()
        space.select_hyperslab((0,) * len(extents), piece)
        dataset.read(h5s.create_simple(piece), space, values, mtype=dataset.get_type())
        return time.perf_counter() - started


def _piece_now(source: h5py.File, old: Dataset, piece: Shape, memory: Memory) -> float:
    """Seconds of one read of a piece from the file as it is: with HDF5's own chunk cache."""
    assert old.shape is not None
    less = list(piece)
    most = min(_touched_bytes, memory.tile_bytes)
    while _touched(tuple(less), old, old.storage) > most and max(less) > 1:
        axis = less.index(max(less))
        less[axis] = -(-less[axis] // 2)
    share = _touched(piece, old, old.storage) / _touched(tuple(less), old, old.storage)
    seconds = []
    started = time.perf_counter()
    for part in range(_samples):
        low = [
            (n - p) * (2 * part + 1) // (2 * _samples) for n, p in zip(old.shape, less, strict=True)
        ]
        box = tuple(slice(a, a + p) for a, p in zip(low, less, strict=True))
        seconds.append(_timed(source, old, None, box)[1])
        if time.perf_counter() - started > _enough_s:
            break
    return share * sum(seconds) / len(seconds)


def _touched(piece: Shape, old: Dataset, storage: Storage) -> int:
    """Bytes of the chunks that a piece has a part of."""
    chunk = storage.chunk or (1,) * len(piece)
    return old.item_bytes * math.prod(-(-p // c) * c for p, c in zip(piece, chunk, strict=True))


def piece_of(change: Change) -> Shape:
    """What the new chunks are for, where nothing else is said."""
    assert change.dataset.shape is not None
    return change.new.chunk or change.dataset.storage.chunk or change.dataset.shape


def written_bytes(source: h5py.File, old: Dataset) -> int:
    if old.storage.layout != "chunked":
        return old.bytes if old.stored_bytes else 0
    thing = h5d.open(source.id, raw(old.path))
    chunk = math.prod(old.storage.chunk) * old.item_bytes
    return min(old.bytes, int(thing.get_num_chunks()) * chunk)
