# SPDX-License-Identifier: Apache-2.0
"""Checks every element of a seism file against its fill, in bounded memory."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.verify.close import EXACT, Tolerance, numbers_apart
from tailrace.verify.files import open_tree
from tailrace.verify.fill import Fill, Floats, PositionFill, RankFill
from tailrace.verify.kernel import Seism, data_node, describe_run
from tailrace.verify.model import Box, Node
from tailrace.verify.plugin import PluginFill
from tailrace.verify.quantized import allow_quantized
from tailrace.verify.report import Meter, Report
from tailrace.verify.tiles import tiles

slab_elements = 4 << 20  # 16 MiB of float32: larger arrays are mapped anew for each slab
_greatest_slab = 16 << 20  # for a chunk that is to be unpacked once
_cache_elements = 1 << 16  # what is computed and compared at a time stays in a core's cache


@dataclass(frozen=True)
class WrongElement:
    """An element that is not as it was written."""

    step: int
    x: int
    y: int
    z: int
    rank: int
    expected: float
    found: float


class FillReport(Report[Seism, WrongElement]):
    """What a check of a seism file found."""


def check_fill(
    path: Path,
    *,
    plugin_library: str = "",
    tolerance: Tolerance = EXACT,
    most: int = 10,
    meter: Meter = lambda _d, _t: None,
) -> FillReport:
    """Reads a kernel's file and checks every element.

    `tolerance` is for files whose filter loses precision; what netCDF quantised is compared within
    what its algorithm promises. `most` is the number of wrong elements
    that are kept. Raises TailraceError where the file cannot be judged (exit code 2, 4) or is not
    whole (3).
    """
    started = time.perf_counter()
    tree = open_tree(path)
    try:
        run = describe_run(tree)
        node = data_node(tree, run)
        report = FillReport(path, tree.format, run, tolerance)
        allow_quantized(report, node)
        report.unwritten = node.unallocated() if node.unallocated else 0
        _check_elements(report, node, _fill_of(run, plugin_library), most, meter)
    finally:
        tree.close()
    report.elapsed_s = time.perf_counter() - started
    return report


def _fill_of(run: Seism, plugin_library: str) -> Fill:
    if run.fill == "plugin":
        return PluginFill(run, plugin_library)
    return PositionFill(run) if run.fill == "position" else RankFill(run)


def _check_elements(report: FillReport, node: Node, fill: Fill, most: int, meter: Meter) -> None:
    assert node.read is not None
    total = 4 * report.run.elements
    chunk = node.chunk[1:] if node.chunk else None
    budget = max(slab_elements, min(math.prod(chunk or ()), _greatest_slab))
    for box in tiles(report.run.extents, (chunk,), budget):
        boxes = list(_within_cache(box))
        # A plugin's values do not depend on the step and are dear: computed once per box.
        kept: dict[int, Floats] = {}
        keep = fill.same_in_every_step and report.run.fill == "plugin"
        for step in range(report.run.steps):
            values = node.read((slice(step, step + 1), *box))[0]
            for index, part in enumerate(boxes):
                expected = kept[index] if index in kept else fill(step, part)
                if keep:
                    kept[index] = expected
                found = values[_relative(part, box)]
                _compare(report, step, part, expected, found, most)
            report.read_bytes += values.nbytes
            meter(report.read_bytes, total)


def _compare(
    report: FillReport, step: int, box: Box, expected: Floats, found: Floats, most: int
) -> None:
    found = np.asarray(found).astype("<f4", copy=False)
    differs = found.view(np.uint32) != expected.view(np.uint32)
    wrong = int(np.count_nonzero(differs))
    if wrong:
        differs &= ~(np.isnan(found) & np.isnan(expected))
        if not report.tolerance.exact:
            differs &= numbers_apart(found, expected, report.tolerance).reshape(differs.shape)
        wrong = int(np.count_nonzero(differs))
    report.correct += expected.size - wrong
    report.wrong += wrong
    if wrong:
        _note(report, step, box, differs, expected, found, most)


def _note(
    report: FillReport,
    step: int,
    box: Box,
    differs: Any,
    expected: Floats,
    found: Floats,
    most: int,
) -> None:
    places = np.argwhere(differs)
    report.wrong_by_step[step] += len(places)
    origin = np.array([part.start for part in box])
    coordinates = places + origin
    blocks = coordinates // np.array(report.run.domain)
    grid = report.run.processor
    ranks = (blocks[:, 0] * grid[1] + blocks[:, 1]) * grid[2] + blocks[:, 2]
    numbers, counts = np.unique(ranks, return_counts=True)
    for rank, count in zip(numbers, counts, strict=True):
        report.wrong_by_rank[int(rank)] += int(count)
    for place, (x, y, z), rank in zip(places, coordinates, ranks, strict=True):
        if len(report.first) >= most:
            return
        at = tuple(place)
        report.first.append(
            WrongElement(
                step, int(x), int(y), int(z), int(rank), float(expected[at]), float(found[at])
            )
        )


def _within_cache(box: Box) -> list[Box]:
    shape = tuple(part.stop - part.start for part in box)
    return [
        tuple(
            slice(part.start + low.start, part.start + low.stop)
            for part, low in zip(box, inner, strict=True)
        )
        for inner in tiles(shape, (None,), _cache_elements)
        if math.prod(shape)
    ]


def _relative(part: Box, box: Box) -> Box:
    return tuple(slice(a.start - b.start, a.stop - b.start) for a, b in zip(part, box, strict=True))
