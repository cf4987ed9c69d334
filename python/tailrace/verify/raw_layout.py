# SPDX-License-Identifier: Apache-2.0
"""The raw container: its trailer, description and manifest (docs/reference/raw_container.md)."""

from __future__ import annotations

import itertools
import json
import math
import re
import struct
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.model import Shape
from tailrace.verify.types import Float, Integer, Type

magic = b"TAILRACE"
format_name = "tailrace-raw/1"
_trailer_bytes = 24
_greatest_description = 1 << 30
_greatest_extent = 1 << 63

scalar_types: dict[str, tuple[Type, str]] = {
    "i8": (Integer(1, True, 8), "<i1"),
    "u8": (Integer(1, False, 8), "<u1"),
    "i16": (Integer(2, True, 16), "<i2"),
    "u16": (Integer(2, False, 16), "<u2"),
    "i32": (Integer(4, True, 32), "<i4"),
    "u32": (Integer(4, False, 32), "<u4"),
    "i64": (Integer(8, True, 64), "<i8"),
    "u64": (Integer(8, False, 64), "<u8"),
    "f32": (Float(4), "<f4"),
    "f64": (Float(8), "<f8"),
}


@dataclass(frozen=True)
class Piece:
    """A box that lies packed and row-major in a file from byte `at` on."""

    file: Path
    at: int
    offset: Shape
    count: Shape


@dataclass(frozen=True)
class StoredObject:
    """Where the elements of an object lie: in one region of a shared file, or in pieces."""

    path: str
    type: Type
    dtype: np.dtype[Any]
    dims: Shape
    chunk: Shape | None = None
    file: Path | None = None
    offset: int = 0
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Description:
    """What a raw container says about itself."""

    kind: str
    objects: tuple[StoredObject, ...]
    attributes: tuple[dict[str, Any], ...]


def broken(path: Path, what: str) -> TailraceError:
    return TailraceError(
        f"not a complete raw container: {what}",
        where=str(path),
        hint="the file is incomplete or damaged; write it again, or restore it from a copy",
        code=ExitCode.VERIFICATION_FAILED,
    )


