# SPDX-License-Identifier: Apache-2.0
"""The particles of a plot folder as AMReX lays them out, and what they must hold."""

import numpy as np
from amr_reader import fraction, mixed, shifted

REALS, INTS = 12, 4
NUMBERS = 3 + REALS + INTS  # that are drawn for a particle


def _bare(plot, level, box):
    """The cells of a box that no finer box covers, i fastest, as rows i, j, k."""
    extents = [np.arange(lo, hi + 1) for lo, hi in zip(box.lo, box.hi, strict=True)]
    k, j, i = (axis.ravel() for axis in np.meshgrid(*reversed(extents), indexing="ij"))
    cells = np.stack([i, j, k], 1)
    covered = np.zeros(len(cells), bool)
    if level + 1 < len(plot.levels):
        ratio = plot.domains[level + 1][0] // plot.domains[level][0]
        for finer in plot.levels[level + 1]:
            low, high = (np.array(corner) // ratio for corner in (finer.lo, finer.hi))
            covered |= np.all((cells >= low) & (cells <= high), 1)
    return cells[~covered]


def _numbers(plot, level, step, per_cell, cells):
    """Of the particles of these cells, the first of a cell first."""
    sizes = [int(np.prod(domain)) for domain in plot.domains]
    nx, ny, _ = plot.domains[level]
    i, j, k = np.repeat(cells, per_cell, 0).T
    which = np.tile(np.arange(per_cell), len(cells))
    first = (step * sum(sizes) + sum(sizes[:level])) * per_cell
    return first + which * sizes[level] + (k * ny + j) * nx + i


def check(folder, plot, per_cell, step=0):
    """Every number of every particle; gives their count."""
    lines = (folder / "Header").read_text().split("\n")
    assert lines[0] == "Version_Two_Dot_Zero_double" and lines[1] == "3"
    assert lines[2] == str(REALS) and lines[3 + REALS] == str(INTS)
    rest = lines[4 + REALS + INTS :]
    assert rest[0] == "1", "it is a checkpoint"
    assert int(rest[3]) + 1 == len(plot.levels)
    grids = [int(count) for count in rest[4 : 4 + len(plot.levels)]]
    assert grids == [len(boxes) for boxes in plot.levels]
    places = [[int(word) for word in line.split()] for line in rest[4 + len(grids) : -1]]
    ids = {}
    for level, boxes in enumerate(plot.levels):
        for box in boxes:
            number, count, offset = places.pop(0)
            cells = _bare(plot, level, box)
            assert count == len(cells) * per_cell
            if count == 0:
                continue
            file = folder / f"Level_{level}" / f"DATA_{number:05d}"
            owner, of_box = _check_box(plot, level, step, per_cell, cells, file, offset)
            ids.setdefault(owner, []).extend(of_box)
    assert places == [] and sum(map(len, ids.values())) == int(rest[1])
    for owner, of_rank in ids.items():
        assert of_rank == list(range(1, len(of_rank) + 1)), f"rank {owner}"
    assert int(rest[2]) == max(map(len, ids.values()), default=0) + 1
    return int(rest[1])


def _check_box(plot, level, step, per_cell, cells, file, offset):
    count = len(cells) * per_cell
    with file.open("rb") as data:
        data.seek(offset)
        ints = np.fromfile(data, "<i4", count * (2 + INTS)).reshape(count, -1)
        reals = np.fromfile(data, "<f8", count * (3 + REALS)).reshape(count, -1)
    number = _numbers(plot, level, step, per_cell, cells).astype("u8")[:, None]
    number = number * np.uint64(NUMBERS) + np.arange(NUMBERS, dtype="u8")
    drawn = fraction(number)
    size = 1 / plot.domains[level][0]
    place = (np.repeat(cells, per_cell, 0) + 0.25 + drawn[:, :3] / 2) * size
    np.testing.assert_allclose(reals[:, :3], place, rtol=1e-14)
    np.testing.assert_array_equal(reals[:, 3:], drawn[:, 3 : 3 + REALS])
    whole = shifted(mixed(number[:, 3 + REALS :]), 33)
    np.testing.assert_array_equal(ints[:, 2:], whole)
    assert np.all(ints[:, 1] == ints[0, 1])
    return int(ints[0, 1]), ints[:, 0].tolist()
