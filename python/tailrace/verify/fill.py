# SPDX-License-Identifier: Apache-2.0
"""What each element of a seism file should be, computed from its place alone."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tailrace.verify.kernel import Seism
from tailrace.verify.model import Box

Floats = np.ndarray[Any, np.dtype[np.float32]]

_golden = 0x9E3779B97F4A7C15
_mix_1 = np.uint64(0xBF58476D1CE4E5B9)
_mix_2 = np.uint64(0x94D049BB133111EB)
_mask = (1 << 64) - 1


class Fill(Protocol):
    """Values of a box of (x, y, z) in a step."""

    same_in_every_step: bool

    def __call__(self, step: int, box: Box) -> Floats: ...


class RankFill:
    """The rank of the block, as a float32."""

    same_in_every_step = True

    def __init__(self, run: Seism) -> None:
        self._run = run

    def __call__(self, step: int, box: Box) -> Floats:
        i, j, k = (
            np.arange(part.start, part.stop, dtype=np.int64) // extent
            for part, extent in zip(box, self._run.domain, strict=True)
        )
        columns = self._run.processor[2]
        rows = (i[:, None] * self._run.processor[1] + j[None, :]) * columns
        return (rows[:, :, None] + k[None, None, :]).astype(np.float32)


class PositionFill:
    """A hash of the element's number in the whole dataset, scaled to [0, 1)."""

    same_in_every_step = False

    def __init__(self, run: Seism) -> None:
        self._extents = run.extents

    def __call__(self, step: int, box: Box) -> Floats:
        extent_x, extent_y, extent_z = self._extents
        x, y, z = (np.arange(part.start, part.stop, dtype=np.uint64) for part in box)
        x += np.uint64(step * extent_x & _mask)
        rows = x[:, None] * np.uint64(extent_y) + y[None, :]
        rows *= np.uint64(extent_z)
        rows += np.uint64(_golden)
        number = rows[:, :, None] + z[None, None, :]
        number ^= number >> np.uint64(30)
        number *= _mix_1
        number ^= number >> np.uint64(27)
        number *= _mix_2
        number ^= number >> np.uint64(31)
        number >>= np.uint64(40)
        values = number.astype(np.float32)
        values *= np.float32(2.0**-24)
        return values
