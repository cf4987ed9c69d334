# SPDX-License-Identifier: Apache-2.0
"""Boxes and owners of the amr kernel, against AMReX's rules written down once more."""

import itertools
import os
import random
import subprocess
from pathlib import Path

import pytest

TOOL = Path(os.environ["TAILRACE_BUILD_DIR"]) / "tests/bin/amr_mesh_tool"


def mesh(ranks, **keys):
    """(level, low, high, owner) of each box, as the kernel has them."""
    words = [
        f"{key}={value}" for key, value in ({"ncomp": 1, "nppc": 0, "nlevs": 1} | keys).items()
    ]
    done = subprocess.run(
        [TOOL, str(ranks), *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    return [(row[0], tuple(row[1:4]), tuple(row[4:7]), row[7]) for row in rows]


def lengths(whole, largest):
    """Of the pieces along an axis, the longer ones first."""
    if whole <= largest:
        return [whole]
    unit = 1
    while whole % (2 * unit) == 0 and largest % (2 * unit) == 0:
        unit *= 2
    pieces = -(-whole // largest)
    short, longer = divmod(whole // unit, pieces)
    return [(short + (k < longer)) * unit for k in range(pieces)]


def chopped(low, high, largest, order):
    if order == "current":
        spans = []
        for axis in range(3):
            at = low[axis]
            spans.append([])
            for length in lengths(high[axis] - low[axis] + 1, largest):
                spans[axis].append((at, at + length - 1))
                at += length
        return [
            ((x[0], y[0], z[0]), (x[1], y[1], z[1]))
            for z, y, x in itertools.product(spans[2], spans[1], spans[0])
        ]
    boxes = [(list(low), list(high))]
    for axis in range(3):
        for box in list(boxes):
            for length in lengths(box[1][axis] - box[0][axis] + 1, largest)[:-1]:
                piece = (list(box[0]), list(box[1]))
                piece[0][axis] = box[1][axis] - length + 1
                box[1][axis] = piece[0][axis] - 1
                boxes.append(piece)
    return [(tuple(a), tuple(b)) for a, b in boxes]


def volume(box):
    return (box[1][0] - box[0][0] + 1) * (box[1][1] - box[0][1] + 1) * (box[1][2] - box[0][2] + 1)


def by_weight(bins, weights):
    """The heaviest bin to rank 0; equals keep their order."""
    owners = [0] * len(weights)
    ranked = sorted(bins, key=lambda bin: -sum(weights[box] for box in bin))
    for rank, boxes in enumerate(ranked):
        for box in boxes:
            owners[box] = rank
    return owners


def morton(low):
    bits = (format(c + 2**29, "030b") for c in reversed(low))
    return "".join(z + y + x for z, y, x in zip(*bits, strict=True))


def sfc(boxes, ranks):
    weights = [volume(box) for box in boxes]
    line = sorted(range(len(boxes)), key=lambda box: morton(boxes[box][0]))
    target = sum(weights) / ranks
    bins, given = [], 0
    for rank in range(ranks):
        bin = []
        last = rank == ranks - 1
        while line and (last or sum(weights[box] for box in bin) < target):
            bin.append(line.pop(0))
        given += sum(weights[box] for box in bin)
        if given / (rank + 1) > target and len(bin) > 1 and not last:
            line.insert(0, bin.pop())
            given -= weights[line[0]]
        bins.append(bin)
    return by_weight(bins, weights)


def roundrobin(boxes, ranks):
    owners = [0] * len(boxes)
    for at, box in enumerate(sorted(range(len(boxes)), key=lambda box: -volume(boxes[box]))):
        owners[box] = at % ranks
    return owners


def knapsack(boxes, ranks):
    if ranks < 2 or len(boxes) <= ranks:
        return roundrobin(boxes, ranks)
    weights = [volume(box) for box in boxes]
    sacks = [[] for _ in range(ranks)]

    def weight(sack):
        return sum(weights[box] for box in sack)

    for box in sorted(range(len(boxes)), key=lambda box: -weights[box]):
        min(sacks, key=weight).append(box)
    while True:
        sacks.sort(key=lambda sack: -weight(sack))
        heavy, light = sacks[0], sacks[-1]
        if sum(weights) / (ranks * weight(heavy)) >= 0.9 or len(heavy) < 2:
            break
        for a, b in itertools.product(range(len(heavy)), range(len(light))):
            more = weights[heavy[a]] - weights[light[b]]
            if more > 0 and weight(light) + more < weight(heavy):
                heavy[a], light[b] = light[b], heavy[a]
                break
        else:
            break
    return by_weight(sacks, weights)


DISTRIBUTIONS = {"sfc": sfc, "knapsack": knapsack, "roundrobin": roundrobin}


@pytest.mark.parametrize("how", DISTRIBUTIONS)
@pytest.mark.parametrize("order", ["2019", "current"])
def test_equal_to_an_implementation_of_its_own(how, order):
    chance = random.Random(34)
    for _ in range(40):
        cells = [chance.randint(1, 90) for _ in range(3)]
        largest, ranks = chance.choice([5, 8, 16, 24, 32]), chance.randint(1, 12)
        found = mesh(
            ranks,
            ncells="{} {} {}".format(*cells),
            max_grid_size=largest,
            boxes=order,
            distribution=how,
        )
        expected = chopped((0, 0, 0), tuple(n - 1 for n in cells), largest, order)
        assert [box[1:3] for box in found] == expected, (cells, largest)
        assert [box[3] for box in found] == DISTRIBUTIONS[how](expected, ranks), (
            cells,
            largest,
            ranks,
        )


def test_what_the_original_was_seen_to_do():
    found = mesh(4, ncells=48, max_grid_size=32)
    assert sorted(box[3] for box in found) == [0, 0, 1, 2, 2, 3, 3, 3]
    assert len(mesh(4, ncells=128, max_grid_size=32)) == 64


@pytest.mark.parametrize("ratio", [2, 4])
@pytest.mark.parametrize("largest", [16, 7])
def test_levels_are_chopped_in_whole_coarser_cells_and_distributed_each_by_itself(ratio, largest):
    found = mesh(3, ncells=24, max_grid_size=largest, nlevs=3, ref_ratio=ratio)
    low, high = 0, 23
    for level in range(1, 3):
        quarter = (high - low + 1) // 4
        low, high = low + quarter, high - quarter
        coarse = chopped((low,) * 3, (high,) * 3, largest // ratio, "2019")
        expected = [
            (tuple(c * ratio for c in a), tuple((c + 1) * ratio - 1 for c in b)) for a, b in coarse
        ]
        assert [box[1:3] for box in found if box[0] == level] == expected
        assert [box[3] for box in found if box[0] == level] == sfc(expected, 3)
        low, high = low * ratio, (high + 1) * ratio - 1
