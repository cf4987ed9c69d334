# SPDX-License-Identifier: Apache-2.0
"""HDF5 datatypes, read through h5py's low level."""

from __future__ import annotations

from typing import Any

import numpy as np
from h5py import h5t

from tailrace.verify.types import (
    Array,
    Bitfield,
    Complex,
    Compound,
    Enum,
    Float,
    Integer,
    Opaque,
    Raw,
    Reference,
    Text,
    Type,
    Vlen,
)

_charsets = {h5t.CSET_ASCII: "ascii", h5t.CSET_UTF8: "utf-8"}
_paddings = {
    h5t.STR_NULLTERM: "null-terminated",
    h5t.STR_NULLPAD: "null-padded",
    h5t.STR_SPACEPAD: "space-padded",
}
# sign, exponent position and size, mantissa position and size
_ieee = {2: (15, 10, 5, 0, 10), 4: (31, 23, 8, 0, 23), 8: (63, 52, 11, 0, 52)}
_quad = (127, 112, 15, 0, 112)
_x87 = (79, 64, 15, 0, 64)


def type_of(tid: Any) -> Type:
    """The type behind an h5py TypeID."""
    kind = tid.get_class()
    size = tid.get_size()
    if kind == h5t.INTEGER:
        return Integer(size, tid.get_sign() != h5t.SGN_NONE, tid.get_precision())
    if kind == h5t.FLOAT:
        return Float(size, _float_layout(tid, size))
    if kind == h5t.STRING:
        length = None if tid.is_variable_str() else size
        return Text(length, _charsets[tid.get_cset()], _paddings[tid.get_strpad()])
    if kind == h5t.BITFIELD:
        bits = _bits_used(tid)
        return Bitfield(size, bits if bits < 8 * size else None)
    if kind == h5t.OPAQUE:
        return Opaque(size, tid.get_tag().decode("utf-8", "replace"))
    if kind == h5t.ENUM:
        return Enum(type_of(tid.get_super()), _enum_members(tid))
    if kind == h5t.COMPOUND:
        names = [tid.get_member_name(index) for index in range(tid.get_nmembers())]
        kinds = [type_of(tid.get_member_type(index)) for index in range(tid.get_nmembers())]
        return Compound(
            tuple((_text(name), member) for name, member in zip(names, kinds, strict=True))
        )
    if kind == h5t.ARRAY:
        return Array(type_of(tid.get_super()), tuple(int(n) for n in tid.get_array_dims()))
    if kind == h5t.VLEN:
        return Vlen(type_of(tid.get_super()))
    if kind == h5t.REFERENCE:
        if tid.equal(h5t.STD_REF_OBJ):
            return Reference("object")
        if tid.equal(h5t.STD_REF_DSETREG):
            return Reference("region")
        return Raw(size, "reference of the kind that HDF5 1.12 introduced", False)
    if kind == getattr(h5t, "COMPLEX", None):
        return Complex(type_of(tid.get_super()))
    if kind == h5t.TIME:
        return Raw(size, "time")
    return Raw(size, f"datatype of class {kind}")


def has_opaque(kind: Type | None) -> bool:
    """Whether a type of fixed size has opaque parts."""
    if kind is None or kind.variable:
        return False
    if isinstance(kind, Compound):
        return any(has_opaque(member) for _, member in kind.members)
    return isinstance(kind, Opaque) or (isinstance(kind, Array) and has_opaque(kind.base))


def has_padded_text(kind: Type | None) -> bool:
    """Whether there are fixed strings that HDF5's conversion would strip of more than it should,
    in a type that numpy has exactly."""
    return _holds_padded_text(kind) and _is_exact_in_numpy(kind)


def _holds_padded_text(kind: Type | None) -> bool:
    if isinstance(kind, Compound):
        return any(_holds_padded_text(member) for _, member in kind.members)
    if isinstance(kind, Array):
        return _holds_padded_text(kind.base)
    return isinstance(kind, Text) and kind.size is not None and kind.padding != "null-padded"


def _is_exact_in_numpy(kind: Type | None) -> bool:
    if isinstance(kind, Compound):
        return all(_is_exact_in_numpy(member) for _, member in kind.members)
    if isinstance(kind, Array | Enum):
        return _is_exact_in_numpy(kind.base)
    if isinstance(kind, Integer):
        return kind.bits == 8 * kind.size and kind.size in {1, 2, 4, 8}
    if isinstance(kind, Float):
        return kind.layout == "" and kind.size in {2, 4, 8}
    return isinstance(kind, Opaque) or (isinstance(kind, Text) and kind.size is not None)


def stored_type(tid: Any) -> np.dtype[Any]:
    """What numpy can say of elements as they are stored, where it has no equal of a whole type: the
    members that it knows, and bytes for the others (times, as PyTables has them)."""
    if tid.get_class() == h5t.COMPOUND:
        indices = range(tid.get_nmembers())
        return np.dtype({
            "names": [_text(tid.get_member_name(index)) for index in indices],
            "formats": [stored_type(tid.get_member_type(index)) for index in indices],
            "offsets": [tid.get_member_offset(index) for index in indices],
            "itemsize": tid.get_size(),
        })  # fmt: skip
    if tid.get_class() == h5t.ARRAY:
        return np.dtype((stored_type(tid.get_super()), tid.get_array_dims()))
    try:
        found = tid.dtype
    except TypeError:
        found = None
    exact = found is not None and found.kind != "O" and found.itemsize == tid.get_size()
    return found if exact else np.dtype(f"V{tid.get_size()}")


def comparable(kind: Type | None) -> bool:
    """Whether values of the type have a meaning that can be told here. Of variable length beside
    what numpy does not know they come as pointers."""
    if kind is not None and kind.variable and _holds_raw(kind):
        return False
    if isinstance(kind, Compound):
        return all(comparable(member) for _, member in kind.members)
    if isinstance(kind, Array | Vlen):
        return comparable(kind.base)
    return not isinstance(kind, Raw) or kind.comparable


def _holds_raw(kind: Type) -> bool:
    if isinstance(kind, Compound):
        return any(_holds_raw(member) for _, member in kind.members)
    if isinstance(kind, Array | Vlen):
        return _holds_raw(kind.base)
    return isinstance(kind, Raw)


def _float_layout(tid: Any, size: int) -> str:
    bias = tid.get_ebias()
    exponent_bits = tid.get_fields()[2]
    usual = (1 << exponent_bits) // 2 - 1
    name = _fields_name(tid, size)
    return name if bias == usual else f"{name} exponent bias {bias}".lstrip()


def _fields_name(tid: Any, size: int) -> str:
    fields = tuple(tid.get_fields())
    if fields == _ieee.get(size):
        return ""
    if size == 16 and fields == _quad:
        return "quadruple"
    if size in (12, 16) and fields[1:4:2] == _x87[1:4:2] and fields[4] == _x87[4]:
        return "x87 extended"
    return "bits " + "/".join(str(field) for field in fields)


def _bits_used(tid: Any) -> int:
    """The precision of a bitfield. h5py tells that of integers only; in the encoded type it follows
    a head of 2 bytes, class and flags (4), size (4) and bit offset (2)."""
    return int.from_bytes(tid.encode()[12:14], "little")


def _enum_members(tid: Any) -> tuple[tuple[str, int], ...]:
    members = [
        (_text(tid.get_member_name(index)), int(tid.get_member_value(index)))
        for index in range(tid.get_nmembers())
    ]
    return tuple(sorted(members, key=lambda member: (member[1], member[0])))


def _text(name: bytes | str) -> str:
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
