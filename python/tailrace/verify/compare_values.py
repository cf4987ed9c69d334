# SPDX-License-Identifier: Apache-2.0
"""Comparison of elements, slab by slab."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tailrace.verify.canonical import ReferenceText, encode, plain, unequal
from tailrace.verify.close import Mask, Side, Tolerance, apart
from tailrace.verify.differences import Difference
from tailrace.verify.model import Attribute, Box, Node, Storage, Values
from tailrace.verify.pace import Pace, slab_bytes
from tailrace.verify.show import shown
from tailrace.verify.tiles import paced, tiles
from tailrace.verify.types import Compound, Integer, Reference, Text, Type


class ValueComparison:
    """Compares the elements of two datasets of the same type and extents."""

    def __init__(
        self, left: ReferenceText, right: ReferenceText, tolerance: Tolerance, most: int,
        room_bytes: int = slab_bytes,
    ) -> None:  # fmt: skip
        self._left, self._right = left, right
        self._tolerance = tolerance
        self._most = most
        self._room_bytes = room_bytes

    def compare(
        self, one: Node, other: Node, advance: Callable[[int], None]
    ) -> tuple[list[Difference], int]:
        """The first differing elements, and how many there are."""
        assert one.read and other.read and one.type and one.shape is not None
        first: list[Difference] = []
        count = done = 0
        pace = Pace()
        unwritten, are_alike, item_bytes = _Unwritten(one, other, self._room_bytes), False, 0
        for box in (
            paced(one.shape, pace)
            if one.type.variable
            else tiles(
                one.shape, (one.chunk, other.chunk), slab_elements(one.type, self._room_bytes)
            )
        ):
            is_unwritten = unwritten.holds(box)
            if is_unwritten and are_alike:
                done += item_bytes * math.prod(part.stop - part.start for part in box)
                advance(done)
                continue
            a, b = one.read(box), other.read(box)
            item_bytes = a.itemsize
            if one.type.variable:
                pace.learn(a, b)
            done += a.nbytes
            mask = self._differs(a, b, one.type)
            here = int(np.count_nonzero(mask))
            count += here
            are_alike = are_alike or (is_unwritten and not here)
            if here and len(first) < self._most:
                places = np.flatnonzero(mask)[: self._most - len(first)]
                first += self._named(one, box, places, a, b)
            advance(done)
        return [
            Difference(d.path, d.kind, d.one, d.other, index=d.index, count=count) for d in first
        ], count

    def _differs(self, a: Values, b: Values, kind: Type) -> Mask:
        if not self._tolerance.exact:
            return apart(Side(a, self._left), Side(b, self._right), kind, self._tolerance)
        if plain(kind, a) and plain(kind, b) and a.dtype.itemsize in (1, 2, 4, 8):
            return _numbers_differ(a, b)
        return unequal(encode(a, kind, self._left), encode(b, kind, self._right))

    def _named(
        self, node: Node, box: Box, places: np.ndarray, a: Values, b: Values
    ) -> list[Difference]:
        assert node.type is not None
        extents = tuple(part.stop - part.start for part in box)
        found = []
        for place in places:
            inner = tuple(int(n) for n in np.unravel_index(int(place), extents)) if extents else ()
            index = tuple(n + part.start for n, part in zip(inner, box, strict=True))
            texts = (
                shown(a, inner, node.type, self._left),
                shown(b, inner, node.type, self._right),
            )
            found.append(Difference(node.path, "value", *texts, index=index))
        return found


class _Unwritten:
    """Boxes that nobody wrote in either file. They hold fill values and nothing else, so that one
    of them says it for all: a sparse dataset may be larger than all disks together."""

    def __init__(self, one: Node, other: Node, room_bytes: int) -> None:
        self._storages: list[Storage] = []
        assert one.type
        room = slab_elements(one.type, room_bytes)
        for node in (one, other):
            if node.unallocated and node.storage and node.unallocated() > room:
                self._storages.append(node.storage())

    def holds(self, box: Box) -> bool:
        there = self._storages
        return len(there) == 2 and not any(one.overlaps(box) for one in there)


def slab_elements(kind: Type, room_bytes: int = slab_bytes) -> int:
    """How many elements of fixed size are read at a time."""
    return max(1, room_bytes // max(1, element_bytes(kind)))


def element_bytes(kind: Type) -> int:
    """Bytes of an element in memory; 16 for a part of variable length."""
    if isinstance(kind, Compound):
        return sum(element_bytes(member) for _, member in kind.members)
    base = getattr(kind, "base", None)
    if base is not None:
        return element_bytes(base) * math.prod(getattr(kind, "shape", (1,)))
    return getattr(kind, "size", None) or 16


def attributes_differ(
    name: str,
    a: Attribute,
    b: Attribute,
    resolvers: tuple[ReferenceText, ReferenceText],
    tolerance: Tolerance,
) -> int:
    """How many elements of an attribute differ; both are of the same type and extents."""
    assert a.values is not None and b.values is not None
    # Of equal types one may be a text of netCDF, all of whose bytes count: then they do for both.
    kind = b.type if isinstance(b.type, Text) and b.type.whole else a.type
    if not tolerance.exact:
        sides = Side(a.values, resolvers[0]), Side(b.values, resolvers[1])
        return int(np.count_nonzero(apart(*sides, kind, tolerance)))
    one, other = encode(a.values, kind, resolvers[0]), encode(b.values, kind, resolvers[1])
    if back_references(name, a.type):
        return sum(x != y for x, y in zip(sorted(one), sorted(other), strict=True))
    return int(np.count_nonzero(unequal(one, other)))


def back_references(name: str, kind: Type) -> bool:
    """A dimension scale's list of its users, whose order says only when each was attached."""
    return (
        name == "REFERENCE_LIST"
        and isinstance(kind, Compound)
        and [type(member) for _, member in kind.members] == [Reference, Integer]
    )


def _numbers_differ(a: Values, b: Values) -> Mask:
    """By bits, so that zeros of different sign differ; but one NaN is as good as another."""
    assert a.shape == b.shape, f"{a.shape} against {b.shape}"
    left, right = _native(a), _native(b)
    bits = np.dtype(f"u{left.dtype.itemsize}")
    mask: Mask = (left.view(bits) != right.view(bits)).reshape(-1)
    if left.dtype.kind == "f" and mask.any():
        mask &= ~(np.isnan(left) & np.isnan(right)).reshape(-1)
    return mask


def _native(values: Values) -> Values:
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return np.ascontiguousarray(native).reshape(values.shape or (1,))
