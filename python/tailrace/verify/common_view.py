# SPDX-License-Identifier: Apache-2.0
"""Two files as trees that can be compared node by node.

Files of one family (HDF5; netCDF-4; classic netCDF; raw) are compared as they are, those of our
kernels but for how they were written. Between families only what both can express is compared: see
docs/user/verify.md, which this file follows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tailrace.verify.canonical import unpadded
from tailrace.verify.classic_tree import character, dimension_path
from tailrace.verify.common_attributes import (
    bookkeeping,
    classic_attributes,
    dimensions_used,
    how_written,
    is_of_netcdf,
    is_only_a_dimension,
    is_scale,
    netcdf_name,
    plain_attributes,
    plain_members,
    shadowed,
)
from tailrace.verify.members import with_numbers
from tailrace.verify.model import Attribute, Box, Node, Tree, Values
from tailrace.verify.types import Compound, Float, Integer, Text

Nodes = dict[str, Node]


def common_views(left: Tree, right: Tree) -> tuple[Nodes, Nodes, str]:
    """The nodes of both sides, and the name of the model by which they are compared."""
    families = {_family(left), _family(right)}
    if len(families) == 1 and not _one_is_netcdf(left, right):
        return *_without_how(dict(left.nodes), dict(right.nodes)), families.pop()
    if "raw" in families:
        views = _raw_view(left), _raw_view(right)
        if "classic" in families:
            views = _as_classic(views[0], False), _as_classic(views[1], False)
        with_numbers(*views)
        return (*_without_how(*views), "objects and numbers (raw container)")
    one, other = _netcdf_view(left), _netcdf_view(right)
    if "classic" in families:
        narrow = any(f"(CDF-{n})" in tree.format for n in (1, 2) for tree in (left, right))
        one, other = _as_classic(one, narrow), _as_classic(other, narrow)
    with_numbers(one, other)
    one, other = _without_how(one, other)
    if not (_has_dimensions(one) and _has_dimensions(other)):
        one, other = _without_dimensions(one), _without_dimensions(other)
        return one, other, "netCDF without named dimensions"
    return one, other, "netCDF"


def _one_is_netcdf(left: Tree, right: Tree) -> bool:
    """HDF5 files, of which the netCDF library wrote one: it has scales, and texts of its own."""
    if _family(left) != "HDF5" or _family(right) != "HDF5":
        return False
    return is_of_netcdf(left.nodes["/"].read_attributes()) != is_of_netcdf(
        right.nodes["/"].read_attributes()
    )


def _as_classic(nodes: Nodes, narrow: bool) -> Nodes:
    """Without what a classic netCDF file cannot hold: compound attributes, committed types."""

    def read(node: Node) -> Mapping[str, Attribute]:
        return classic_attributes(dict(node.read_attributes()), narrow)

    return {
        path: replace(node, read_attributes=partial(read, node))
        for path, node in nodes.items()
        if node.kind != "type"
    }


def _without_how(one: Nodes, other: Nodes) -> tuple[Nodes, Nodes]:
    """Two files of our kernels: under different names, with different settings, of which both
    speak. Of some formats the fill value is an attribute, of others a setting; what may grow is one
    too."""
    left_out = how_written(one["/"].read_attributes()) & how_written(other["/"].read_attributes())
    if not left_out:
        return one, other

    def read(node: Node) -> Mapping[str, Attribute]:
        hidden = left_out if node.path == "/" else {"_FillValue"}
        found = node.read_attributes()
        return {name: value for name, value in found.items() if name not in hidden}

    for nodes in (one, other):
        for path, node in nodes.items():
            nodes[path] = replace(node, limits=node.shape, read_attributes=partial(read, node))
    return one, other


def _family(tree: Tree) -> str:
    first = tree.format.partition(",")[0]
    return first if first in {"HDF5", "raw", "plot file"} else "classic"


# --- as netCDF sees it --------------------------------------------------------------------------


def _netcdf_view(tree: Tree) -> Nodes:
    if _family(tree) == "classic":
        return {path: _with_plain_attributes(node, ()) for path, node in tree.nodes.items()}
    found: Nodes = {}
    is_netcdf = is_of_netcdf(tree.nodes["/"].read_attributes())
    for path, node in tree.nodes.items():
        attributes = node.read_attributes()
        used = dimensions_used(node, attributes, tree.reference_text)
        view = _with_plain_attributes(node, bookkeeping(node, attributes, used, is_netcdf))
        if node.kind != "dataset":
            if isinstance(view.type, Compound):
                view.type = plain_members(view.type)
            found[path] = view
            continue
        if is_scale(attributes):
            dimension = _dimension_of(node)
            found[dimension.path] = dimension
            if is_only_a_dimension(attributes):
                continue
            view.dimensions = (netcdf_name(path),)
        if used is not None or node.shape == ():
            view.dimensions = used or ()
        view.path = path.replace(shadowed, "")
        found[view.path] = _with_characters(view)
    return dict(sorted(found.items()))


def _dimension_of(node: Node) -> Node:
    group, _, name = node.path.rpartition("/")
    return Node(
        dimension_path(group or "/", name.replace(shadowed, "")),
        "dimension",
        shape=node.shape[:1] if node.shape else (),
        limits=node.limits[:1] if node.limits else (),
    )


def _with_characters(node: Node) -> Node:
    """Fixed strings as netCDF's classic model has them: characters, with one more dimension."""
    kind = node.type
    if not isinstance(kind, Text) or kind.size is None or node.read is None or node.shape is None:
        return node
    size = kind.size
    if size == 1:
        return replace(node, type=character)

    def read(box: Box, *, whole: Any = node.read) -> Values:
        values = np.ascontiguousarray(unpadded(whole(box[:-1]), kind))
        split = values.reshape((*values.shape, 1)).view("S1")
        return np.asarray(split[..., box[-1]])

    return replace(
        node,
        type=character,
        shape=(*node.shape, size),
        limits=(*(node.limits or ()), size),
        chunk=None,
        dimensions=None if node.dimensions is None else (*node.dimensions, ""),
        read=read,
    )


