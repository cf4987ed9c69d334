# SPDX-License-Identifier: Apache-2.0
"""Objects of an HDF5 file that no path leads to: only references reach them.

They have no name by which two files could be compared, so what they hold stands for them: a hash
over type, extents, elements, attributes and members. An object that refers to one that is being
told of names it by its distance, so that cycles end.
"""

from __future__ import annotations

from typing import Any, Protocol

import xxhash
from h5py import h5g, h5l, h5o

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.model import Node
from tailrace.verify.node_hash import hash_attributes, hash_elements, joined, node_facts

_deepest = 64

Identity = tuple[int, int]


class Owner(Protocol):
    """The tree of the file."""

    path: Any

    def node_of(self, thing: Any, path: str) -> Node: ...
    def path_of(self, thing: Any) -> str: ...
    def reference_text(self, reference: Any, kind: str) -> str: ...


class Unlinked:
    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._things: dict[str, Any] = {}  # those being told of, by a name that is only ours
        self._levels: dict[Identity, int] = {}
        self._known: dict[Identity, str] = {}
        self._lowest = 0  # level that was named by its distance

    def close(self) -> None:
        self._things.clear()

    def opened(self, name: str) -> Any:
        """The object behind a name given here; None where it is not of these."""
        return self._things.get(name)

    def text(self, thing: Any) -> str:
        """What stands for an object: equal texts, equal content."""
        key = identity(thing)
        level = len(self._levels)
        if key in self._known:
            return self._known[key]
        if key in self._levels:
            self._lowest = min(self._lowest, self._levels[key])
            return f"the unlinked object {level - self._levels[key]} levels above"
        if level == _deepest:
            raise TailraceError(
                f"objects that only references reach refer to one another {_deepest} deep",
                where=str(self._owner.path),
                hint="link them into a group, so that they have names; --ignore leaves out the "
                "first reference",
                code=ExitCode.CAPABILITY_MISSING,
            )
        outer, self._lowest = self._lowest, level
        self._levels[key] = level
        name = f"unlinked object at address {key[1]}"
        self._things[name] = thing
        try:
            found = self._told(thing, name)
        finally:
            del self._things[name], self._levels[key]
        if self._lowest == level:  # else it depends on who asked
            self._known[key] = found
        self._lowest = min(outer, self._lowest)
        return found

    def _told(self, thing: Any, name: str) -> str:
        node = self._owner.node_of(thing, name)
        resolve = self._owner.reference_text
        parts = [
            *node_facts(node),
            hash_elements(node, resolve),
            hash_attributes(node.read_attributes(), resolve),
        ]
        if isinstance(thing, h5g.GroupID):
            for member in sorted(thing):
                parts += [member.decode("utf-8", "surrogateescape"), self._member(thing, member)]
        return f"unlinked {node.kind} with content {xxhash.xxh3_128(joined(parts)).hexdigest()}"

    def _member(self, group: Any, name: bytes) -> str:
        kind = group.links.get_info(name).type
        if kind == h5l.TYPE_HARD:
            thing = h5o.open(group, name)
            return "hard " + (self._owner.path_of(thing) or self.text(thing))
        if kind in (h5l.TYPE_SOFT, h5l.TYPE_EXTERNAL):
            return f"link of class {kind} to {group.links.get_val(name)!r}"
        return f"link of class {kind}"


def identity(thing: Any) -> Identity:
    """The same for every way to an object of a file."""
    info = h5o.get_info(thing)
    return int(info.fileno), int(info.addr)
