# SPDX-License-Identifier: Apache-2.0
"""An HDF5 file as a tree of nodes, read serially with h5py."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import h5py
from h5py import h5a, h5d, h5g, h5i, h5l, h5o, h5p, h5r, h5s, h5t

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.elsewhere import check_elsewhere, is_elsewhere
from tailrace.verify.hdf5_types import comparable, type_of
from tailrace.verify.hdf5_values import (
    cache_for,
    damaged,
    read_attribute,
    read_box,
    storage,
    unallocated,
)
from tailrace.verify.model import Attribute, Box, Node, Storage, Values
from tailrace.verify.subfiles import (
    StripedFile,
    check_manifest,
    find_subfiles,
    manifest_of,
)
from tailrace.verify.types import Text, Type
from tailrace.verify.unlinked import Unlinked, identity

_marks_of_netcdf = (b"_NCProperties", b"_nc3_strict")

Skip = Callable[[str], bool]


class Hdf5Tree:
    """An open HDF5 (or netCDF-4) file. Links are followed within the file only."""

    def __init__(
        self, path: Path, skip: Skip = lambda _path: False, cache_bytes: int = 512 << 20
    ) -> None:
        self.path = path
        self._cache_bytes = cache_bytes
        subfiles = find_subfiles(path)
        self.format = "HDF5, subfiled" if subfiles else "HDF5"
        self._striped = StripedFile(subfiles) if subfiles else None
        self._file = _opened(path, self._striped)
        self._is_netcdf = any(h5a.exists(self._file.id, mark) for mark in _marks_of_netcdf)
        self._paths: dict[tuple[int, int], str] = {}
        self._unlinked = Unlinked(self)
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
        self._unlinked.close()
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
                path = f"{parent.rstrip('/')}/{text_of_name(name)}"
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
            return Node(path, "soft", target=text_of_name(group.links.get_val(name)))
        if kind == h5l.TYPE_EXTERNAL:
            file, target = group.links.get_val(name)
            # Quoted: a colon may be part of either.
            return Node(path, "external", target=f"{text_of_name(file)!r}:{text_of_name(target)!r}")
        if kind != h5l.TYPE_HARD:
            return Node(path, "link", target=f"user-defined link of class {kind}")
        thing = h5o.open(group, name)
        known = self._paths.get(identity(thing))
        if known is not None:
            return Node(path, "alias", target=known)
        self._remember(thing, path)
        return self.node_of(thing, path)

    def node_of(self, thing: Any, path: str) -> Node:
        """The node of an open object."""
        if isinstance(thing, h5g.GroupID):
            return self._group_node(path)
        if isinstance(thing, h5t.TypeID):
            return Node(path, "type", partial(self._attributes, path), type=type_of(thing))
        return self._dataset_node(thing, path)

    def path_of(self, thing: Any) -> str:
        """Of an open object; empty where no path leads to it."""
        return self._paths.get(identity(thing)) or text_of_name(h5i.get_name(thing) or b"")

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
        node.elsewhere = is_elsewhere(creation)
        if creation.get_layout() == h5d.CHUNKED:
            node.chunk = tuple(int(n) for n in creation.get_chunk())
            node.filtered = creation.get_nfilters() > 0
        node.read = partial(self._read, path, node)
        node.unallocated = partial(self._unallocated, path, node)
        node.storage = partial(self._storage, path, node)
        return node

    def _remember(self, thing: Any, path: str) -> None:
        self._paths[identity(thing)] = path

    def _committed_path(self, tid: Any) -> str:
        if not tid.committed():
            return ""
        return self.path_of(tid) or "an unnamed type"

    # --- values ----------------------------------------------------------------------------------

    def _dataset(self, path: str, node: Node) -> h5py.Dataset:
        """Kept open while one dataset is being read: the chunk cache lives as long as it."""
        if self._current is None or self._current[0] != path:
            self._current = None
            access = h5p.create(h5p.DATASET_ACCESS)
            if node.filtered:
                access.set_chunk_cache(10007, cache_for(node, self._cache_bytes), 0.75)
            thing = self._unlinked.opened(path) or h5d.open(self._file.id, _bytes(path), access)
            dataset = h5py.Dataset(thing)
            check_elsewhere(self.path, path, dataset)
            self._current = (path, dataset)
        return self._current[1]

    def _read(self, path: str, node: Node, box: Box) -> Values:
        self._refuse_incomparable(node.type, f"dataset {path}", path)
        try:
            return read_box(self._dataset(path, node), node.type, box)
        except (OSError, RuntimeError) as error:
            raise damaged(self.path, error, f"dataset {path}") from error

    def _unallocated(self, path: str, node: Node) -> int:
        return unallocated(self._dataset(path, node).id, node)

    def _storage(self, path: str, node: Node) -> Storage:
        return storage(self._dataset(path, node).id, node)

    def _attributes(self, path: str) -> Mapping[str, Attribute]:
        thing = self._unlinked.opened(path) or h5o.open(self._file.id, _bytes(path))
        found = {}
        for index in range(h5a.get_num_attrs(thing)):
            attribute = h5a.open(thing, index=index)
            try:
                name = text_of_name(attribute.name)
                kind = type_of(attribute.get_type())
                self._refuse_incomparable(kind, f"attribute {name} of {path}", f"{path}@{name}")
                committed = self._committed_path(attribute.get_type())
                found[name] = self._as_netcdf(read_attribute(attribute, committed))
            except (OSError, RuntimeError) as error:
                where = f"attribute {text_of_name(attribute.name)} of {path}"
                raise damaged(self.path, error, where) from error
        return dict(sorted(found.items()))

    def _as_netcdf(self, attribute: Attribute) -> Attribute:
        """To netCDF a text is a list of characters: a zero byte is one, and does not end it."""
        kind = attribute.type
        if not self._is_netcdf or not isinstance(kind, Text) or kind.size is None:
            return attribute
        return replace(attribute, type=replace(kind, whole=True))

    def _refuse_incomparable(self, kind: Type | None, what: str, pattern: str) -> None:
        if not comparable(kind):
            raise TailraceError(
                f"{what} cannot be compared: it holds references of the kind that HDF5 1.12 "
                "introduced, or times within elements of variable length",
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
            path = self.path_of(target)
        except (OSError, RuntimeError, ValueError, KeyError):
            return "a deleted object"
        path = path or self._unlinked.text(target)
        if kind == "object":
            return path
        return f"{path}[{_selection_text(h5r.get_region(reference, self._file.id))}]"


def _opened(path: Path, source: Any) -> h5py.File:
    """`source` is something that reads like a file, where the bytes are not in `path` itself."""
    try:
        return h5py.File(source or path, "r", locking=None if source else "best-effort")
    except (OSError, RuntimeError) as error:
        raise damaged(path, error) from error


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


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def text_of_name(name: bytes | str) -> str:
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
