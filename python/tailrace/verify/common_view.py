# SPDX-License-Identifier: Apache-2.0
"""Two files as trees that can be compared node by node.

Files of one family (HDF5 with netCDF-4; classic netCDF; raw) are compared as they are. Between
families only what both can express is compared: see docs/user/verify.md, which this file follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tailrace.verify.classic_tree import character, dimension_path
from tailrace.verify.model import Attribute, Box, Node, Tree, Values
from tailrace.verify.types import Compound, Float, Integer, Reference, Text, Type

Nodes = dict[str, Node]

_bookkeeping = {
    "CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS",
    "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties",
}  # fmt: skip
_only_a_dimension = "This is a netCDF dimension but not a netCDF variable"
_shadowed = "_nc4_non_coord_"  # the HDF5 name of a variable that is named like another's dimension
text_type = Text(None, "utf-8", "null-terminated")


def common_views(left: Tree, right: Tree) -> tuple[Nodes, Nodes, str]:
    """The nodes of both sides, and the name of the model by which they are compared."""
    families = {_family(left), _family(right)}
    if len(families) == 1:
        return left.nodes, right.nodes, families.pop()
    if "raw" in families:
        return _raw_view(left), _raw_view(right), "objects and numbers (raw container)"
    one, other = _netcdf_view(left), _netcdf_view(right)
    if not (_has_dimensions(one) and _has_dimensions(other)):
        one, other = _without_dimensions(one), _without_dimensions(other)
        return one, other, "netCDF without named dimensions"
    return one, other, "netCDF"


def _family(tree: Tree) -> str:
    first = tree.format.partition(",")[0]
    return first if first in {"HDF5", "raw"} else "classic"


# --- as netCDF sees it --------------------------------------------------------------------------


def _netcdf_view(tree: Tree) -> Nodes:
    if _family(tree) == "classic":
        return {path: _with_plain_attributes(node) for path, node in tree.nodes.items()}
    found: Nodes = {}
    for path, node in tree.nodes.items():
        view = _with_plain_attributes(node)
        if node.kind != "dataset":
            found[path] = view
            continue
        attributes = node.read_attributes()
        if _text_of(attributes.get("CLASS")) == "DIMENSION_SCALE":
            dimension = _dimension_of(node)
            found[dimension.path] = dimension
            if _text_of(attributes.get("NAME")).startswith(_only_a_dimension):
                continue
            view.dimensions = (_name(path),)
        used = _dimensions_used(tree, attributes)
        if used is not None or node.shape == ():
            view.dimensions = used or ()
        view.path = path.replace(_shadowed, "")
        found[view.path] = _with_characters(view)
    return dict(sorted(found.items()))


def _dimension_of(node: Node) -> Node:
    group, _, name = node.path.rpartition("/")
    return Node(
        dimension_path(group or "/", name.replace(_shadowed, "")),
        "dimension",
        shape=node.shape[:1] if node.shape else (),
        limits=node.limits[:1] if node.limits else (),
    )


def _dimensions_used(tree: Tree, attributes: Mapping[str, Attribute]) -> tuple[str, ...] | None:
    scales = attributes.get("DIMENSION_LIST")
    if scales is None or scales.values is None:
        return None
    names = []
    for references in scales.values.reshape(-1):
        items = np.asarray(references).reshape(-1) if references is not None else np.zeros(0)
        names.append(_name(tree.reference_text(items[0], "object")) if items.size else "")
    return tuple(names)


def _with_characters(node: Node) -> Node:
    """Fixed strings as netCDF's classic model has them: characters, with one more dimension."""
    kind = node.type
    if not isinstance(kind, Text) or kind.size is None or node.read is None or node.shape is None:
        return node
    size = kind.size
    if size == 1:
        return replace(node, type=character)

    def read(box: Box, *, whole: Any = node.read) -> Values:
        values = np.ascontiguousarray(whole(box[:-1]))
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
    """Numbers in attributes have no size in JSON; compounds and committed types do not exist."""
    found = {}
    for path, node in tree.nodes.items():
        if node.kind not in {"dataset", "group"}:
            continue
        view = replace(node, limits=node.shape, dimensions=None, committed="")
        view.read_attributes = partial(_wide_attributes, node)
        found[path] = view
    return found


def _wide_attributes(node: Node) -> Mapping[str, Attribute]:
    found = {}
    for name, attribute in _plain_attributes(node).items():
        if not isinstance(attribute.type, Compound):
            found[name] = _widened(attribute)
    return found


def _widened(attribute: Attribute) -> Attribute:
    values = attribute.values
    if values is not None and values.dtype.kind in "iub":
        return Attribute(Integer(8, True, 64), attribute.shape, values.astype(np.int64))
    if values is not None and values.dtype.kind == "f":
        return Attribute(Float(8), attribute.shape, values.astype(np.float64))
    return attribute


# --- attributes ---------------------------------------------------------------------------------


def _with_plain_attributes(node: Node) -> Node:
    return replace(node, read_attributes=partial(_plain_attributes, node), committed="")


def _plain_attributes(node: Node) -> Mapping[str, Attribute]:
    """Without the bookkeeping of dimension scales; one value is a list of one."""
    return {
        name: _plain(attribute)
        for name, attribute in node.read_attributes().items()
        if name not in _bookkeeping
    }


def _plain(attribute: Attribute) -> Attribute:
    values, kind = attribute.values, attribute.type
    if values is None or isinstance(kind, Compound | Reference):
        return replace(attribute, committed="")
    if isinstance(kind, Text):
        texts = np.empty(values.size, object)
        texts[:] = [_bytes_of(value, kind) for value in values.reshape(-1)]
        shape = () if values.size == 1 else attribute.shape
        return Attribute(text_type, shape, texts.reshape(shape or ()))
    plain: Type = kind
    if attribute.shape == ():
        return Attribute(plain, (1,), values.reshape(1))
    return Attribute(plain, attribute.shape, values)


def _bytes_of(value: Any, kind: Text) -> bytes:
    raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
    return raw.rstrip(b" ") if kind.padding == "space-padded" else raw.rstrip(b"\0")


def _text_of(attribute: Attribute | None) -> str:
    if attribute is None or attribute.values is None or not isinstance(attribute.type, Text):
        return ""
    return _bytes_of(attribute.values.reshape(-1)[0], attribute.type).decode("utf-8", "replace")


def _name(path: str) -> str:
    return path.rpartition("/")[2].replace(_shadowed, "")