def has_trailer(path: Path) -> bool:
    """Whether the file ends like a raw container."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < _trailer_bytes:
            return False
        file.seek(size - len(magic))
        return file.read(len(magic)) == magic


def looks_like_manifest(path: Path) -> bool:
    """Whether the file is the manifest of a file per rank."""
    with path.open("rb") as file:
        head = file.read(4096)
    return head.lstrip()[:1] == b"{" and b"tailrace-raw/" in head


def read_shared(path: Path) -> Description:
    text = _described(path)
    if text.get("kind") != "shared":
        if text.get("kind") == "part":
            manifest = path.with_name(re.sub(r"\.\d{5,}(\.b)?$", "", path.name))
            raise TailraceError(
                "is one rank's part of a set", where=str(path), hint=f"name its manifest {manifest}"
            )
        raise broken(path, f"unknown kind {text.get('kind')!r}")
    data_bytes = _data_bytes(path)
    objects = []
    for entry in _list(path, text, "objects"):
        kind, dtype, dims = _typed(path, entry)
        chunk = _shape(path, entry["chunk"]) if entry.get("chunk") else None
        if chunk is not None and (len(chunk) != len(dims) or min(chunk, default=1) < 1):
            raise broken(path, f"chunk {list(chunk)} does not fit the extents {list(dims)}")
        stored = StoredObject(
            str(entry["path"]), kind, dtype, dims, chunk, path, int(entry.get("offset", -1))
        )
        if stored.offset < 0 or stored.offset + _extent_bytes(stored) > data_bytes:
            raise broken(path, f"object {stored.path} reaches beyond the data region")
        objects.append(stored)
    return Description("shared", tuple(objects), tuple(_list(path, text, "attributes")))


def read_manifest(path: Path) -> Description:
    try:
        text = json.loads(path.read_bytes())
    except (ValueError, UnicodeDecodeError) as error:
        raise broken(path, f"the manifest is not JSON ({error})") from error
    _check_format(path, text)
    if text.get("kind") != "per-rank":
        raise broken(path, f"unknown kind {text.get('kind')!r}")
    listed = _list(path, text, "objects")
    # Parts lie beside the manifest, not beside a link to it.
    pieces = _pieces(path.resolve(), _list(path, text, "parts"), len(listed))
    objects = []
    for index, entry in enumerate(listed):
        kind, dtype, dims = _typed(path, entry)
        own = tuple(piece for number, piece in pieces if number == index)
        for piece in own:
            _check_piece(piece, dims, dtype)
        twice = overlapping([piece for piece in own if math.prod(piece.count)])
        if twice:
            names = " and ".join(f"{piece.file.name} at {list(piece.offset)}" for piece in twice)
            raise broken(path, f"pieces of {entry['path']} overlap: {names}")
        objects.append(StoredObject(str(entry["path"]), kind, dtype, dims, pieces=own))
    return Description("per-rank", tuple(objects), tuple(_list(path, text, "attributes")))


def overlapping(pieces: list[Piece], axis: int = 0) -> tuple[Piece, Piece] | None:
    """Two pieces that have an element in common. Axis by axis: what differs there is apart."""
    if len(pieces) < 2:
        return None
    if axis == len(pieces[0].offset):
        return pieces[0], pieces[1]
    spans: dict[tuple[int, int], list[Piece]] = defaultdict(list)
    for piece in pieces:
        spans[piece.offset[axis], piece.offset[axis] + piece.count[axis]].append(piece)
    if any(low[1] > high[0] for low, high in itertools.pairwise(sorted(spans))):
        spans = _cut(spans)
    for group in spans.values():
        found = overlapping(group, axis + 1)
        if found:
            return found
    return None


def _cut(spans: dict[tuple[int, int], list[Piece]]) -> dict[tuple[int, int], list[Piece]]:
    """The same between any two neighbouring ends: those spans are equal or apart."""
    ends = sorted({end for span in spans for end in span})
    cut: dict[tuple[int, int], list[Piece]] = defaultdict(list)
    for (low, high), group in spans.items():
        first, last = bisect_left(ends, low), bisect_left(ends, high)
        for span in itertools.pairwise(ends[first : last + 1]):
            cut[span] += group
    return cut


def _pieces(manifest: Path, parts: list[Any], objects: int) -> list[tuple[int, Piece]]:
    found = []
    if len(set(map(str, parts))) != len(parts):
        raise broken(manifest, "it names a part twice")
    for rank, name in enumerate(parts):
        if not isinstance(name, str) or "/" in name:
            raise broken(manifest, f"a part is named {name!r}")
        part = manifest.parent / name
        if not part.is_file():
            raise broken(manifest, f"its part {part.name} is missing")
        text = _described(part)
        if text.get("kind") != "part":
            raise broken(part, f"kind {text.get('kind')!r} instead of 'part'")
        if text.get("rank") != rank:
            raise broken(part, f"it is of rank {text.get('rank')!r} instead of {rank}")
        for entry in _list(part, text, "pieces"):
            piece = Piece(
                part, int(entry["at"]), _shape(part, entry["offset"]), _shape(part, entry["count"])
            )
            number = int(entry["object"])
            if not 0 <= number < objects:
                raise broken(part, f"a piece of object {number}, which is not in {manifest.name}")
            found.append((number, piece))
    return found


def _check_piece(piece: Piece, dims: Shape, dtype: np.dtype[Any]) -> None:
    fits = len(piece.offset) == len(piece.count) == len(dims) and all(
        low >= 0 and low + count <= extent
        for low, count, extent in zip(piece.offset, piece.count, dims, strict=True)
    )
    end = piece.at + math.prod(piece.count) * dtype.itemsize
    if not fits or piece.at < 0 or end > _data_bytes(piece.file):
        raise broken(piece.file, f"a piece at {list(piece.offset)} lies outside")


def _described(path: Path) -> dict[str, Any]:
    """The JSON text that the trailer points to."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < _trailer_bytes:
            raise broken(path, "it is shorter than a trailer")
        file.seek(size - _trailer_bytes)
        trailer = file.read(_trailer_bytes)
        if trailer[16:] != magic:
            raise broken(path, "it does not end with the trailer TAILRACE")
        at, length = struct.unpack("<QQ", trailer[:16])
        if at + length + _trailer_bytes != size or length > _greatest_description:
            raise broken(path, "its trailer points outside the file")
        file.seek(at)
        try:
            text = json.loads(file.read(length))
        except (ValueError, UnicodeDecodeError) as error:
            raise broken(path, f"its description is not JSON ({error})") from error
    _check_format(path, text)
    return dict(text)


def _data_bytes(path: Path) -> int:
    with path.open("rb") as file:
        file.seek(-_trailer_bytes, 2)
        (at,) = struct.unpack("<Q", file.read(8))
    return int(at)


def _check_format(path: Path, text: Any) -> None:
    found = text.get("format") if isinstance(text, dict) else None
    if found != format_name:
        raise broken(path, f"its format is {found!r}, known is {format_name!r}")


def _list(path: Path, text: dict[str, Any], key: str) -> list[Any]:
    value = text.get(key, [])
    if not isinstance(value, list):
        raise broken(path, f"{key} is not a list")
    return value


def _shape(path: Path, value: Any) -> Shape:
    if not isinstance(value, list) or not all(
        isinstance(n, int) and 0 <= n < _greatest_extent for n in value
    ):
        raise broken(path, f"{value!r} is not a list of extents")
    return tuple(value)


def _typed(path: Path, entry: Any) -> tuple[Type, np.dtype[Any], Shape]:
    try:
        kind, code = scalar_types[entry["type"]]
        dims = _shape(path, entry["dims"])
        str(entry["path"])
    except (KeyError, TypeError) as error:
        raise broken(path, f"an object's description lacks or misnames {error}") from error
    return kind, np.dtype(code), dims


def _extent_bytes(stored: StoredObject) -> int:
    if stored.chunk is None:
        return math.prod(stored.dims) * stored.dtype.itemsize
    grid = [-(-extent // chunk) for extent, chunk in zip(stored.dims, stored.chunk, strict=True)]
    return math.prod(grid) * math.prod(stored.chunk) * stored.dtype.itemsize
