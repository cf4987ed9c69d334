# SPDX-License-Identifier: Apache-2.0
"""Integers and bitfields that use some of their bits only: how many is their meaning, where they
lie and what the others hold is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5a, h5d, h5s, h5t

from tailrace.errors import TailraceError
from tailrace.verify.compare import compare_files
from tailrace.verify.hashing import hash_file

VALUES = [0x123, 0xFFF, 0, 5]
BASES = {
    "integer": {"<": h5t.STD_U16LE, ">": h5t.STD_U16BE},
    "bitfield": {"<": h5t.STD_B16LE, ">": h5t.STD_B16BE},
}


def type_of_bits(base: Any, offset: int, bits: int) -> Any:
    """h5py sets neither on a bitfield; they are the last four bytes of the encoded type."""
    words = offset.to_bytes(2, "little") + bits.to_bytes(2, "little")
    return h5t.decode(base.encode()[:10] + words)


def stored(order: str, offset: int, unused: int, values: list[int]) -> Any:
    numbers = np.array(values, f"{order}u2") << np.uint16(offset)
    return (numbers | np.uint16(unused)).astype(f"{order}u2").view("V2")


def write(
    path: Path,
    kind: str,
    order: str = "<",
    offset: int = 0,
    bits: int = 12,
    unused: int = 0,
    values: list[int] = VALUES,
) -> Path:
    """The same numbers in a dataset, a scalar one, and an attribute."""
    with h5py.File(path, "w") as file:
        tid = type_of_bits(BASES[kind][order], offset, bits)
        raw = stored(order, offset, unused, values)
        many, one = h5s.create_simple((len(values),)), h5s.create(h5s.SCALAR)
        for name, space, data in ((b"many", many, raw), (b"one", one, raw[-1:].reshape(()))):
            dataset = h5d.create(file.id, name, tid, space)
            dataset.write(h5s.ALL, h5s.ALL, data, mtype=tid)
        h5a.create(file.id, b"list", tid, many).write(raw, mtype=tid)
    return path


def differences(one: Path, other: Path) -> list[tuple[str, str]]:
    there = [(item.where, item.kind) for item in compare_files(one, other).first]
    assert there == [(item.where, item.kind) for item in compare_files(other, one).first]
    same_hash = hash_file(one).whole == hash_file(other).whole
    assert same_hash == (there == [])
    return there


@pytest.mark.parametrize("kind", BASES)
@pytest.mark.parametrize(
    "layout",
    [{"order": ">"}, {"offset": 4}, {"offset": 3, "order": ">"}, {"unused": 0xF000},
     {"offset": 4, "unused": 0xF}],
    ids=str,
)  # fmt: skip
def test_where_the_bits_lie_does_not_matter(
    tmp_path: Path, kind: str, layout: dict[str, Any]
) -> None:
    plain = write(tmp_path / "a.h5", kind)
    assert differences(plain, write(tmp_path / "b.h5", kind, **layout)) == []


@pytest.mark.parametrize("kind", BASES)
@pytest.mark.parametrize("bits", [11, 13, 16])
def test_how_many_bits_are_used_matters(tmp_path: Path, kind: str, bits: int) -> None:
    values = [1, 2, 3]
    one = write(tmp_path / "a.h5", kind, values=values)
    other = write(tmp_path / "b.h5", kind, bits=bits, values=values)
    assert differences(one, other) == [("/@list", "type"), ("/many", "type"), ("/one", "type")]
    texts = {item.one for item in compare_files(one, other).first}
    assert len(texts) == 1 and texts.pop().endswith("16 (12 bits used)")


@pytest.mark.parametrize("kind", BASES)
@pytest.mark.parametrize("offset", [0, 4])
def test_one_bit_of_a_value_matters(tmp_path: Path, kind: str, offset: int) -> None:
    one = write(tmp_path / "a.h5", kind, offset=offset)
    other = write(tmp_path / "b.h5", kind, values=[*VALUES[:3], 4])
    wanted = [("/@list", "value"), ("/many[3]", "value"), ("/one[]", "value")]
    assert differences(one, other) == wanted


def test_unused_bits_within_a_compound_are_named(tmp_path: Path) -> None:
    """HDF5 has no conversion for them here."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        tid = h5t.create(h5t.COMPOUND, 2)
        tid.insert(b"flags", 0, type_of_bits(h5t.STD_B16LE, 0, 12))
        h5d.create(file.id, b"rows", tid, h5s.create_simple((2,)))
    with pytest.raises(TailraceError, match="dataset /rows") as caught:
        compare_files(tmp_path / "a.h5", tmp_path / "a.h5")
    assert caught.value.code == 3
