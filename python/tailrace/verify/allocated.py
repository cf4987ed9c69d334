# SPDX-License-Identifier: Apache-2.0
"""Which parts of a dataset have storage: what nobody wrote is not written into a copy either, and
need not be compared again and again."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
from h5py import h5d

from tailrace.verify.model import Box, Shape

_most_chunks = 1 << 26  # of which a map is kept, a byte each


class Allocated:
    """The chunks of an open dataset that are there."""

    def __init__(self, dataset: Any, shape: Shape, chunk: Shape) -> None:
        self._chunk = chunk
        self._grid = tuple(-(-n // c) for n, c in zip(shape, chunk, strict=True))
        self._places = places_of_chunks(dataset, len(chunk))
        self.whole = len(self._places) == math.prod(self._grid)
        self._map: Any = None
        if not self.whole and math.prod(self._grid) <= _most_chunks:
            self._map = np.zeros(self._grid, bool)
            if len(self._places):
                self._map[tuple((self._places.astype("i8") // chunk).T)] = True

    def overlaps(self, box: Box) -> bool:
        """Whether there is storage for an element of the box (or it is not known)."""
        if self.whole or self._map is None:
            return len(self._places) > 0
        parts = tuple(
            slice(part.start // c, -(-part.stop // c))
            for part, c in zip(box, self._chunk, strict=True)
        )
        return bool(self._map[parts].any())

    def offsets(self) -> Iterator[tuple[int, ...]]:
        for place in self._places:
            yield tuple(int(n) for n in place)


class Everything:
    """Of a dataset that has no chunks: storage for all or for nothing."""

    whole = True

    def __init__(self, there: bool) -> None:
        self._there = there

    def overlaps(self, _box: Box) -> bool:
        return self._there


def allocated(dataset: Any, layout: str, shape: Shape, chunk: Shape) -> Allocated | Everything:
    if layout == "chunked":
        return Allocated(dataset, shape, chunk)
    return Everything(layout != "contiguous" or dataset.get_storage_size() > 0)


def places_of_chunks(dataset: Any, ndims: int) -> Any:
    """First elements of the chunks with storage, a row for each."""
    flat = array("Q")
    if isinstance(dataset, h5d.DatasetID) and hasattr(dataset, "chunk_iter"):
        dataset.chunk_iter(lambda info: flat.extend(info.chunk_offset))
    else:  # HDF5 before 1.12.3: each one is looked for from the beginning
        for index in range(dataset.get_num_chunks()):
            flat.extend(dataset.get_chunk_info(index).chunk_offset)
    return np.frombuffer(flat, "u8").reshape(-1, ndims) if flat else np.zeros((0, ndims), "u8")