def _has_dimensions(nodes: Nodes) -> bool:
    return any(node.kind == "dimension" for node in nodes.values())


def _without_dimensions(nodes: Nodes) -> Nodes:
    return {
        path: replace(node, dimensions=None)
        for path, node in nodes.items()
        if node.kind != "dimension"
    }


# --- as a raw container sees it -----------------------------------------------------------------


def _raw_view(tree: Tree) -> Nodes:
    """Numbers in attributes have no size in JSON; compounds, committed types and named dimensions
    do not exist. Links do not either: what has some says more."""
    found = {}
    is_netcdf = is_of_netcdf(tree.nodes["/"].read_attributes())
    for path, node in tree.nodes.items():
        if node.kind in {"type", "dimension"}:
            continue
        if is_netcdf and node.kind == "dataset" and _is_dimension(node):
            continue
        view = replace(node, limits=node.shape, dimensions=None, committed="")
        view.read_attributes = partial(_wide_attributes, tree, node, is_netcdf)
        found[path] = view
    return found


def _is_dimension(node: Node) -> bool:
    attributes = node.read_attributes()
    return is_scale(attributes) and is_only_a_dimension(attributes)


def _wide_attributes(tree: Tree, node: Node, is_netcdf: bool) -> Mapping[str, Attribute]:
    found = node.read_attributes()
    left_out: Collection[str] = ()
    if _family(tree) == "HDF5":
        used = dimensions_used(node, found, tree.reference_text)
        left_out = bookkeeping(node, found, used, is_netcdf)
    return {
        name: _widened(attribute)
        for name, attribute in plain_attributes(found, left_out).items()
        if not isinstance(attribute.type, Compound)
    }


def _widened(attribute: Attribute) -> Attribute:
    values = attribute.values
    if values is not None and values.dtype.kind in "iub":
        return Attribute(Integer(8, True, 64), attribute.shape, values.astype(np.int64))
    if values is not None and values.dtype.kind == "f":
        return Attribute(Float(8), attribute.shape, values.astype(np.float64))
    return attribute


def _with_plain_attributes(node: Node, left_out: Collection[str]) -> Node:
    def read(whole: Node = node) -> Mapping[str, Attribute]:
        return plain_attributes(whole.read_attributes(), left_out)

    return replace(node, read_attributes=read, committed="")
