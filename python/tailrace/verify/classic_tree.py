# SPDX-License-Identifier: Apache-2.0
"""A classic netCDF file (CDF-1, CDF-2, CDF-5) as a tree of nodes, read with the netCDF4 module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.classic_header import Texts, text_attributes
from tailrace.verify.model import Attribute, Box, Node, Values
from tailrace.verify.types import Float, Integer, Text, Type

Skip = Callable[[str], bool]
character = Text(1, "ascii", "null-terminated")


class ClassicTree:
    """An open classic file: dimensions, variables, attributes; no groups."""

    def __init__(self, path: Path, skip: Skip = lambda _path: False) -> None:
        self.path = path
        self._file = _opened(path)
        self.format = _format_name(self._file.data_model)
        self._texts = text_attributes(path)
        attributes = partial(_attributes, self._file, self._texts[""])
        self.nodes: dict[str, Node] = {"/": Node("/", "group", attributes)}
        for name, dimension in self._file.dimensions.items():
            extent = int(dimension.size)
            limits = (None if dimension.isunlimited() else extent,)
            node = Node(dimension_path("/", name), "dimension", shape=(extent,), limits=limits)
            self.nodes[node.path] = node
        for name, variable in self._file.variables.items():
            if not skip(f"/{name}"):
                self.nodes[f"/{name}"] = self._variable_node(name, variable)
        self.nodes = dict(sorted(self.nodes.items()))

    def close(self) -> None:
        self._file.close()

    def reference_text(self, reference: Any, kind: str) -> str:
        raise TypeError(f"a classic file has no {kind} references")

    def _variable_node(self, name: str, variable: Any) -> Node:
        variable.set_auto_maskandscale(False)
        variable.set_auto_chartostring(False)
        attributes = partial(_attributes, variable, self._texts.get(name, {}))
        node = Node(f"/{name}", "dataset", attributes)
        node.type = _type_of(variable.dtype)
        node.shape = tuple(int(n) for n in variable.shape)
        node.dimensions = tuple(str(dimension) for dimension in variable.dimensions)
        node.limits = tuple(
            None if self._file.dimensions[dimension].isunlimited() else extent
            for dimension, extent in zip(variable.dimensions, node.shape, strict=True)
        )
        node.read = partial(self._read, variable)
        return node

    def _read(self, variable: Any, box: Box) -> Values:
        try:
            return np.asarray(variable[box] if box else variable[...])
        except (OSError, RuntimeError, IndexError) as error:
            raise _damaged(self.path, error) from error


def dimension_path(group: str, name: str) -> str:
    """The node of a dimension; variables and dimensions may share a name."""
    return f"{group.rstrip('/')}/dimension {name}"


def _opened(path: Path) -> Any:
    import netCDF4

    try:
        return netCDF4.Dataset(path, "r")
    except (OSError, RuntimeError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> TailraceError:
    return TailraceError(
        f"not readable as classic netCDF: {error}",
        where=str(path),
        hint="the file is incomplete or damaged; write it again, or restore it from a copy",
        code=ExitCode.VERIFICATION_FAILED,
    )


def _format_name(model: str) -> str:
    return {
        "NETCDF3_CLASSIC": "netCDF classic (CDF-1)",
        "NETCDF3_64BIT_OFFSET": "netCDF classic (CDF-2)",
        "NETCDF3_64BIT_DATA": "netCDF classic (CDF-5)",
    }.get(model, model)


def _type_of(dtype: Any) -> Type:
    kind = np.dtype(dtype)
    if kind.kind == "S":
        return character
    if kind.kind == "f":
        return Float(kind.itemsize)
    return Integer(kind.itemsize, kind.kind == "i", 8 * kind.itemsize)


def _attributes(holder: Any, texts: Texts) -> Mapping[str, Attribute]:
    found = {}
    for name in sorted(holder.ncattrs()):
        if name in texts:
            found[name] = _text_attribute(texts[name])
            continue
        values = np.atleast_1d(np.asarray(holder.getncattr(name)))
        found[name] = Attribute(_type_of(values.dtype), values.shape, values)
    return found


def _text_attribute(text: bytes) -> Attribute:
    """All bytes are content, as to every reader of netCDF. Without any it has no value."""
    kind = Text(max(1, len(text)), "ascii", "null-terminated", whole=True)
    if not text:
        return Attribute(kind, None, None)
    return Attribute(kind, (), np.array(text, f"S{len(text)}"))
