# SPDX-License-Identifier: Apache-2.0
"""A raw container as a tree of nodes."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.verify.model import Attribute, Box, Node, Shape, Values
from tailrace.verify.raw_layout import (
    Piece,
    StoredObject,
    broken,
    looks_like_manifest,
    read_manifest,
    read_shared,
)
from tailrace.verify.types import Float, Integer, Text, Type

Skip = Callable[[str], bool]


class RawTree:
    """An open raw container: a shared file, or the manifest of a file per rank."""

    def __init__(self, path: Path, skip: Skip = lambda _path: False) -> None:
        self.path = path
        per_rank = looks_like_manifest(path)
        try:
            self._description = read_manifest(path) if per_rank else read_shared(path)
            self._attributes = _by_object(self._description.attributes)
        except (
            AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError
        ) as error:  # fmt: skip
            raise broken(path, f"its description is not as documented ({error!r})") from error
        self.format = "raw, a file per rank" if per_rank else "raw"
        self._open: dict[Path, BufferedReader] = {}
        self._sorted: dict[str, tuple[list[Piece], list[int], int]] = {}
        self.nodes: dict[str, Node] = {"/": self._group("/")}
        for stored in self._description.objects:
            if not skip(stored.path):
                self._add(stored)
        self.nodes = dict(sorted(self.nodes.items()))

    def close(self) -> None:
        for stream in self._open.values():
            stream.close()
        self._open.clear()

    def reference_text(self, reference: Any, kind: str) -> str:
        raise TypeError(f"a raw container has no {kind} references")

    def _group(self, path: str) -> Node:
        return Node(path, "group", partial(self._attributes.__getitem__, path))

    def _add(self, stored: StoredObject) -> None:
        parent = stored.path.rpartition("/")[0]
        while parent and parent not in self.nodes:
            self.nodes[parent] = self._group(parent)
            parent = parent.rpartition("/")[0]
        node = self._group(stored.path)
        node.kind = "dataset"
        node.type, node.shape, node.limits = stored.type, stored.dims, stored.dims
        node.chunk = stored.chunk
        node.read = partial(self._read, stored)
        node.unallocated = partial(_uncovered, stored)
        self.nodes[stored.path] = node

    def _read(self, stored: StoredObject, box: Box) -> Values:
        values = np.zeros(tuple(part.stop - part.start for part in box), stored.dtype)
        if stored.file is None:
            for piece in self._near(stored, box):
                self._copy(piece.file, piece.at, piece.offset, piece.count, values, box)
        elif stored.chunk is None:
            origin = (0,) * len(stored.dims)
            self._copy(stored.file, stored.offset, origin, stored.dims, values, box)
        else:
            self._read_chunks(stored, values, box)
        return values

    def _near(self, stored: StoredObject, box: Box) -> list[Piece]:
        """Pieces that can meet a box, judged by the slowest dimension: mostly the steps."""
        if not box:
            return list(stored.pieces)
        if stored.path not in self._sorted:
            pieces = sorted(stored.pieces, key=lambda piece: piece.offset[0])
            widest = max((piece.count[0] for piece in pieces), default=0)
            self._sorted[stored.path] = pieces, [piece.offset[0] for piece in pieces], widest
        pieces, begins, widest = self._sorted[stored.path]
        first = bisect_right(begins, box[0].start - widest)
        return pieces[first : bisect_left(begins, box[0].stop)]

    def _read_chunks(self, stored: StoredObject, values: Values, box: Box) -> None:
        assert stored.chunk is not None and stored.file is not None
        grid = [-(-n // c) for n, c in zip(stored.dims, stored.chunk, strict=True)]
        chunk_bytes = math.prod(stored.chunk) * stored.dtype.itemsize
        touched = [
            range(part.start // chunk, -(-part.stop // chunk))
            for part, chunk in zip(box, stored.chunk, strict=True)
        ]
        for index in itertools.product(*touched):
            number = 0
            for place, extent in zip(index, grid, strict=True):
                number = number * extent + place
            corner = tuple(n * c for n, c in zip(index, stored.chunk, strict=True))
            at = stored.offset + number * chunk_bytes
            self._copy(stored.file, at, corner, stored.chunk, values, box)

    def _copy(
        self, file: Path, at: int, offset: Shape, count: Shape, values: Values, box: Box
    ) -> None:
        """Copies what a packed box in a file and the wanted box have in common."""
        source, target = [], []
        for low, extent, part in zip(offset, count, box, strict=True):
            begin, end = max(low, part.start), min(low + extent, part.stop)
            if begin >= end:
                return
            source.append(slice(begin - low, end - low))
            target.append(slice(begin - part.start, end - part.start))
        values[tuple(target)] = self._read_packed(file, at, count, tuple(source), values.dtype)

    def _read_packed(
        self, file: Path, at: int, count: Shape, box: Box, dtype: np.dtype[Any]
    ) -> Values:
        """A box of a packed array of extents `count` that begins at byte `at`, run by run."""
        axis = len(count) - 1
        while axis > 0 and box[axis] == slice(0, count[axis]):
            axis -= 1  # everything behind this axis is whole: one run
        strides = [math.prod(count[number + 1 :]) for number in range(len(count))]
        shape = tuple(part.stop - part.start for part in box)
        values = np.empty(shape, dtype)
        rows = values.reshape(-1, math.prod(shape[axis:]))
        corners = itertools.product(*(range(part.start, part.stop) for part in box[:axis]))
        for row, corner in zip(rows, corners, strict=True):
            first = sum(n * stride for n, stride in zip(corner, strides[:axis], strict=True))
            first += box[axis].start * strides[axis] if count else 0
            self._read_run(file, at + first * dtype.itemsize, row)
        return values

    def _read_run(self, file: Path, at: int, row: Values) -> None:
        stream = self._opened(file)
        stream.seek(at)
        if stream.readinto(memoryview(row).cast("B")) != row.nbytes:
            raise broken(file, f"it ends before byte {at + row.nbytes}")

    def _opened(self, file: Path) -> BufferedReader:
        if file not in self._open:
            if len(self._open) >= 64:
                self._open.pop(next(iter(self._open))).close()
            self._open[file] = file.open("rb")
        return self._open[file]


def _uncovered(stored: StoredObject) -> int:
    """Elements that no piece holds. Pieces are disjoint, or the file is not what we write."""
    if stored.file is not None:
        return 0
    held = sum(math.prod(piece.count) for piece in stored.pieces)
    return max(0, math.prod(stored.dims) - held)


def _by_object(entries: tuple[dict[str, Any], ...]) -> Mapping[str, dict[str, Attribute]]:
    found: dict[str, dict[str, Attribute]] = defaultdict(dict)
    for entry in sorted(entries, key=lambda item: str(item["name"])):
        attribute = _attribute(entry["value"])
        if attribute is not None:
            found[str(entry.get("object", "/"))][str(entry["name"])] = attribute
    return found


def _attribute(value: Any) -> Attribute | None:
    """JSON knows numbers and strings, not their sizes: integers are 64 bits, others float64.

    A compound (an object in JSON) has no type of its own here, and is left out.
    """
    if isinstance(value, dict):
        return None
    items = value if isinstance(value, list) else [value]
    kind: Type = Text(None, "utf-8", "null-terminated")
    dtype: Any = object
    if items and all(isinstance(item, int) for item in items):
        signed = any(item < 0 for item in items)
        kind, dtype = Integer(8, signed, 64), np.int64 if signed else np.uint64
    elif items and all(isinstance(item, int | float) for item in items):
        kind, dtype = Float(8), np.float64
    values = np.empty(len(items), dtype)
    values[:] = items
    if not isinstance(value, list):
        values = values.reshape(())
    return Attribute(kind, values.shape, values)
