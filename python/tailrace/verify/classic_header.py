# SPDX-License-Identifier: Apache-2.0
"""The header of a classic netCDF file: how long the file has to be, and its texts byte for byte.

The library reads what lies beyond the end of a file as zeros, so that a truncated file would pass.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tailrace.errors import ExitCode, TailraceError

Texts = dict[str, bytes]
_character = 2
_type_bytes = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}


@dataclass
class _Variable:
    name: str
    texts: Texts
    dimensions: list[int]
    type_bytes: int
    begin: int


class _Header:
    """A cursor over the header; numbers are big endian, everything is padded to 4 bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, 2)
        file.seek(0)
        if file.read(3) != b"CDF":
            raise ValueError("no CDF at its beginning")
        self.version = file.read(1)[0]
        if self.version not in {1, 2, 5}:
            raise ValueError(f"unknown version {self.version}")

    def raw(self, count: int) -> bytes:
        # Asked before reading, which would first make room for any number that stands there.
        data = self._file.read(count) if count <= self._size else b""
        if len(data) != count:
            raise ValueError("it ends within its header")
        return data

    def word(self) -> int:
        return int(struct.unpack(">I", self.raw(4))[0])

    def count(self) -> int:
        return int(struct.unpack(">Q", self.raw(8))[0]) if self.version == 5 else self.word()

    def offset(self) -> int:
        return self.word() if self.version == 1 else int(struct.unpack(">Q", self.raw(8))[0])

    def padded(self, count: int) -> bytes:
        return self.raw(count + (-count) % 4)

    def entries(self, tag: int) -> int:
        found, count = self.word(), self.count()
        if found not in {0, tag} or (found == 0 and count != 0):
            raise ValueError("its header is not as the format wants it")
        return count

    def name(self) -> str:
        count = self.count()
        return self.padded(count)[:count].decode("utf-8", "surrogateescape")

    def text_attributes(self) -> Texts:
        """Those of characters, with every byte; others are passed over."""
        found = {}
        for _ in range(self.entries(0x0C)):
            name = self.name()
            kind = self.word()
            count = self.count()
            data = self.padded(count * _type_bytes[kind])
            if kind == _character:
                found[name] = data[:count]
        return found


def text_attributes(path: Path) -> dict[str, Texts]:
    """By variable; the file's own are under an empty name. The netCDF4 module drops zero bytes."""
    with path.open("rb") as file:
        header = _Header(file)
        header.count()
        for _ in range(header.entries(0x0A)):
            header.name()
            header.count()
        found = {"": header.text_attributes()}
        for _ in range(header.entries(0x0B)):
            variable = _variable(header)
            found[variable.name] = variable.texts
        return found


def required_bytes(file: BinaryIO) -> int:
    """Bytes up to the end of the last element."""
    header = _Header(file)
    records = header.count()
    streaming = records == (1 << 64) - 1 if header.version == 5 else records == (1 << 32) - 1
    extents = []
    for _ in range(header.entries(0x0A)):
        header.name()
        extents.append(header.count())
    header.text_attributes()
    variables = [_variable(header) for _ in range(header.entries(0x0B))]
    end = file.tell()
    record_variables = [v for v in variables if v.dimensions and extents[v.dimensions[0]] == 0]
    record_bytes = sum(_padded(_slab(v, extents, 1)) for v in record_variables)
    if len(record_variables) == 1:
        record_bytes = _slab(record_variables[0], extents, 1)  # the format's exception: no padding
    for variable in variables:
        if variable in record_variables:
            if records and not streaming:
                last = variable.begin + (records - 1) * record_bytes
                end = max(end, last + _slab(variable, extents, 1))
        else:
            end = max(end, variable.begin + _slab(variable, extents, 0))
    return end


def check_length(path: Path) -> None:
    """Raises where the file is shorter than its header says."""
    try:
        with path.open("rb") as file:
            needed = required_bytes(file)
    except (ValueError, KeyError, IndexError, struct.error) as error:
        raise _damaged(path, f"not readable as classic netCDF: {error}") from error
    size = path.stat().st_size
    if size < needed:
        what = f"truncated: its header asks for {needed} bytes, it has {size}"
        raise _damaged(path, what)


def _variable(header: _Header) -> _Variable:
    name = header.name()
    dimensions = [header.count() for _ in range(header.count())]
    texts = header.text_attributes()
    type_bytes = _type_bytes[header.word()]
    header.count()  # its size, which cannot be relied on above 4 GiB
    return _Variable(name, texts, dimensions, type_bytes, header.offset())


def _slab(variable: _Variable, extents: list[int], first: int) -> int:
    size = variable.type_bytes
    for dimension in variable.dimensions[first:]:
        size *= extents[dimension]
    return size


def _padded(size: int) -> int:
    return size + (-size) % 4


def _damaged(path: Path, what: str) -> TailraceError:
    return TailraceError(
        what,
        where=str(path),
        hint="the file is incomplete or damaged; write it again, or restore it from a copy",
        code=ExitCode.VERIFICATION_FAILED,
    )
