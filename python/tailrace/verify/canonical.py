# SPDX-License-Identifier: Apache-2.0
"""One canonical sequence of bytes per element: equal content, equal bytes.

Numbers are little endian; every NaN is the same NaN; zeros keep their sign; strings that zero bytes
end do so; compounds are packed; sequences carry their length; references are the path that they
point to.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from tailrace.verify.model import Values
from tailrace.verify.types import (
    Array,
    Complex,
    Compound,
    Enum,
    Float,
    Reference,
    Text,
    Type,
    Vlen,
)

ReferenceText = Callable[[Any, str], str]

# Rows of bytes, one per element; or a list of bytes where lengths differ.
Encoded = np.ndarray[Any, np.dtype[np.uint8]] | list[bytes]


def plain(kind: Type, values: Values) -> bool:
    """Whether elements are numbers that can be compared as they are."""
    return values.dtype.kind in "iufb" and not isinstance(kind, Array | Vlen)


def encode(values: Values, kind: Type, resolve: ReferenceText) -> Encoded:
    """The canonical bytes of each element of `values`, flattened in row-major order."""
    if kind.variable:
        return _encode_variable(values, kind, resolve)
    return _encode_fixed(values, kind)


def as_bytes(encoded: Encoded) -> bytes | np.ndarray[Any, np.dtype[np.uint8]]:
    """All elements one after another; those of varying length each behind its length."""
    if isinstance(encoded, list):
        return b"".join(struct.pack("<Q", len(item)) + item for item in encoded)
    return np.ascontiguousarray(encoded).reshape(-1)


def unequal(one: Encoded, other: Encoded) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Per element, whether the bytes differ."""
    if isinstance(one, list) or isinstance(other, list):
        pairs = zip(_as_list(one), _as_list(other), strict=True)
        return np.fromiter((a != b for a, b in pairs), np.bool_, len(one))
    if one.shape != other.shape:
        return np.ones(len(one), np.bool_)
    return (one != other).any(axis=1)


def numbers(values: Values) -> Values:
    """Plain numbers, little endian and packed, with every NaN the same."""
    little = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False))
    if little.dtype.kind != "f":
        return little
    nan = np.isnan(little)
    if nan.any():
        little = np.where(nan, little.dtype.type("nan"), little)
    return little


def _rows(values: Values, elements: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    contiguous = np.ascontiguousarray(values)
    if contiguous.nbytes == 0:
        return np.zeros((elements, 0), np.uint8)
    return contiguous.reshape(-1).view(np.uint8).reshape(elements, -1)


def _encode_fixed(values: Values, kind: Type) -> np.ndarray[Any, np.dtype[np.uint8]]:
    if isinstance(kind, Array):
        elements = values.size // max(1, int(np.prod(kind.shape)))
        inner = _encode_fixed(values.reshape(-1), kind.base)
        return inner.reshape(elements, -1)
    elements = values.size
    if isinstance(kind, Compound):
        if values.dtype.kind == "c":  # a compound of r and i, which h5py takes for a complex number
            return _encode_complex(values)
        if not kind.members:
            return np.zeros((elements, 0), np.uint8)
        flat = values.reshape(-1)
        names = values.dtype.names or ()
        parts = [
            _encode_fixed(flat[name], member)
            for name, (_, member) in zip(names, kind.members, strict=True)
        ]
        return np.concatenate(parts, axis=1)
    if isinstance(kind, Complex) or values.dtype.kind == "c":
        return _encode_complex(values)
    if isinstance(kind, Text):
        return _rows(unpadded(values, kind), elements)
    if isinstance(kind, Float) and values.dtype.kind == "f":
        return _encode_float(values)
    if isinstance(kind, Enum) and values.dtype.kind == "b":
        return _rows(values.view(np.uint8), elements)
    if values.dtype.kind in "iu":
        return _rows(numbers(values), elements)
    return _rows(values, elements)


def _encode_float(values: Values) -> np.ndarray[Any, np.dtype[np.uint8]]:
    rows = _rows(numbers(values), values.size)
    if values.dtype == np.longdouble and values.dtype.itemsize in (12, 16):
        rows = rows.copy()
        rows[:, 10:] = 0  # padding of the x87 format
    return rows


def _encode_complex(values: Values) -> np.ndarray[Any, np.dtype[np.uint8]]:
    flat = values.reshape(-1)
    pair = np.stack([flat.real, flat.imag], axis=-1)
    return _encode_float(pair).reshape(values.size, -1)


def unpadded(values: Values, kind: Text) -> Values:
    """Fixed strings, as they are stored, with the same bytes wherever they say the same."""
    if values.size == 0 or kind.whole or kind.padding != "null-terminated":
        return values  # of equal size: padded to the same length with the same
    ended = np.logical_or.accumulate(_rows(values, values.size) == 0, axis=1)
    rows = np.where(ended, 0, _rows(values, values.size)).astype(np.uint8)
    return rows.view(values.dtype).reshape(values.shape)


def _encode_variable(values: Values, kind: Type, resolve: ReferenceText) -> list[bytes]:
    if isinstance(kind, Compound):
        flat = values.reshape(-1)
        names = values.dtype.names or ()
        columns = [
            _as_list(encode(flat[name], member, resolve))
            for name, (_, member) in zip(names, kind.members, strict=True)
        ]
        sized = [member.variable for _, member in kind.members]
        return [
            b"".join(_framed(part) if vary else part for part, vary in zip(row, sized, strict=True))
            for row in zip(*columns, strict=True)
        ]
    if isinstance(kind, Array):
        count = max(1, int(np.prod(kind.shape)))
        inner = _encode_variable(values.reshape(-1), kind.base, resolve)
        return [
            b"".join(_framed(part) for part in inner[start : start + count])
            for start in range(0, len(inner), count)
        ]
    return [_encode_one(value, kind, resolve) for value in values.reshape(-1)]


def _encode_one(value: Any, kind: Type, resolve: ReferenceText) -> bytes:
    if isinstance(kind, Text):
        return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
    if isinstance(kind, Reference):
        return resolve(value, kind.to).encode("utf-8", "surrogateescape")
    if isinstance(kind, Vlen):
        items = np.asarray(value) if value is not None else np.zeros(0)
        if items.size == 0:
            return struct.pack("<Q", 0)
        inner = encode(items, kind.base, resolve)
        body = as_bytes(inner)
        return struct.pack("<Q", len(inner)) + bytes(body)
    raise TypeError(f"no canonical form for {kind.describe()}")


def _framed(part: bytes) -> bytes:
    return struct.pack("<Q", len(part)) + part


def _as_list(encoded: Encoded) -> list[bytes]:
    if isinstance(encoded, list):
        return encoded
    return [row.tobytes() for row in encoded]
