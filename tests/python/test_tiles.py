# SPDX-License-Identifier: Apache-2.0
"""Tiles cover everything exactly once, and none is greater than the budget."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tailrace.verify.tiles import paced, row_major, tiles

extents = st.lists(st.integers(0, 9), min_size=0, max_size=4).map(tuple)


@settings(max_examples=200, deadline=None)
@given(extents, st.integers(1, 300), st.data())
def test_every_element_once(shape: tuple[int, ...], budget: int, data: st.DataObject) -> None:
    chunk = tuple(data.draw(st.integers(1, 12)) for _ in shape)
    for boxes in (
        list(tiles(shape, (chunk, None), budget)),
        list(tiles(shape, (None,), budget)),
        list(row_major(shape, chunk, budget)),
        list(paced(shape, lambda: budget)),
    ):
        seen = np.zeros(shape, int)
        for box in boxes:
            seen[box] += 1
            assert all(part.stop <= extent for part, extent in zip(box, shape, strict=True))
            assert math.prod(part.stop - part.start for part in box) <= max(1, budget)
        assert (seen == 1).all()


@settings(max_examples=200, deadline=None)
@given(extents.filter(lambda shape: 0 not in shape), st.integers(1, 300), st.data())
def test_row_major_tiles_follow_each_other(
    shape: tuple[int, ...], budget: int, data: st.DataObject
) -> None:
    chunk = tuple(data.draw(st.integers(1, 12)) for _ in shape)
    numbers = np.arange(math.prod(shape)).reshape(shape)
    order = [numbers[box].reshape(-1) for box in row_major(shape, chunk, budget)]
    assert np.array_equal(np.concatenate(order), numbers.reshape(-1))


def test_tiles_are_multiples_of_the_chunk_where_that_fits() -> None:
    chunk = (180, 128, 128)
    for box in tiles((720, 256, 256), (chunk,), 16 << 20):
        assert all(part.start % extent == 0 for part, extent in zip(box, chunk, strict=True))


@settings(max_examples=200, deadline=None)
@given(extents, st.lists(st.integers(1, 50), min_size=1))
def test_a_changing_pace_keeps_the_order(shape: tuple[int, ...], budgets: list[int]) -> None:
    turn = itertools.cycle(budgets)
    numbers = np.arange(math.prod(shape)).reshape(shape)
    found = [number for box in paced(shape, lambda: next(turn)) for number in numbers[box].flat]
    assert found == list(range(numbers.size))
