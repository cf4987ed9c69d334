# SPDX-License-Identifier: Apache-2.0
"""What an HDF5 file holds: its datasets with their storage, and all paths that lead there."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import h5py
from h5py import h5, h5d, h5g, h5l, h5o, h5p, h5s

from tailrace.verify.hdf5_types import comparable, type_of
from tailrace.verify.model import Shape
from tailrace.verify.types import Type
from tailrace.verify.unlinked import Identity, identity

_layouts = {
    h5d.COMPACT: "compact",
    h5d.CONTIGUOUS: "contiguous",
    h5d.CHUNKED: "chunked",
    h5d.VIRTUAL: "virtual",
}


@dataclass(frozen=True)
class Filter:
    """One step of a dataset's pipeline."""

    code: int
    values: tuple[int, ...] = ()
    flags: int = 0
    name: str = ""


@dataclass(frozen=True)
class Storage:
    """How a dataset lies in a file."""

    layout: str  # compact, contiguous, chunked, virtual, external
    chunk: Shape = ()
    filters: tuple[Filter, ...] = ()


@dataclass
class Dataset:
    """One dataset; `paths` are the names of all hard links to it, the first one its own."""

    paths: list[str]
    shape: Shape | None  # None: no dataspace
    limits: tuple[int | None, ...]
    type: Type
    item_bytes: int
    storage: Storage
    stored_bytes: int
    readable: bool  # all its filters are there

    @property
    def path(self) -> str:
        return self.paths[0]

    @property
    def bytes(self) -> int:
        """Of its elements, before any compression."""
        count = 0 if self.shape is None else 1
        for extent in self.shape or ():
            count *= extent
        return count * self.item_bytes


@dataclass
class Survey:
    """A file as it is."""

    datasets: list[Dataset] = field(default_factory=list)
    objects: int = 0
    newest_header: int = 1  # version of object headers
    incomparable: list[str] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)  # what leads to other files: which


def survey(file: h5py.File) -> Survey:
    """Every dataset that a path leads to, in the order of creation where the file keeps one."""
    found = Survey()
    known: dict[Identity, Dataset | None] = {identity(file.id): None}
    _count(found, h5o.open(file.id, b"/"))
    queue = deque([b"/"])
    while queue:
        parent = queue.popleft()
        group = h5g.open(file.id, parent)
        for name in link_names(group):
            kind = group.links.get_info(name).type
            path = parent.rstrip(b"/") + b"/" + name
            if kind == h5l.TYPE_EXTERNAL:
                found.others.append((text(path), text(group.links.get_val(name)[0])))
            if kind != h5l.TYPE_HARD:
                continue
            thing = h5o.open(group, name)
            key = identity(thing)
            if key in known:
                again = known[key]
                if again is not None:
                    again.paths.append(text(path))
                continue
            _count(found, thing)
            known[key] = None
            if isinstance(thing, h5g.GroupID):
                queue.append(path)
            elif isinstance(thing, h5d.DatasetID):
                known[key] = dataset = described(thing, text(path))
                found.datasets.append(dataset)
                found.others += [(dataset.path, file) for file in _sources(thing)]
                if not comparable(dataset.type):
                    found.incomparable.append(dataset.path)
    return found


def link_names(group: Any) -> list[bytes]:
    """The names in a group, in the order of creation where the group keeps it."""
    names: list[bytes] = []
    tracked = group.get_create_plist().get_link_creation_order() & h5p.CRT_ORDER_TRACKED
    kind = h5.INDEX_CRT_ORDER if tracked else h5.INDEX_NAME
    group.links.iterate(names.append, idx_type=kind, order=h5.ITER_INC)
    return names


def described(thing: Any, path: str) -> Dataset:
    """An open dataset."""
    space = thing.get_space()
    tid = thing.get_type()
    shape: Shape | None = None
    limits: tuple[int | None, ...] = ()
    if space.get_simple_extent_type() != h5s.NULL:
        shape = tuple(int(n) for n in space.get_simple_extent_dims())
        greatest = space.get_simple_extent_dims(True)
        limits = tuple(None if n == h5s.UNLIMITED else int(n) for n in greatest)
    creation = thing.get_create_plist()
    return Dataset(
        [path], shape, limits, type_of(tid), int(tid.get_size()), storage_of(creation),
        int(thing.get_storage_size()), _readable(creation),
    )  # fmt: skip


def storage_of(creation: Any) -> Storage:
    """What a creation property list says."""
    layout = _layouts.get(creation.get_layout(), "unknown")
    if layout == "contiguous" and creation.get_external_count():
        layout = "external"
    chunk = tuple(int(n) for n in creation.get_chunk()) if layout == "chunked" else ()
    return Storage(layout, chunk, tuple(filters_of(creation)))


def _sources(thing: Any) -> list[str]:
    """Files with the elements of a virtual dataset; "." is its own."""
    creation = thing.get_create_plist()
    if creation.get_layout() != h5d.VIRTUAL:
        return []
    names = (text(creation.get_virtual_filename(at)) for at in range(creation.get_virtual_count()))
    return [name for name in dict.fromkeys(names) if name != "."]


def filters_of(creation: Any) -> Iterator[Filter]:
    for index in range(creation.get_nfilters()):
        code, flags, values, name = creation.get_filter(index)
        yield Filter(int(code), tuple(int(n) for n in values), int(flags), text(name))


def _readable(creation: Any) -> bool:
    return creation.get_nfilters() == 0 or bool(creation.all_filters_avail())


def _count(found: Survey, thing: Any) -> None:
    found.objects += 1
    found.newest_header = max(found.newest_header, int(h5o.get_info(thing).hdr.version))


def text(name: bytes | str) -> str:
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")


def raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
