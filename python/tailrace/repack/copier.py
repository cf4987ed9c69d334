# SPDX-License-Identifier: Apache-2.0
"""The objects of an HDF5 file into another: all as they are, but for the layout of some datasets.

Data that keep their layout go through HDF5's own copy (H5Ocopy), or packed chunk by chunk where
they are many. Left alone with a whole file H5Ocopy would make a second object of each further hard
link, empty all references, and give each dataset a hidden copy of its committed type; so objects
are made one by one here, in the order of their links.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import h5py
from h5py import h5d, h5g, h5i, h5l, h5o, h5p

from tailrace.errors import ExitCode, TailraceError
from tailrace.repack.attributes import copy_attributes, have_references
from tailrace.repack.elements import (
    Tell,
    access_of,
    copy_chunks,
    copy_fixed,
    copy_variable,
)
from tailrace.repack.layout import Change
from tailrace.repack.memory import Memory
from tailrace.repack.references import References, holds_references
from tailrace.repack.survey import Dataset, described, link_names, text
from tailrace.verify.unlinked import Identity, identity

_whole_bytes = 16 << 20  # HDF5's own copy of more would not hear an interrupt for long
_scratch = b"/tailrace repack: in the works"


class Copier:
    def __init__(
        self, source: h5py.File, target: Any, changes: Mapping[str, Change], memory: Memory,
        tell: Tell,
    ) -> None:  # fmt: skip
        self._source, self._target = source, target
        self._changes, self._memory, self._tell = changes, memory, tell
        self._places: dict[Identity, bytes] = {}
        self._groups: deque[tuple[Any, bytes]] = deque()  # source (path or object), place
        self._later: deque[Callable[[], None]] = deque()
        self._scratch_count = 0
        self._references = References(source, self._counterpart, self._deleted)
        self._plain = h5p.create(h5p.OBJECT_COPY)
        self._plain.set_copy_object(h5o.COPY_WITHOUT_ATTR_FLAG)

    def run(self) -> None:
        """All objects first; then what refers to them."""
        root = h5g.open(self._source.id, b"/")
        self._places[identity(root)] = b"/"
        self._finish(root, b"/", b"/")
        self._groups.append((b"/", b"/"))
        self._fill_groups()
        while self._later:
            self._later.popleft()()
            self._fill_groups()  # references may have led to objects that no path leads to
        if self._scratch_count:
            h5g.open(self._target, b"/").unlink(_scratch)

    # --- groups and links ------------------------------------------------------------------------

    def _fill_groups(self) -> None:
        while self._groups:
            source, place = self._groups.popleft()
            group = self._opened(source)
            target = h5g.open(self._target, place)
            for name in link_names(group):
                self._link(group, source, name, target, place)

    def _link(self, group: Any, source: Any, name: bytes, target: Any, parent: bytes) -> None:
        info = group.links.get_info(name)
        creation = h5p.create(h5p.LINK_CREATE)
        creation.set_char_encoding(info.cset)
        if info.type == h5l.TYPE_SOFT:
            target.links.create_soft(name, group.links.get_val(name), creation)
        elif info.type == h5l.TYPE_EXTERNAL:
            target.links.create_external(name, *group.links.get_val(name), creation)
        elif info.type == h5l.TYPE_HARD:
            thing = h5o.open(group, name)
            known = self._places.get(identity(thing))
            if known is not None:
                h5o.link(h5o.open(self._target, known), target, name, creation)
                return
            place = parent.rstrip(b"/") + b"/" + name
            # By its path: what is kept open for each object would be too much.
            self._make(thing, place if isinstance(source, bytes) else thing, target, name, creation)
        else:
            raise TailraceError(
                f"link {text(parent)}/{text(name)} is of a class of a program's own ({info.type})",
                where=self._source.filename, hint="such links cannot be copied here",
                code=ExitCode.CAPABILITY_MISSING,
            )  # fmt: skip

    # --- objects ---------------------------------------------------------------------------------

    def _make(self, thing: Any, source: Any, parent: Any, name: bytes, creation: Any) -> None:
        """Makes the counterpart of an object, with the link that leads to it first."""
        place = bytes(h5i.get_name(parent)).rstrip(b"/") + b"/" + name
        self._places[identity(thing)] = place
        if isinstance(thing, h5g.GroupID):
            h5g.create(parent, name, creation, _creation_of(thing))
            self._groups.append((source, place))
        elif isinstance(thing, h5d.DatasetID):
            self._make_dataset(thing, source, parent, name, creation)
        else:
            h5o.copy(thing, b".", parent, name, self._plain, creation)
        self._finish(thing, source, place)

    def _finish(self, thing: Any, source: Any, place: bytes) -> None:
        """Comment and attributes."""
        if isinstance(source, bytes):
            # Not h5o.get_comment(): that of h5py gives back memory which is no longer its own.
            comment = h5g.open(self._source.id, b"/").get_comment(source)
            if comment:
                h5o.set_comment(h5o.open(self._target, place), comment)
        if have_references(thing):
            self._later.append(lambda: self._attributes(self._opened(source), place))
        else:
            self._attributes(thing, place)

    def _attributes(self, thing: Any, place: bytes) -> None:
        there = h5o.open(self._target, place)
        copy_attributes(thing, there, self._type_for, self._references)

    def _make_dataset(
        self, thing: Any, source: Any, parent: Any, name: bytes, creation: Any
    ) -> None:
        path = text(source) if isinstance(source, bytes) else "an object without a path"
        old = described(thing, path)
        change = self._changes.get(path)
        has_references = old.type.variable and _refers(thing)
        if change is None and self._by_hdf5(thing, old, has_references):
            h5o.copy(thing, b".", parent, name, self._plain, creation)
            self._tell(old.stored_bytes)
            return
        properties = thing.get_create_plist()
        new = old.storage if change is None else change.new
        made = h5d.create(
            parent, name, self._type_for(thing.get_type()), thing.get_space(),
            properties if change is None else change.creation(properties), creation,
            access_of(new, old.item_bytes, self._memory.cache_bytes // 4),
        )  # fmt: skip
        if has_references:
            place = self._places[identity(thing)]
            self._later.append(lambda: self._fill_later(source, place, old))
        else:
            self._fill(source, made, old, change)

    def _by_hdf5(self, thing: Any, old: Dataset, has_references: bool) -> bool:
        if old.storage.layout in {"virtual", "external", "unknown"}:
            return True
        if has_references or thing.get_type().committed():
            return False
        if old.type.variable and _is_filled(thing):
            return False  # the fill value would be looked for where it lies in the old file
        return old.type.variable or old.stored_bytes <= _whole_bytes

    def _fill_later(self, source: Any, place: bytes, old: Dataset) -> None:
        made = h5d.open(self._target, place)
        self._fill(source, made, old, self._changes.get(old.path))

    def _fill(self, source: Any, made: Any, old: Dataset, change: Change | None) -> None:
        if old.shape is None or 0 in old.shape:
            return
        access = access_of(old.storage, old.item_bytes, self._memory.cache_bytes)
        thing = h5d.open(self._source.id, source, access) if isinstance(source, bytes) else source
        new = old.storage if change is None else change.new
        if old.type.variable:
            copy_variable(thing, made, old, self._references, self._tell)
        elif change is None and old.storage.layout == "chunked":
            copy_chunks(thing, made, old, self._tell)
        else:
            copy_fixed(thing, made, old, new, self._memory, self._tell)
        made.flush()  # what fails when a dataset is let go h5py tells nobody

    def _opened(self, source: Any) -> Any:
        return h5o.open(self._source.id, source) if isinstance(source, bytes) else source

    # --- what refers to objects ------------------------------------------------------------------

    def _type_for(self, tid: Any) -> Any:
        return self._counterpart(tid) if tid.committed() else tid

    def _counterpart(self, thing: Any) -> Any:
        """The open object that stands for one of the source. One that no path leads to is made
        here, and lives on without a path as it does there."""
        known = self._places.get(identity(thing))
        if known is None:
            self._make(thing, thing, self._scratch(), b"%d" % self._scratch_count, None)
            known = self._places[identity(thing)]
        return h5o.open(self._target, known)

    def _deleted(self) -> Any:
        return self._scratch()

    def _scratch(self) -> Any:
        """A group that is gone in the end."""
        self._scratch_count += 1
        if self._scratch_count == 1:
            return h5g.create(h5g.open(self._target, b"/"), _scratch)
        return h5g.open(self._target, _scratch)


def _creation_of(group: Any) -> Any:
    """How a group is made. Not the properties themselves that HDF5 gives of it: in those of one
    with many links in the newer format is where they lie in the old file, and a group that is made
    with them looks for its own links there."""
    old, new = group.get_create_plist(), h5p.create(h5p.GROUP_CREATE)
    new.set_link_creation_order(old.get_link_creation_order())
    new.set_attr_creation_order(old.get_attr_creation_order())
    new.set_attr_phase_change(*old.get_attr_phase_change())
    new.set_obj_track_times(old.get_obj_track_times())
    return new


def _is_filled(thing: Any) -> bool:
    """By a value of the program's own; netCDF gives its texts one."""
    return bool(thing.get_create_plist().fill_value_defined() == h5d.FILL_VALUE_USER_DEFINED)


def _refers(thing: Any) -> bool:
    try:
        return holds_references(thing.dtype)
    except TypeError:
        return False
