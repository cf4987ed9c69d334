# SPDX-License-Identifier: Apache-2.0
"""What a plot file holds, in whatever layout."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
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
    below: Values | None = None
    for number, level in enumerate(plot.levels):
        if number and any(
            fine != coarse * plot.ratio(number - 1)
            for fine, coarse in zip(level.domain, plot.levels[number - 1].domain, strict=True)
        ):
            plot.wrong(f"level {number} has a domain that is no multiple of the coarser one")
        seen = np.zeros(level.domain[::-1], bool)
        for box in level.boxes:
            if min(box.lo) < 0 or any(
                not low <= high < size
                for low, high, size in zip(box.lo, box.hi, level.domain, strict=True)
            ):
                plot.wrong(f"level {number}: box {box.name} is not in the domain")
            where = slices(box)
            if seen[where].any():
                plot.wrong(f"level {number}: box {box.name} lies on another one")
            seen[where] = True
        if below is None and not seen.all():
            plot.wrong("level 0: its boxes leave cells out")
        if below is not None:
            ratio = plot.ratio(number - 1)
            inner = _coarsened(seen, ratio)
            if np.any(inner & ~below):
                k, j, i = (int(n) for n in np.argwhere(inner & ~below)[0])
                plot.wrong(
                    f"level {number}: it refines the cell ({i},{j},{k}), which level "
                    f"{number - 1} does not have"
                )
        below = seen


def covered(plot: Plot, number: int) -> Values:
    """Cells of a level, by k, j, i, that the next finer one covers."""
    level = plot.levels[number]
    if number + 1 == len(plot.levels):
        return np.zeros(level.domain[::-1], bool)
    fine = np.zeros(plot.levels[number + 1].domain[::-1], bool)
    for box in plot.levels[number + 1].boxes:
        fine[slices(box)] = True
    return _coarsened(fine, plot.ratio(number))


def slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(low, high + 1) for low, high in zip(box.lo[::-1], box.hi[::-1], strict=True))


def _coarsened(fine: Values, ratio: int) -> Values:
    """Which coarser cells have any finer one."""
    k, j, i = (n // ratio for n in fine.shape)
    parts: Values = fine.reshape(k, ratio, j, ratio, i, ratio)
    return np.asarray(parts.any(axis=(1, 3, 5)))
