# SPDX-License-Identifier: Apache-2.0
"""Plot files that all ranks share: the names of AMReX's PnetCDF benchmark, or its HDF5 groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tailrace.verify.members import as_numbers
from tailrace.verify.model import Attribute, Node, Tree
from tailrace.verify.plot.model import Box, Level, Plot, Values

_most_levels = 64


def is_shared_plot(tree: Tree) -> bool:
    about = tree.nodes["/"].read_attributes()
    return _text(about.get("filetype")) == "VanillaAMRFileType" and "num_levels" in about


def shared_plot(tree: Tree) -> Plot:
    """Raises: exit code 3 if the tables contradict each other or the data."""
    about = tree.nodes["/"].read_attributes()
    groups = "/level_0" in tree.nodes and tree.nodes["/level_0"].kind == "group"
    layout = "plot file, HDF5 groups" if groups else f"plot file, {tree.format}"
    plot = Plot(tree.path, layout, [], [], 0.0, tree)
    count, levels = _number(plot, about, "num_components"), _number(plot, about, "num_levels")
    if not 1 <= levels <= _most_levels or count < 1:
        plot.wrong(f"num_levels is {levels}, num_components {count}")
    plot.components = [_text(about.get(f"component_{c}")) or str(c) for c in range(count)]
    for number in range(levels):
        attributes = (
            tree.nodes[f"/level_{number}"].read_attributes()
            if groups and f"/level_{number}" in tree.nodes
            else about
        )
        prefix = "" if groups else f"level_{number}."
        plot.time = float(_values(plot, attributes, f"{prefix}time").reshape(-1)[0])
        domain = _numbers(_values(plot, attributes, f"{prefix}prob_domain"))
        if len(domain) != 6 or any(domain[:3]):
            plot.wrong(f"level {number}: prob_domain is {domain}")
        path = f"/level_{number}/" if groups else f"/level_{number}."
        i, j, k = (high + 1 for high in domain[3:])
        plot.levels.append(Level((i, j, k), _boxes(tree, plot, path)))
    return plot


def _boxes(tree: Tree, plot: Plot, path: str) -> list[Box]:
    corners = _read(tree, plot, f"{path}boxes")
    owners = _read(tree, plot, f"{path}Processors")
    offsets = _read(tree, plot, f"{path}data:offsets=0")
    data = _node(tree, plot, f"{path}data:datatype=0")
    if corners.shape != (len(owners), 6) or len(offsets) != len(owners) + 1:
        plot.wrong(f"{path}boxes, Processors and data:offsets=0 are of unlike length")
    boxes: list[Box] = []
    at = 0
    for number, corner in enumerate(corners):
        lo, hi = (tuple(int(n) for n in part) for part in (corner[:3], corner[3:]))
        box = Box((lo[0], lo[1], lo[2]), (hi[0], hi[1], hi[2]), lambda: np.empty(0))
        if any(low > high for low, high in zip(lo, hi, strict=True)):
            plot.wrong(f"{path}boxes: number {number}, {box.name}, is empty")
        if int(offsets[number]) != at:
            plot.wrong(f"{path}data:offsets=0: number {number} is {offsets[number]}, not {at}")
        elements = box.cells * len(plot.components)
        box.read = _reader(data, at, elements, (len(plot.components), *box.shape))
        box.owner = int(owners[number])
        at += elements
        boxes.append(box)
    if int(offsets[-1]) != at or data.shape != (at,):
        plot.wrong(f"{path}data:datatype=0 has {data.shape} elements, its boxes have {at}")
    return boxes


def _reader(data: Node, at: int, elements: int, shape: tuple[int, ...]) -> Callable[[], Values]:
    def read() -> Values:
        assert data.read is not None
        return np.asarray(data.read((slice(at, at + elements),))).reshape(shape)

    return read


def _node(tree: Tree, plot: Plot, path: str) -> Node:
    node = tree.nodes.get(path)
    if node is None or node.kind != "dataset" or node.read is None:
        plot.wrong(f"it has no dataset {path}")
    return node


def _read(tree: Tree, plot: Plot, path: str) -> Values:
    node = as_numbers(_node(tree, plot, path))
    assert node.read is not None and node.shape is not None
    return np.asarray(node.read(tuple(slice(0, n) for n in node.shape)))


def _values(plot: Plot, attributes: Mapping[str, Attribute], name: str) -> Any:
    if name not in attributes or attributes[name].values is None:
        plot.wrong(f"the attribute {name} is missing")
    return np.asarray(attributes[name].values)


def _number(plot: Plot, attributes: Mapping[str, Attribute], name: str) -> int:
    return _numbers(_values(plot, attributes, name))[0]


def _numbers(values: Any) -> list[int]:
    flat = np.asarray(values).reshape(-1)
    if flat.dtype.names:  # a compound: its members
        return [int(n) for n in flat[0].tolist()]
    return [int(n) for n in flat]


def _text(attribute: Attribute | None) -> str:
    if attribute is None or attribute.values is None:
        return ""
    values = np.asarray(attribute.values).reshape(-1)
    value = values[0] if values.size == 1 else b"".join(bytes(v) for v in values)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
