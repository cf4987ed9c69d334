# SPDX-License-Identifier: Apache-2.0
"""The vectorised fills against their definition, element by element."""

from __future__ import annotations

import itertools
import math

import numpy as np
import seism_files as files
from hypothesis import given, settings
from hypothesis import strategies as st

from tailrace.verify.fill import PositionFill, RankFill
from tailrace.verify.kernel import Seism

small = st.integers(1, 3)
triple = st.tuples(small, small, small)


@settings(max_examples=60, deadline=None)
@given(triple, triple, st.integers(1, 3), st.data())
def test_any_box_of_any_geometry(
    processor: files.Triple, domain: files.Triple, steps: int, data: st.DataObject
) -> None:
    case = files.Case(processor, domain, steps)
    box = []
    for extent in case.extents:
        low = data.draw(st.integers(0, extent - 1))
        box.append(slice(low, data.draw(st.integers(low + 1, extent))))
    step = data.draw(st.integers(0, steps - 1))
    for fill, maker in (("rank", RankFill), ("position", PositionFill)):
        case = files.Case(processor, domain, steps, fill)
        got = maker(Seism(processor, domain, steps, fill))(step, tuple(box))
        assert got.dtype == np.float32
        for place in itertools.product(*(range(n) for n in got.shape)):
            x, y, z = (at + part.start for at, part in zip(place, box, strict=True))
            assert got[place] == files.value(case, step, x, y, z)


def test_positions_beyond_64_bits_wrap_as_defined() -> None:
    processor, domain = (1, 1, 1), (1 << 20, 1 << 20, 1 << 20)
    case = files.Case(processor, domain, 40)
    box = (slice(7, 8), slice((1 << 20) - 2, 1 << 20), slice((1 << 20) - 1, 1 << 20))
    got = PositionFill(Seism(processor, domain, 40, "position"))(39, box)
    assert got[0, 1, 0] == files.value(case, 39, 7, (1 << 20) - 1, (1 << 20) - 1)


def test_values_differ_per_element_and_step() -> None:
    run = Seism((1, 1, 1), (16, 16, 16), 2, "position")
    whole = (slice(0, 16),) * 3
    first, second = (PositionFill(run)(step, whole) for step in (0, 1))
    assert not np.array_equal(first, second)
    assert len(np.unique(first)) > 0.99 * math.prod(first.shape)
    assert first.min() >= 0 and first.max() < 1
