# SPDX-License-Identifier: Apache-2.0
"""Boxes that cover a dataset, each of bounded size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

from tailrace.verify.model import Box, Shape


def tiles(shape: Shape, chunks: tuple[Shape | None, ...], budget: int) -> Iterator[Box]:
    """Covers `shape` with boxes of at most `budget` elements, in row-major order of the boxes.

    They are multiples of the chunks where that fits, and long in the last dimensions.
    """
    if not shape:
        yield ()
        return
    yield from _grid(shape, _tile(shape, chunks, max(1, budget)))


def row_major(shape: Shape, chunk: Shape | None, budget: int) -> Iterator[Box]:
    """Covers `shape` with boxes that follow each other without gaps in row-major order."""
    if not shape:
        yield ()
        return
    tile = [1] * len(shape)
    room = max(1, budget)
    for axis in reversed(range(len(shape))):
        tile[axis] = max(1, min(shape[axis], room))
        if tile[axis] < shape[axis]:
            step = chunk[axis] if chunk else 1
            if tile[axis] > step:
                tile[axis] -= tile[axis] % step
            break
        room //= max(1, shape[axis])
    yield from _grid(shape, tile)


def paced(shape: Shape, budget: Callable[[], int]) -> Iterator[Box]:
    """As `row_major`, but asks before each box how many elements it may have."""
    total, at = math.prod(shape), 0
    while at < total:
        room = max(1, budget())
        corner, rest = [], at
        for axis in range(len(shape)):
            inner = math.prod(shape[axis + 1 :])
            corner.append(rest // inner)
            rest %= inner
        box = [slice(low, low + 1) for low in corner]
        count = 1
        for axis in reversed(range(len(shape))):
            wide = min(shape[axis] - corner[axis], room // count)
            box[axis] = slice(corner[axis], corner[axis] + wide)
            count *= wide
            if wide < shape[axis]:
                break
        at += count
        yield tuple(box)


def grown(shape: Shape, base: Shape, chunks: list[Shape], budget: int) -> list[int]:
    """`base`, made wider as long as fewer elements of the chunks are unpacked in vain.

    In multiples of `base`, to at most `budget` elements.
    """
    tile = [max(1, min(step, extent)) for step, extent in zip(base, shape, strict=True)]
    cost = _unpacked(tile, chunks)
    while True:
        best = None
        for axis, extent in enumerate(shape):
            for wide in _wider(tile[axis], extent, base[axis], [chunk[axis] for chunk in chunks]):
                wider = [*tile[:axis], wide, *tile[axis + 1 :]]
                if math.prod(wider) <= budget and (found := _unpacked(wider, chunks)) < cost:
                    best, cost = wider, found
        if best is None:
            return tile
        tile = best


def _wider(now: int, extent: int, step: int, chunks: list[int]) -> set[int]:
    """Extents that a tile of `now` could have next."""
    wanted = {2 * now, *(2 * now - 2 * now % chunk for chunk in chunks)}
    fits = {extent if n >= extent else n - n % step for n in wanted}
    return {n for n in fits if n > now}


def _unpacked(tile: list[int], chunks: list[Shape]) -> float:
    """Elements of all chunks together that are unpacked for each element of a tile."""
    return sum(
        math.prod(-(-n // c) * c / n for n, c in zip(tile, chunk, strict=True)) for chunk in chunks
    )


def _tile(shape: Shape, chunks: tuple[Shape | None, ...], budget: int) -> list[int]:
    known = [chunk for chunk in chunks if chunk is not None]
    tile = [1] * len(shape)
    for chunk in known:
        tile = [max(a, min(b, n)) for a, b, n in zip(tile, chunk, shape, strict=True)]
    if math.prod(tile) > budget:
        tile = grown(shape, (1,) * len(shape), known, budget)
    for axis in reversed(range(len(shape))):
        others = math.prod(tile) // max(1, tile[axis])
        room = max(1, budget // max(1, others))
        if room >= shape[axis]:
            tile[axis] = max(1, shape[axis])
        else:
            tile[axis] = max(tile[axis], room - room % tile[axis])
            break
    return tile


def _grid(shape: Shape, tile: list[int]) -> Iterator[Box]:
    ranges = [range(0, extent, step) for extent, step in zip(shape, tile, strict=True)]
    for corner in itertools.product(*ranges):
        yield tuple(
            slice(low, min(low + step, extent))
            for low, step, extent in zip(corner, tile, shape, strict=True)
        )
