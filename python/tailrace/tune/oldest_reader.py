# SPDX-License-Identifier: Apache-2.0
"""Whether a file needs a newer reader than another: by the versions of what it is made of."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tailrace.errors import TailraceError
from tailrace.verify.files import format_of

_signature = b"\x89HDF\r\n\x1a\n"
_layout_message = 8
_continuation_message = 16
_built_in_filters = 255  # numbers above are of filters that a reader needs a plugin for
# The release of HDF5 that brought a version; of one that is not here, none that we know.
_releases = {
    "superblock": {0: (1, 0), 1: (1, 6), 2: (1, 8), 3: (1, 10)},
    "object headers": {0: (1, 0), 1: (1, 0), 2: (1, 8)},
    "layouts": {0: (1, 0), 1: (1, 0), 2: (1, 6), 3: (1, 6), 4: (1, 10), 5: (2, 0)},
}


@dataclass
class Needs:
    """superblock: its version. headers, layouts: greatest versions of object headers and of
    messages of layout. filters: numbers of filters that are no part of HDF5. classic: the version
    of a classic netCDF file."""

    superblock: int = 0
    headers: int = 0
    layouts: int = 0
    classic: int = 0
    filters: set[int] = field(default_factory=set)

    @property
    def release(self) -> tuple[float, int]:
        """Of HDF5, which a reader needs at least."""
        return max(
            _release("superblock", self.superblock), _release("object headers", self.headers),
            _release("layouts", self.layouts),
        )  # fmt: skip


def _release(what: str, version: int) -> tuple[float, int]:
    return _releases[what].get(version, (math.inf, 0))


def newer_than(default: Path, tuned: Path) -> list[str]:
    """In what the tuned file needs a newer reader, as sentences."""
    try:
        kinds = format_of(default), format_of(tuned)
    except TailraceError:
        return []
    if kinds[0] != kinds[1] or kinds[0] == "raw":
        return []
    was, now = needs(default, kinds[0]), needs(tuned, kinds[1])
    found = [
        _sentence(what, old, new)
        for what, old, new in (
            ("superblock", was.superblock, now.superblock),
            ("object headers", was.headers, now.headers),
            ("layouts", was.layouts, now.layouts),
        )
        if new > old and _release(what, new) > was.release  # else it cannot open either
    ]
    if now.classic > was.classic:
        found.append(_sentence("classic format", was.classic, now.classic))
    more = sorted(now.filters - was.filters)
    if more:
        found.append(f"filter {', '.join(map(str, more))}, which readers need a plugin for")
    return found


def _sentence(what: str, old: int, new: int) -> str:
    return f"{what} of version {new}, by default {old}: older readers cannot open it"


def needs(path: Path, kind: str) -> Needs:
    """What a reader of the file has to know."""
    if kind == "classic":
        with path.open("rb") as stream:
            return Needs(classic=stream.read(4)[3])
    return _needs_of_hdf5(path)


def _needs_of_hdf5(path: Path) -> Needs:
    import h5py
    from h5py import h5o

    found = Needs()
    with path.open("rb") as stream, h5py.File(path, "r") as file:
        base = file.userblock_size
        found.superblock = _at(stream, base + len(_signature), 1)[0]

        def visit(name: bytes) -> None:
            identifier = h5o.open(file.id, name)
            address = h5o.get_info(identifier).addr
            header, layout = _versions(stream, base + address)
            found.headers = max(found.headers, header)
            found.layouts = max(found.layouts, layout)
            if isinstance(identifier, h5py.h5d.DatasetID):
                created = identifier.get_create_plist()
                numbers = {created.get_filter(at)[0] for at in range(created.get_nfilters())}
                found.filters |= {one for one in numbers if one > _built_in_filters}

        visit(b"/")
        h5o.visit(file.id, visit)
    return found


def _versions(stream: BinaryIO, address: int) -> tuple[int, int]:
    """Of an object's header, and of its message of layout (0: it has none)."""
    head = _at(stream, address, 16)
    if head[:4] == b"OHDR":
        return 2, _layout_of_2(stream, address, head)
    return 1, _layout_of_1(stream, address, head)


def _layout_of_1(stream: BinaryIO, address: int, head: bytes) -> int:
    (size,) = struct.unpack_from("<I", head, 8)
    blocks = [(address + 16, size)]
    while blocks:
        at, left = blocks.pop()
        while left >= 8:
            kind, length = struct.unpack("<HH", _at(stream, at, 4))
            if kind == _layout_message:
                return _at(stream, at + 8, 1)[0]
            if kind == _continuation_message:
                place, length_of_block = struct.unpack("<QQ", _at(stream, at + 8, 16))
                blocks.append((place, length_of_block))
            at, left = at + 8 + length, left - 8 - length
    return 0


def _layout_of_2(stream: BinaryIO, address: int, head: bytes) -> int:
    flags = head[5]
    at = address + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    size = int.from_bytes(_at(stream, at, width), "little")
    prefix = 4 + (2 if flags & 4 else 0)
    blocks = [(at + width, size)]
    while blocks:
        at, left = blocks.pop()
        while left >= prefix:
            kind, length = struct.unpack("<BH", _at(stream, at, 3))
            if kind == _layout_message:
                return _at(stream, at + prefix, 1)[0]
            if kind == _continuation_message:
                place, length_of_block = struct.unpack("<QQ", _at(stream, at + prefix, 16))
                blocks.append((place + 4, length_of_block - 8))  # its signature and checksum
            at, left = at + prefix + length, left - prefix - length
    return 0


def _at(stream: BinaryIO, offset: int, count: int) -> bytes:
    stream.seek(offset)
    return stream.read(count)
