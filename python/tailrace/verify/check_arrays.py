# SPDX-License-Identifier: Apache-2.0
"""Checks every element of a file that holds several arrays, in bounded memory."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tailrace.verify.arrays import Array, Expected, Run, run_of
from tailrace.verify.close import EXACT, Tolerance, numbers_apart
from tailrace.verify.described import Described
from tailrace.verify.files import open_tree
from tailrace.verify.members import as_numbers, member_types
from tailrace.verify.model import Box, Node, Tree
from tailrace.verify.plot.fill import plot_run
from tailrace.verify.plot.model import Plot
from tailrace.verify.plot.view import PlotTree, plot_of
from tailrace.verify.quantized import allow_quantized
from tailrace.verify.report import Meter, Report
from tailrace.verify.seism import FillReport, check_fill
from tailrace.verify.tiles import tiles

_elements_at_a_time = 1 << 20


@dataclass(frozen=True)
class WrongPlace:
    """An element that is not as it was written; rank -1: of nobody."""

    path: str
    step: int
    position: tuple[int, ...]
    rank: int
    expected: float
    found: float
    where: str = ""  # in words, if `position` alone would not do


class ArraysReport(Report[Run, WrongPlace]):
    """What a check of a file of datasets found."""


def check_kernel_file(
    path: Path,
    *,
    plugin_library: str = "",
    tolerance: Tolerance = EXACT,
    most: int = 10,
    meter: Meter = lambda _d, _t: None,
) -> FillReport | ArraysReport:
    """Reads the file of whatever kernel and checks every element; see check_fill."""
    started = time.perf_counter()
    opened = plot_of(path, lambda: open_tree(path))
    tree: Tree = PlotTree(opened) if isinstance(opened, Plot) else opened
    try:
        about = Described(tree, tree.nodes["/"].read_attributes())
        kernel = about.text("kernel") if about.has("kernel") else "seism"
        if isinstance(opened, Plot) or kernel != "seism":
            run = plot_run(opened) if isinstance(opened, Plot) else run_of(about, kernel)
            report = ArraysReport(path, tree.format, run, tolerance)
            nodes = [_node(about, tree, one) for one in report.run.arrays]
            for one, node in zip(report.run.arrays, nodes, strict=True):
                allow_quantized(report, node)
                _check(report, one, node, most, meter)
            report.elapsed_s = time.perf_counter() - started
            return report
    finally:
        tree.close()
    return check_fill(
        path, plugin_library=plugin_library, tolerance=tolerance, most=most, meter=meter
    )


def _node(about: Described, tree: Tree, one: Expected) -> Node:
    node = tree.nodes.get(one.path)
    if node is None or node.kind != "dataset":
        raise about.wrong(f"it has no dataset {one.path}")
    members = member_types(node)
    if members and members == one.members:
        node = as_numbers(node)
    if node.shape != one.shape:
        found = "empty" if node.shape is None else " x ".join(str(n) for n in node.shape)
        wanted = " x ".join(str(n) for n in one.shape)
        raise about.wrong(f"{one.path} is {found}, its attributes say {wanted}")
    if node.type != one.type:
        kind = node.type.describe() if node.type else "nothing"
        raise about.wrong(f"{one.path} holds {kind} instead of {one.type.describe()}")
    return node


def _check(report: ArraysReport, one: Expected, node: Node, most: int, meter: Meter) -> None:
    assert node.read is not None
    if node.unallocated and not report.run.gaps:
        report.unwritten += node.unallocated()
    total = sum(math.prod(each.shape) * (8 if report.run.kernel == "slab" else 4)
                for each in report.run.arrays)  # fmt: skip
    for box in tiles(one.shape, (node.chunk,), _elements_at_a_time):
        found = np.asarray(node.read(box))
        expected = one.values(box)
        _compare(report, one, box, expected, found.astype(expected.dtype.newbyteorder("=")), most)
        report.read_bytes += found.nbytes
        meter(report.read_bytes, total)


def _compare(
    report: ArraysReport, one: Expected, box: Box, expected: Array, found: Array, most: int
) -> None:
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    differs = np.ascontiguousarray(found).view(bits) != np.ascontiguousarray(expected).view(bits)
    if differs.any() and not report.tolerance.exact and expected.dtype.kind == "f":
        differs &= numbers_apart(found, expected, report.tolerance).reshape(differs.shape)
    wrong = int(np.count_nonzero(differs))
    report.correct += expected.size - wrong
    report.wrong += wrong
    if not wrong:
        return
    places = np.argwhere(differs)
    indices = places + np.array([part.start for part in box])
    ranks = one.ranks(indices)
    report.wrong_by_step[one.step] += wrong
    for rank, count in zip(*np.unique(ranks, return_counts=True), strict=True):
        report.wrong_by_rank[int(rank)] += int(count)
    room = most - len(report.first)
    for place, index, rank in zip(places[:room], indices[:room], ranks[:room], strict=True):
        at = tuple(place)
        position = tuple(int(n) for n in index)
        report.first.append(
            WrongPlace(one.path, one.step, position, int(rank), float(expected[at]),
                       float(found[at]), one.where(position))
        )  # fmt: skip
