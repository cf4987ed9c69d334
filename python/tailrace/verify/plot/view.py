# SPDX-License-Identifier: Apache-2.0
"""A plot file as a tree that is the same in each layout: a dataset for each box of a level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.verify.model import Attribute, Node, Tree, Values
from tailrace.verify.model import Box as Part
from tailrace.verify.plot.model import Box, Plot, Points
from tailrace.verify.plot.native import is_native_plot, native_plot
from tailrace.verify.plot.shared import is_shared_plot, shared_plot
from tailrace.verify.types import Float, Integer, Text


def path_of(level: int, box: Box) -> str:
    return f"/level_{level}/{box.name}"


def ints_path(level: int, box: Box) -> str:
    return f"{path_of(level, box)} particles, int"


def reals_path(level: int, box: Box) -> str:
    return f"{path_of(level, box)} particles, real"


def plot_of(path: Path, open_tree: Callable[[], Tree]) -> Plot | Tree:
    """The plot file, or the open tree of something else."""
    if is_native_plot(path):
        return native_plot(path)
    tree = open_tree()
    try:
        return shared_plot(tree) if is_shared_plot(tree) else tree
    except BaseException:
        tree.close()
        raise


def opened_pair(
    one: Path, other: Path, open_tree: Callable[[Path], Tree], skip: Callable[[str], bool]
) -> tuple[Tree, Tree]:
    """Two files as trees that can be compared: those of plot files in unlike layouts box by box.

    skip: of the nodes of these, too.
    """
    left = plot_of(one, lambda: open_tree(one))
    try:
        right = plot_of(other, lambda: open_tree(other))
    except BaseException:
        left.close()
        raise
    if not isinstance(left, Plot) or not isinstance(right, Plot) or _alike(left, right):
        return _plain(left, skip), _plain(right, skip)
    particles = left.tree is None and right.tree is None  # one file has no place for them
    return PlotTree(left, particles, skip), PlotTree(right, particles, skip)


def _alike(left: Plot, right: Plot) -> bool:
    """One layout, and the boxes in one order: ranks have written them side by side."""
    orders = [[[(box.name, box.owner) for box in level.boxes] for level in plot.levels]
              for plot in (left, right)]  # fmt: skip
    return left.layout == right.layout and orders[0] == orders[1]


def _plain(opened: Plot | Tree, skip: Callable[[str], bool]) -> Tree:
    if not isinstance(opened, Plot):
        return opened
    return opened.tree if opened.tree is not None else PlotTree(opened, True, skip)


class PlotTree:
    """particles: whether they are in it, where there are any."""

    def __init__(
        self, plot: Plot, particles: bool = True, skip: Callable[[str], bool] = lambda _path: False
    ) -> None:
        self.path, self.format, self._plot = plot.path, plot.layout, plot
        about = {
            "num_components": _whole(len(plot.components)),
            "num_levels": _whole(len(plot.levels)),
            "time": Attribute(Float(8), (), np.array(plot.time)),
        }
        for c, name in enumerate(plot.components):
            about[f"component_{c}"] = Attribute(
                Text(len(name), "utf-8", "null-padded"), (), np.array(name.encode())
            )
        nodes = {"/": Node("/", "group", lambda: about)}
        for number, level in enumerate(plot.levels):
            domain = Attribute(Integer(8, True, 64), (3,), np.array(level.domain, np.int64))
            nodes[f"/level_{number}"] = Node(
                f"/level_{number}", "group", _attributes("domain", domain)
            )
            for box in level.boxes:
                shape = (len(plot.components), *box.shape)
                nodes[path_of(number, box)] = _dataset(path_of(number, box), shape, box.read)
            for box, points in zip(level.boxes, level.points, strict=False):
                if particles and points.count:
                    _add_points(nodes, number, box, points)
        self.nodes = {path: node for path, node in sorted(nodes.items()) if not skip(path)}

    def reference_text(self, reference: Any, kind: str) -> str:
        return f"{kind} {reference}"

    def close(self) -> None:
        self._plot.close()


def _attributes(name: str, attribute: Attribute) -> Callable[[], dict[str, Attribute]]:
    return lambda: {name: attribute}


def _whole(number: int) -> Attribute:
    return Attribute(Integer(8, True, 64), (), np.array(number, np.int64))


def _dataset(path: str, shape: tuple[int, ...], whole: Callable[[], Values]) -> Node:
    """The last part that was read is kept: it is asked for piece by piece."""
    kept: list[Values] = []

    def read(box: Part) -> Values:
        if not kept:
            kept.append(whole())
        found: Values = kept[0][box]
        if all(one.stop == n for one, n in zip(box, shape, strict=True)):
            kept.clear()
        return found

    return Node(path, "dataset", type=Float(8), shape=shape, limits=shape, read=read)


def _add_points(nodes: dict[str, Node], level: int, box: Box, points: Points) -> None:
    wholes, reals = points.read()
    one, two = ints_path(level, box), reals_path(level, box)
    nodes[one] = replace(
        _dataset(one, wholes.shape, lambda: points.read()[0]), type=Integer(4, True, 32)
    )
    nodes[two] = _dataset(two, reals.shape, lambda: points.read()[1])
