# SPDX-License-Identifier: Apache-2.0
"""What a plot file holds, in whatever layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.model import Tree

Values = np.ndarray[Any, Any]
Corner = tuple[int, int, int]


@dataclass
class Box:
    """lo, hi: cells i, j, k; hi belongs to it. read: values by component, k, j, i.

    owner: the rank that wrote it; -1: the layout does not say.
    """

    lo: Corner
    hi: Corner
    read: Callable[[], Values]
    owner: int = -1

    @property
    def shape(self) -> Corner:
        k, j, i = (high - low + 1 for low, high in zip(self.lo[::-1], self.hi[::-1], strict=True))
        return k, j, i

    @property
    def cells(self) -> int:
        return math.prod(self.shape)

    @property
    def name(self) -> str:
        low, high = (",".join(map(str, corner)) for corner in (self.lo, self.hi))
        return f"({low})-({high})"


@dataclass
class Points:
    """Particles of a box: whole numbers (id, rank, more) and the others (position, more)."""

    count: int
    read: Callable[[], tuple[Values, Values]]


@dataclass
class Level:
    """domain: cells along i, j, k."""

    domain: Corner
    boxes: list[Box]
    points: list[Points] = field(default_factory=list)  # of the boxes, or none at all


@dataclass
class Plot:
    path: Path
    layout: str  # "PnetCDF, netCDF-4 or HDF5 names", for people
    components: list[str]
    levels: list[Level]
    time: float
    tree: Tree | None = None  # of one file
    steps: list[int] = field(default_factory=list)  # of the levels, if the layout says
    next_id: int | None = None  # of particles

    def close(self) -> None:
        if self.tree is not None:
            self.tree.close()

    @property
    def step(self) -> int:
        return int(self.time)

    @property
    def elements(self) -> int:
        return sum(box.cells for level in self.levels for box in level.boxes) * len(self.components)

    def ratio(self, level: int) -> int:
        """Cells of the next finer level in one of this one, along an axis."""
        return self.levels[level + 1].domain[0] // self.levels[level].domain[0]

    def wrong(self, what: str) -> NoReturn:
        refuse(self.path, what)


def refuse(path: Path, what: str) -> NoReturn:
    """Raises: exit code 3."""
    raise TailraceError(
        what,
        where=str(path),
        hint="the file was changed or damaged after the run",
        code=ExitCode.VERIFICATION_FAILED,
    )


def check_mesh(plot: Plot) -> None:
    """Boxes lie in their domain, no two in one cell, and none beyond the coarser level.

    Raises: exit code 3 with the level and the box.
    """
    below: BoxIndex | None = None
    for number, level in enumerate(plot.levels):
        if number and any(
            fine != coarse * plot.ratio(number - 1)
            for fine, coarse in zip(level.domain, plot.levels[number - 1].domain, strict=True)
        ):
            plot.wrong(f"level {number} has a domain that is no multiple of the coarser one")
        for box in level.boxes:
            if min(box.lo) < 0 or any(
                not low <= high < size
                for low, high, size in zip(box.lo, box.hi, level.domain, strict=True)
            ):
                plot.wrong(f"level {number}: box {box.name} is not in the domain")
        here = BoxIndex(level.boxes)
        for index, box in enumerate(level.boxes):
            if any(other < index for other in here.touching(box.lo, box.hi)):
                plot.wrong(f"level {number}: box {box.name} lies on another one")
        if below is None and sum(box.cells for box in level.boxes) != math.prod(level.domain):
            plot.wrong("level 0: its boxes leave cells out")
        if below is not None:
            _check_nesting(plot, number, below)
        below = here


def _check_nesting(plot: Plot, number: int, below: BoxIndex) -> None:
    ratio = plot.ratio(number - 1)
    for box in plot.levels[number].boxes:
        lo, hi = _divided(box.lo, ratio), _divided(box.hi, ratio)
        outside = ~below.mask(lo, hi, 1)
        if outside.any():
            k, j, i = (
                int(n) + low for n, low in zip(np.argwhere(outside)[0], lo[::-1], strict=True)
            )
            plot.wrong(
                f"level {number}: it refines the cell ({i},{j},{k}), which level "
                f"{number - 1} does not have"
            )


def bare_cells(plot: Plot) -> Callable[[int, Box], Values]:
    """Which cells of a box of a level, by k, j, i, no finer level covers."""
    finer = [BoxIndex(level.boxes) for level in plot.levels[1:]]

    def of_box(number: int, box: Box) -> Values:
        if number == len(finer):
            return np.ones(box.shape, bool)
        return ~finer[number].mask(box.lo, box.hi, plot.ratio(number))

    return of_box


class BoxIndex:
    """Finds boxes of a level by their place, however large the domain is.

    Boxes of about one size are in one grid of bins, each in the bin of its low corner.
    """

    def __init__(self, boxes: list[Box]) -> None:
        self._boxes = boxes
        self._grids: dict[int, dict[tuple[int, ...], list[int]]] = {}
        for index, box in enumerate(boxes):
            edge = 1 << (max(box.shape) - 1).bit_length()
            bins = self._grids.setdefault(edge, {})
            bins.setdefault(_divided(box.lo, edge), []).append(index)

    def touching(self, lo: Corner, hi: Corner) -> Iterator[int]:
        """Numbers of the boxes that have a cell between two corners."""
        for edge, bins in self._grids.items():
            ranges = [
                range((low - edge + 1) // edge, high // edge + 1)
                for low, high in zip(lo, hi, strict=True)
            ]
            few = math.prod(map(len, ranges)) <= len(bins)
            for place in product(*ranges) if few else bins:
                for index in bins.get(place, ()):
                    box = self._boxes[index]
                    if all(box.lo[d] <= hi[d] and lo[d] <= box.hi[d] for d in range(3)):
                        yield index

    def mask(self, lo: Corner, hi: Corner, ratio: int) -> Values:
        """Which cells between two corners, by k, j, i, these boxes cover, `ratio` times as fine."""
        found = np.zeros(
            [high - low + 1 for low, high in zip(lo[::-1], hi[::-1], strict=True)], bool
        )
        fine_lo, fine_hi = ((n[0] * ratio, n[1] * ratio, n[2] * ratio) for n in (lo, hi))
        fine_hi = (fine_hi[0] + ratio - 1, fine_hi[1] + ratio - 1, fine_hi[2] + ratio - 1)
        for index in self.touching(fine_lo, fine_hi):
            box = self._boxes[index]
            found[
                tuple(
                    slice(max(first // ratio - low, 0), last // ratio - low + 1)
                    for first, last, low in zip(box.lo[::-1], box.hi[::-1], lo[::-1], strict=True)
                )
            ] = True
        return found


def _divided(cell: Corner, by: int) -> Corner:
    return cell[0] // by, cell[1] // by, cell[2] // by
