# SPDX-License-Identifier: Apache-2.0
"""An HDF5 file as a tree of nodes, read serially with h5py."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5i, h5l, h5o, h5p, h5r, h5s, h5t

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.elsewhere import check_elsewhere
from tailrace.verify.hdf5_types import comparable, has_opaque, type_of
from tailrace.verify.model import Attribute, Box, Node, Shape, Values
from tailrace.verify.subfiles import (
    StripedFile,
    check_manifest,
    find_subfiles,
    manifest_of,
)
from tailrace.verify.types import Type

_cache_bytes = 64 << 20
_greatest_cache_bytes = 512 << 20

# HDF5's words where a filter is not there; one that found damage "returned failure".
_plugin_missing = ("can't find plugin", "required filter", "can't open directory")

Skip = Callable[[str], bool]


class Hdf5Tree:
    """An open HDF5 (or netCDF-4) file. Links are followed within the file only."""

    def __init__(self, path: Path, skip: Skip = lambda _path: False) -> None:
        self.path = path
        subfiles = find_subfiles(path)
        self.format = "HDF5, subfiled" if subfiles else "HDF5"
        self._striped = StripedFile(subfiles) if subfiles else None
        self._file = _opened(path, self._striped)
        self._paths: dict[tuple[int, int], str] = {}
        self._skip = skip
        self._current: tuple[str, h5py.Dataset] | None = None
        self.nodes: dict[str, Node] = {}
        try:
            self._walk()
            if subfiles and self._has_manifest():
                check_manifest(path)
        except TailraceError:
            self.close()
            raise
        except (OSError, RuntimeError, KeyError, ValueError) as error:
            self.close()
            raise damaged(path, error) from error

    def close(self) -> None:
        self._current = None
        self._file.close()
        if self._striped is not None:
            self._striped.close()

    def _has_manifest(self) -> bool:
        """Whether there is one, or should be: other programs write sets without."""
        ours = {"kernel", "simulation_attributes"} & self._attributes("/").keys()
        return bool(ours) or manifest_of(self.path).exists()

    # --- the tree --------------------------------------------------------------------------------

    def _walk(self) -> None:
        """Breadth first in the order of names, so that an object that several hard links name gets
        the same path in files of the same content, and cycles end."""
        self._remember(self._file.id, "/")
        self.nodes["/"] = self._group_node("/")
        queue = deque(["/"])
        while queue:
            parent = queue.popleft()
            group = h5g.open(self._file.id, _bytes(parent))
            for name in sorted(group):
                path = f"{parent.rstrip('/')}/{_text(name)}"
                if self._skip(path):
                    continue
                node = self._link_node(group, name, path)
                self.nodes[path] = node
                if node.kind == "group":
                    queue.append(path)
        self.nodes = dict(sorted(self.nodes.items()))

    def _link_node(self, group: Any, name: bytes, path: str) -> Node:
        kind = group.links.get_info(name).type
        if kind == h5l.TYPE_SOFT:
            return Node(path, "soft", target=_text(group.links.get_val(name)))
        if kind == h5l.TYPE_EXTERNAL:
            file, target = group.links.get_val(name)
            return Node(path, "external", target=f"{_text(file)}:{_text(target)}")
        if kind != h5l.TYPE_HARD:
            return Node(path, "link", target=f"user-defined link of class {kind}")
        thing = h5o.open(group, name)
        known = self._paths.get(_identity(thing))
        if known is not None:
            return Node(path, "alias", target=known)
        self._remember(thing, path)
        if isinstance(thing, h5g.GroupID):
            return self._group_node(path)
        if isinstance(thing, h5t.TypeID):
            return Node(path, "type", partial(self._attributes, path), type=type_of(thing))
        return self._dataset_node(thing, path)

    def _group_node(self, path: str) -> Node:
        return Node(path, "group", partial(self._attributes, path))

    def _dataset_node(self, dataset: Any, path: str) -> Node:
        space = dataset.get_space()
        empty = space.get_simple_extent_type() == h5s.NULL
        tid = dataset.get_type()
        node = Node(path, "dataset", partial(self._attributes, path), type=type_of(tid))
        node.committed = self._committed_path(tid)
        if not empty:
            node.shape = tuple(int(n) for n in space.get_simple_extent_dims())
            limits = space.get_simple_extent_dims(True)
            node.limits = tuple(None if n == h5s.UNLIMITED else int(n) for n in limits)
        creation = dataset.get_create_plist()
        if creation.get_layout() == h5d.CHUNKED:
            node.chunk = tuple(int(n) for n in creation.get_chunk())
            node.filtered = creation.get_nfilters() > 0
        node.read = partial(self._read, path, node)
        node.unallocated = partial(self._unallocated, path, node)
        return node

    def _remember(self, thing: Any, path: str) -> None:
        self._paths[_identity(thing)] = path

    def _committed_path(self, tid: Any) -> str:
        if not tid.committed():
            return ""
        return self._paths.get(_identity(tid)) or _text(h5i.get_name(tid) or b"an unnamed type")

    # --- values ----------------------------------------------------------------------------------

    def _dataset(self, path: str, node: Node) -> h5py.Dataset:
        """Kept open while one dataset is being read: the chunk cache lives as long as it."""
        if self._current is None or self._current[0] != path:
            self._current = None
            check_elsewhere(self.path, self._file, path)
            access = h5p.create(h5p.DATASET_ACCESS)
            if node.filtered:
                access.set_chunk_cache(10007, _cache_for(node), 0.75)
            self._current = (path, h5py.Dataset(h5d.open(self._file.id, _bytes(path), access)))
        return self._current[1]

    def _read(self, path: str, node: Node, box: Box) -> Values:
        self._refuse_incomparable(node.type, f"dataset {path}", path)
        try:
            dataset = self._dataset(path, node)
            if has_opaque(node.type):
                return _read_stored(dataset, box).view(dataset.dtype)
            return _read_box(dataset, box)
        except (OSError, RuntimeError) as error:
            raise damaged(self.path, error, f"dataset {path}") from error

    def _unallocated(self, path: str, node: Node) -> int:
        """Elements without storage. Where storage is compact or elsewhere, none."""
        dataset = self._dataset(path, node).id
        if not node.shape:
            return 0
        layout = dataset.get_create_plist().get_layout()
        if layout == h5d.CONTIGUOUS and dataset.get_create_plist().get_external_count() == 0:
            return math.prod(node.shape) if dataset.get_storage_size() == 0 else 0
        if layout != h5d.CHUNKED or node.chunk is None:
            return 0
        grid = [-(-extent // chunk) for extent, chunk in zip(node.shape, node.chunk, strict=True)]
        missing = math.prod(grid) - dataset.get_num_chunks()
        return min(missing * math.prod(node.chunk), math.prod(node.shape)) if missing > 0 else 0

    def _attributes(self, path: str) -> Mapping[str, Attribute]:
        thing = h5o.open(self._file.id, _bytes(path))
        found = {}
        for index in range(h5a.get_num_attrs(thing)):
            attribute = h5a.open(thing, index=index)
            try:
                name = _text(attribute.name)
                kind = type_of(attribute.get_type())
                self._refuse_incomparable(kind, f"attribute {name} of {path}", f"{path}@{name}")
                found[name] = self._attribute(attribute)
            except (OSError, RuntimeError) as error:
                where = f"attribute {_text(attribute.name)} of {path}"
                raise damaged(self.path, error, where) from error
        return dict(sorted(found.items()))

    def _attribute(self, attribute: Any) -> Attribute:
        tid = attribute.get_type()
        kind = type_of(tid)
        committed = self._committed_path(tid)
        if attribute.get_space().get_simple_extent_type() == h5s.NULL:
            return Attribute(kind, None, None, committed)
        shape: Shape = tuple(int(n) for n in attribute.shape)
        dtype = _numpy_type(attribute)
        if dtype is None or has_opaque(kind):
            values = np.zeros(shape, f"V{tid.get_size()}")
            attribute.read(values, mtype=tid)
            values = values if dtype is None else values.view(dtype)
            return Attribute(kind, shape, values, committed)
        outer = shape
        memory = h5t.py_create(dtype)
        if dtype.subdtype is not None:
            dtype, inner = dtype.subdtype
            outer = shape + inner
        values = np.zeros(outer, dtype=dtype, order="C")
        if math.prod(shape):
            attribute.read(values, mtype=memory)
        return Attribute(kind, shape, values, committed)

    def _refuse_incomparable(self, kind: Type | None, what: str, pattern: str) -> None:
        if not comparable(kind):
            raise TailraceError(
                f"{what} cannot be compared: it holds references of the kind that HDF5 1.12 "
                "introduced",
                where=str(self.path),
                hint=f"--ignore '{pattern}' leaves it out",
                code=ExitCode.CAPABILITY_MISSING,
            )

    # --- references ------------------------------------------------------------------------------

    def reference_text(self, reference: Any, kind: str) -> str:
        if not reference:
            return "null"
        try:
            target = h5r.dereference(reference, self._file.id)
            path = self._paths.get(_identity(target))
        except (OSError, RuntimeError, ValueError, KeyError):
            return "a deleted object"
        if path is None:
            path = _text(h5i.get_name(target) or b"an object without a name")
        if kind == "object":
            return path
        return f"{path}[{_selection_text(h5r.get_region(reference, self._file.id))}]"


def damaged(path: Path, error: Exception, where: str = "") -> TailraceError:
    """The error of a file that calls itself HDF5 and cannot be read as such."""
    text = str(error) or type(error).__name__
    what = f"cannot read {where}: {text}" if where else f"not readable as HDF5: {text}"
    hint = "the file is incomplete or damaged; write it again, or restore it from a copy"
    code = ExitCode.VERIFICATION_FAILED
    lowered = text.lower()
    if "conversion path" in lowered:
        hint = "this datatype cannot be read here; --ignore PATH leaves the object out"
    elif any(words in lowered for words in _plugin_missing):
        code = ExitCode.CAPABILITY_MISSING
        hint = (
            "HDF5 needs the filter's plugin to read this: set HDF5_PLUGIN_PATH to its folder, "
            "or `pip install hdf5plugin`"
        )
    elif "unable to lock" in lowered:
        code = ExitCode.USAGE
        hint = "another program has the file open; wait, or set HDF5_USE_FILE_LOCKING=FALSE"
    return TailraceError(what, where=str(path), hint=hint, code=code)


def _opened(path: Path, source: Any) -> h5py.File:
    """`source` is something that reads like a file, where the bytes are not in `path` itself."""
    try:
        return h5py.File(source or path, "r", locking=None if source else "best-effort")
    except (OSError, RuntimeError) as error:
        raise damaged(path, error) from error


def _cache_for(node: Node) -> int:
    """Room for one row of chunks, so that reading in row-major order unpacks each chunk once."""
    if node.shape is None or node.chunk is None:
        return _cache_bytes
    first = next((axis for axis, extent in enumerate(node.chunk) if extent > 1), 0)
    row = node.chunk[first] * math.prod(node.shape[first + 1 :]) * 8
    return min(max(2 * row, _cache_bytes), _greatest_cache_bytes)


def _read_box(dataset: h5py.Dataset, box: Box) -> Values:
    dtype = _numpy_type(dataset)
    if dtype is None:
        return _read_stored(dataset, box)
    if dtype.kind in "iufb" and dtype.subdtype is None and box:
        # Zeros first: elements without storage and without a fill value leave the buffer as it was.
        values = np.zeros(tuple(part.stop - part.start for part in box), dtype)
        if values.size:
            dataset.read_direct(values, source_sel=box)
        return values
    values = dataset[box]
    if not box and dtype.kind == "O":
        # The one element may itself be an array, which must not become the dataset's extents.
        cell = np.empty(1, object)
        cell[0] = values
        return cell.reshape(())
    return np.asarray(values)


def _numpy_type(holder: Any) -> Any:
    """None where numpy has no equal of the type."""
    try:
        return holder.dtype
    except TypeError:
        return None


def _read_stored(dataset: h5py.Dataset, box: Box) -> Values:
    """The bytes as they are stored: of a type that numpy has no equal of, or that holds opaque
    parts, whose tag h5py loses so that HDF5 refuses to convert them."""
    tid = dataset.id.get_type()
    extents = tuple(part.stop - part.start for part in box)
    values = np.zeros(extents, f"V{tid.get_size()}")
    if not values.size:
        return values
    space = dataset.id.get_space()
    if box:
        space.select_hyperslab(tuple(part.start for part in box), extents)
        memory = h5s.create_simple(extents)
    else:
        memory = h5s.create(h5s.SCALAR)
    dataset.id.read(memory, space, values, mtype=tid)
    return values


def _selection_text(space: Any) -> str:
    """The selected elements of a region, independent of how the selection was put together."""
    kind = space.get_select_type()
    if kind == h5s.SEL_ALL:
        return "all"
    if kind == h5s.SEL_NONE:
        return "none"
    if kind == h5s.SEL_POINTS:
        points = space.get_select_elem_pointlist()
        return "points " + " ".join(",".join(str(int(n)) for n in point) for point in points)
    blocks = sorted(
        tuple(f"{int(low)}:{int(high) + 1}" for low, high in zip(*corner, strict=True))
        for corner in space.get_select_hyper_blocklist()
    )
    return " ".join(",".join(block) for block in blocks)


def _identity(thing: Any) -> tuple[int, int]:
    info = h5o.get_info(thing)
    return int(info.fileno), int(info.addr)


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _text(name: bytes | str) -> str:
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
