# SPDX-License-Identifier: Apache-2.0
"""A raw container as a tree of nodes."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.verify.model import Attribute, Box, Node, Shape, Values
from tailrace.verify.raw_layout import (
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
        except (KeyError, TypeError, ValueError) as error:
            raise broken(path, f"its description is not as documented ({error!r})") from error
        self.format = "raw, a file per rank" if per_rank else "raw"
        self._maps: dict[Path, np.memmap[Any, Any]] = {}
        self._attributes = _by_object(self._description.attributes)
        self.nodes: dict[str, Node] = {"/": self._group("/")}
        for stored in self._description.objects:
            if not skip(stored.path):
                self._add(stored)
        self.nodes = dict(sorted(self.nodes.items()))

    def close(self) -> None:
        self._maps.clear()

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
            for piece in stored.pieces:
                self._copy(piece.file, piece.at, piece.offset, piece.count, values, box)
        elif stored.chunk is None:
            origin = (0,) * len(stored.dims)
            self._copy(stored.file, stored.offset, origin, stored.dims, values, box)
        else:
            self._read_chunks(stored, values, box)
        return values

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
        stored = self._mapped(file)[at : at + math.prod(count) * values.dtype.itemsize]
        values[tuple(target)] = stored.view(values.dtype).reshape(count)[tuple(source)]

    def _mapped(self, file: Path) -> np.memmap[Any, Any]:
        if file not in self._maps:
            if len(self._maps) >= 64:
                self._maps.pop(next(iter(self._maps)))
            self._maps[file] = np.memmap(file, np.uint8, "r")
        return self._maps[file]


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
