# SPDX-License-Identifier: Apache-2.0
"""What `tailrace-amr` writes into a plot file: docs/user/amr.md."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tailrace.errors import TailraceError
from tailrace.verify.arrays import Array, Expected, Run, scrambled
from tailrace.verify.model import Box as Part
from tailrace.verify.plot.model import Box, Plot, bare_cells, check_mesh
from tailrace.verify.plot.view import ints_path, path_of, reals_path
from tailrace.verify.types import Float, Integer

_reals, _ints = 12, 4  # of a particle, beside its position, and beside id and rank
_samples = 64


def plot_run(plot: Plot) -> Run:
    """Raises: exit code 3 if the structure is wrong, 2 if another program chose the values."""
    check_mesh(plot)
    _require_ours(plot)
    arrays: list[Expected] = []
    next_id: dict[int, int] = {}
    particles = _particles(plot, next_id)
    for number, level in enumerate(plot.levels):
        for box in level.boxes:
            arrays.append(_cells(plot, number, box))
        for index, points in enumerate(level.points):
            if points.count:
                arrays += particles(number, index)
    last = max(next_id.values(), default=1)
    if plot.next_id is not None and plot.next_id != last:
        plot.wrong(f"the next id of a particle is {plot.next_id} in its header, not {last}")
    if any(step != plot.step for step in plot.steps):
        plot.wrong(f"its levels are of the steps {plot.steps}, its time is {plot.time}")
    boxes = " + ".join(str(len(level.boxes)) for level in plot.levels)
    ranks = 1 + max((box.owner for level in plot.levels for box in level.boxes), default=0)
    nx, ny, nz = plot.levels[0].domain
    count = sum(points.count for level in plot.levels for points in level.points)
    text = (
        f"{nx} x {ny} x {nz} cells, {boxes} boxes on {len(plot.levels)} levels, "
        f"{len(plot.components)} components, step {plot.step}"
        + (f", {count} particles" if count else "")
    )
    return Run("amr", "position", max(ranks, 1), 1, text, tuple(arrays))


def fraction(numbers: Array) -> Array:
    return (scrambled(numbers) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _first(plot: Plot, number: int, components: int) -> int:
    """Number of the first cell of a level in this step."""
    cells = [math.prod(level.domain) for level in plot.levels]
    return (plot.step * sum(cells) + sum(cells[:number])) * components


def _number(plot: Plot, level: int, component: Array, at: tuple[Array, Array, Array],
            components: int) -> Array:  # fmt: skip
    """at: k, j, i."""
    nx, ny, nz = (np.uint64(n) for n in plot.levels[level].domain)
    first = np.uint64(_first(plot, level, components) & ((1 << 64) - 1))
    return first + ((component * nz + at[0]) * ny + at[1]) * nx + at[2]


def _cells(plot: Plot, level: int, box: Box) -> Expected:
    count = len(plot.components)
    low = (0, *box.lo[::-1])

    def values(part: Part) -> Array:
        axes = [
            (np.arange(one.start, one.stop, dtype=np.uint64) + np.uint64(first)).reshape(
                [-1 if axis == d else 1 for d in range(4)]
            )
            for axis, (one, first) in enumerate(zip(part, low, strict=True))
        ]
        return fraction(_number(plot, level, axes[0], (axes[1], axes[2], axes[3]), count))

    def where(position: tuple[int, ...]) -> str:
        i, j, k = (low + n for low, n in zip(box.lo, position[:0:-1], strict=True))
        return f"component {position[0]}, cell ({i},{j},{k})"

    return Expected(
        path_of(level, box), (count, *box.shape), Float(8), plot.step, values, _always(box.owner),
        where=where,
    )  # fmt: skip


def _always(owner: int) -> Callable[[Array], Array]:
    return lambda indices: np.full(len(indices), owner)


def _particles(plot: Plot, next_id: dict[int, int]) -> Callable[[int, int], list[Expected]]:
    """Of a box of a level. Ids count on from box to box of a rank, which the file tells.

    next_id: gets those of the ranks.
    """
    bare = bare_cells(plot)
    total = sum(points.count for level in plot.levels for points in level.points)
    cells = 0
    if total:
        cells = sum(int(np.count_nonzero(bare(number, box)))
                    for number, level in enumerate(plot.levels) for box in level.boxes)  # fmt: skip
    per_cell = total // cells if cells else 0
    if per_cell * cells != total:
        plot.wrong(f"{total} particles are not the same number in each of {cells} cells")

    def expected(number: int, index: int) -> list[Expected]:
        level = plot.levels[number]
        box, points = level.boxes[index], level.points[index]
        k, j, i = np.nonzero(bare(number, box))
        if len(k) * per_cell != points.count:
            plot.wrong(
                f"level {number}, box {box.name}: {points.count} particles, not {per_cell} in each "
                f"of {len(k)} cells"
            )
        owner = int(points.read()[0][0, 1])
        first = next_id.get(owner, 1)
        next_id[owner] = first + points.count
        cell = [
            np.repeat(n, per_cell) + low for n, low in zip((k, j, i), box.lo[::-1], strict=True)
        ]
        ints, reals = _records(plot, number, cell, per_cell, owner, first)
        return [
            _table(ints_path(number, box), ints, plot.step, owner),
            _table(reals_path(number, box), reals, plot.step, owner),
        ]

    return expected


def _records(
    plot: Plot, level: int, cell: list[Array], per_cell: int, owner: int, first_id: int
) -> tuple[Array, Array]:
    """cell: k, j, i of each particle."""
    count = len(cell[0])
    which = np.tile(np.arange(per_cell, dtype=np.uint64), count // max(per_cell, 1))
    at = tuple(one.astype(np.uint64) for one in cell)
    number = _number(plot, level, which, (at[0], at[1], at[2]), per_cell)
    of_each = 3 + _reals + _ints
    numbers = number[:, None] * np.uint64(of_each) + np.arange(of_each, dtype=np.uint64)[None]
    reals = fraction(numbers[:, : 3 + _reals])
    size = _sizes(plot, level)
    for d in range(3):
        reals[:, d] = (cell[2 - d].astype(np.float64) + (0.25 + reals[:, d] / 2)) * size[d]
    ints = np.empty((count, 2 + _ints), np.int32)
    ints[:, 0] = np.arange(first_id, first_id + count)
    ints[:, 1] = owner
    ints[:, 2:] = (scrambled(numbers[:, 3 + _reals :]) >> np.uint64(33)).astype(np.int32)
    return ints, reals


def _sizes(plot: Plot, level: int) -> tuple[float, float, float]:
    """Cells are cubes, and the first axis is 1 long."""
    size = 1.0 / plot.levels[level].domain[0]
    return size, size, size


def _table(path: str, table: Array, step: int, owner: int) -> Expected:
    kind = Float(8) if table.dtype.kind == "f" else Integer(4, True, 32)
    return Expected(path, table.shape, kind, step, lambda part: table[part], _always(owner))


def _require_ours(plot: Plot) -> None:
    """Some value of some box is as its place says: others choose their values otherwise."""
    boxes = [(number, box) for number, level in enumerate(plot.levels) for box in level.boxes]
    for number, box in boxes[:: max(1, len(boxes) // _samples)]:
        first = (slice(0, 1), slice(0, 1), slice(0, 1), slice(0, box.shape[2]))
        if np.any(_cells(plot, number, box).values(first) == box.read()[first]):
            return
    raise TailraceError(
        "its structure is right, but its values are not those of tailrace-amr",
        where=str(plot.path),
        hint="`tailrace verify A B` compares it with another plot file",
    )
