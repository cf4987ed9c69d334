# SPDX-License-Identifier: Apache-2.0
"""Content that is easily passed over: behind references, behind zero bytes, in padding, in links
that one format lacks, under names that dimension scales use."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import seism_files
from h5py import h5a, h5d, h5s, h5t

from tailrace.errors import TailraceError
from tailrace.verify.compare import CompareOptions, compare_files
from tailrace.verify.hashing import hash_file

Change = Callable[[Any], None]


def found(one: Path, other: Path, *ignore: str) -> list[tuple[str, str]]:
    """Where the two differ, and how; both ways round."""
    options = CompareOptions(ignore=ignore)
    there = [(item.where, item.kind) for item in compare_files(one, other, options).first]
    back = [(item.where, item.kind) for item in compare_files(other, one, options).first]
    assert there == back
    return there


# --- behind references --------------------------------------------------------------------------


def write_unlinked(path: Path, change: Change = lambda _group: None, **layout: Any) -> None:
    """A group that holds itself, and so outlives its only name; references lead into it."""
    with h5py.File(path, "w") as file:
        group = file.create_group("hidden")
        group["itself"] = group
        group.create_dataset("data", data=np.arange(12.0), **layout)
        group["data"].attrs["units"] = "m"
        group["inner/text"] = "deep"
        group["inner/soft"] = h5py.SoftLink("/a")
        group["named"] = file.create_group("shown")
        file.create_dataset("refs", (2,), h5py.ref_dtype)
        ring = group.create_dataset("ring", (2,), h5py.ref_dtype)
        ring[0], ring[1] = ring.ref, group["data"].ref
        change(group)
        file["refs"][0] = group.ref
        file["refs"][1] = group["ring"].ref
        file.attrs["points_to"] = group["data"].ref
        file.create_dataset("regions", (1,), h5py.regionref_dtype)
        file["regions"][0] = group["data"].regionref[2:5]
        del file["hidden"]


def new_value(group: Any) -> None:
    group["data"][7] = -1


def new_type(group: Any) -> None:
    del group["data"]
    group["data"] = np.arange(12, dtype="f4")
    group["data"].attrs["units"] = "m"
    group["ring"][1] = group["data"].ref


def new_units(group: Any) -> None:
    group["data"].attrs["units"] = "km"


def new_text(group: Any) -> None:
    group["inner/text"][()] = "deeper"


def new_link(group: Any) -> None:
    del group["inner/soft"]
    group["inner/soft"] = h5py.SoftLink("/b")


def another_named(group: Any) -> None:
    del group["named"]
    group["named"] = group.file["refs"]


def new_member(group: Any) -> None:
    group["more"] = 1


ALL_OF_DATA = {"/refs[0]", "/refs[1]", "/regions[0]", "/@points_to"}
BEHIND = {
    "value": (new_value, ALL_OF_DATA),
    "type": (new_type, ALL_OF_DATA),
    "attribute": (new_units, ALL_OF_DATA),
    "text of a member of a member": (new_text, {"/refs[0]"}),
    "soft link": (new_link, {"/refs[0]"}),
    "hard link to what has a name": (another_named, {"/refs[0]"}),
    "member": (new_member, {"/refs[0]"}),
}


@pytest.mark.parametrize("name", BEHIND)
def test_what_only_references_reach_is_compared(name: str, tmp_path: Path) -> None:
    change, where = BEHIND[name]
    write_unlinked(tmp_path / "a")
    write_unlinked(tmp_path / "b", chunks=(5,), compression=4)
    write_unlinked(tmp_path / "c", change)
    with h5py.File(tmp_path / "a") as file:
        assert "hidden" not in file and file[file["refs"][0]]["data"][3] == 3
    assert found(tmp_path / "a", tmp_path / "b") == []
    assert {item[0] for item in found(tmp_path / "a", tmp_path / "c")} == where
    hashes = [hash_file(tmp_path / name).whole for name in "abc"]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_long_chain_without_names_is_said_to_be_too_long(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a", "w") as file:
        group = file.create_group("hidden")
        group["itself"] = group
        last = None
        for number in range(80):
            link = group.create_dataset(f"{number}", (1,), h5py.ref_dtype)
            if last is not None:
                link[0] = last.ref
            last = link
        file.create_dataset("refs", (1,), h5py.ref_dtype)
        file["refs"][0] = last.ref
        del file["hidden"]
    with pytest.raises(TailraceError, match="deep"):
        compare_files(tmp_path / "a", tmp_path / "a")


# --- zero bytes in texts ------------------------------------------------------------------------


def write_text(path: Path, text: bytes, model: str) -> None:
    with netCDF4.Dataset(path, "w", format=model) as file:
        file.createDimension("x", 2)
        variable = file.createVariable("v", "f4", ("x",))
        variable[:] = 0
        variable.setncattr("note", text.decode())
    assert text in path.read_bytes()


CLASSIC = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")
TEXTS = [(b"####ab\0cd", b"####ab\0ce"), (b"####a\0bc", b"####ab\0c")]


@pytest.mark.parametrize("model", [*CLASSIC, "NETCDF4"])
@pytest.mark.parametrize(("one", "other"), TEXTS)
def test_a_zero_byte_does_not_end_a_text_of_netcdf(
    model: str, one: bytes, other: bytes, tmp_path: Path
) -> None:
    write_text(tmp_path / "a", one, model)
    write_text(tmp_path / "b", other, model)
    write_text(tmp_path / "c", one, "NETCDF3_64BIT_DATA")
    assert found(tmp_path / "a", tmp_path / "a") == []
    assert found(tmp_path / "a", tmp_path / "b") == [("/v@note", "value")]
    assert hash_file(tmp_path / "a").whole != hash_file(tmp_path / "b").whole
    assert found(tmp_path / "a", tmp_path / "c") == []
    assert found(tmp_path / "b", tmp_path / "c") == [("/v@note", "value")]


def test_the_empty_text_is_no_zero_byte(tmp_path: Path) -> None:
    for name, model in (("a", CLASSIC[2]), ("c", "NETCDF4")):
        with netCDF4.Dataset(tmp_path / name, "w", format=model) as file:
            file.note = "\0"
    assert found(tmp_path / "a", tmp_path / "c") == []
    raw = (tmp_path / "a").read_bytes()
    count = raw.index(b"note") + 8  # behind the type: how many bytes, and they
    assert raw[count : count + 12] == struct.pack(">Q", 1) + bytes(4)
    (tmp_path / "b").write_bytes(raw[:count] + bytes(8) + raw[count + 12 :])
    with netCDF4.Dataset(tmp_path / "b") as file:
        assert file.note == ""
    assert found(tmp_path / "a", tmp_path / "b") == [("/@note", "extents")]
    assert hash_file(tmp_path / "a").whole != hash_file(tmp_path / "b").whole


# --- padding ------------------------------------------------------------------------------------


def write_fixed(path: Path, rows: list[bytes], padding: int, size: int = 6) -> None:
    """Fixed strings as they are to be stored; in a dataset, in a compound, in an attribute."""
    kind = h5t.C_S1.copy()
    kind.set_size(size)
    kind.set_strpad(padding)
    pair = h5t.create(h5t.COMPOUND, size + 4)
    pair.insert(b"s", 0, kind)
    pair.insert(b"n", size, h5t.STD_I32LE)
    space = h5s.create_simple((len(rows),))
    texts = np.array(rows, f"V{size}")
    pairs = np.zeros(len(rows), [("s", f"V{size}"), ("n", "<i4")])
    pairs["s"] = texts
    with h5py.File(path, "w") as file:
        for name, of, values in (
            (b"text", kind, texts),
            (b"pairs", pair, pairs.view(f"V{size + 4}")),
        ):
            h5d.create(file.id, name, of, space).write(h5s.ALL, h5s.ALL, values, mtype=of)
        h5py.h5a.create(file.id, b"note", kind, space).write(texts, mtype=kind)


def padded(texts: list[bytes], fill: bytes, size: int = 6) -> list[bytes]:
    return [text.ljust(size, fill) for text in texts]


PADDED = {
    "behind the end": (h5t.STR_NULLTERM, [b"ab\0xyz", b"c\0\0\0"], [b"ab\0uvw", b"c\0\0q"], False),
    "before the end": (h5t.STR_NULLTERM, [b"ab\0xyz"], [b"ac\0xyz"], True),
    "inner zero, null-padded": (h5t.STR_NULLPAD, [b"a\0b\0\0\0"], [b"a\0c\0\0\0"], True),
    "inner zero, space-padded": (h5t.STR_SPACEPAD, [b"a\0b   "], [b"a\0c   "], True),
    "zero before spaces": (h5t.STR_SPACEPAD, [b"ab\0   "], [b"ab    "], True),
    "zeros for spaces": (h5t.STR_SPACEPAD, [b"ab\0\0\0\0"], [b"ab    "], True),
    "leading space": (h5t.STR_SPACEPAD, [b" ab   "], [b"ab    "], True),
}  # fmt: skip


@pytest.mark.parametrize("name", PADDED)
def test_what_padding_is_and_what_is_not(name: str, tmp_path: Path) -> None:
    padding, one, other, differ = PADDED[name]
    write_fixed(tmp_path / "a", one, padding)
    write_fixed(tmp_path / "b", other, padding)
    where = {item[0] for item in found(tmp_path / "a", tmp_path / "b")}
    assert where == ({"/text[0]", "/pairs[0]", "/@note"} if differ else set())
    hashes = [hash_file(tmp_path / name).whole for name in "ab"]
    assert (hashes[0] != hashes[1]) is differ


def test_the_way_of_padding_is_a_part_of_the_type(tmp_path: Path) -> None:
    write_fixed(tmp_path / "a", padded([b"ab", b""], b"\0"), h5t.STR_NULLPAD)
    write_fixed(tmp_path / "b", padded([b"ab", b""], b" "), h5t.STR_SPACEPAD)
    assert {kind for _, kind in found(tmp_path / "a", tmp_path / "b")} == {"type"}


@pytest.mark.parametrize("fill", [b" ", b"\0"])
@pytest.mark.parametrize("padding", [h5t.STR_NULLPAD, h5t.STR_SPACEPAD])
def test_padding_becomes_characters_to_netcdf(fill: bytes, padding: int, tmp_path: Path) -> None:
    """Characters of a classic file have no padding: those that are stored are compared."""
    texts = padded([b"ab", b"cde"], fill)
    write_fixed(tmp_path / "a", texts, padding)
    with netCDF4.Dataset(tmp_path / "b", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("n", 2)
        file.createDimension("length", 6)
        variable = file.createVariable("text", "S1", ("n", "length"))
        variable[:] = np.array([list(struct.unpack("6c", text)) for text in texts], "S1")
    assert found(tmp_path / "a", tmp_path / "b", "pairs", "@note") == []
    with netCDF4.Dataset(tmp_path / "b", "r+") as file:
        file["text"][1, 4] = b"\0" if fill == b" " else b" "
    where = found(tmp_path / "a", tmp_path / "b", "pairs", "@note")
    assert where == [("/text[1,4]", "value")]


# --- links and attributes that one family lacks -------------------------------------------------


@pytest.fixture
def raw_and_hdf5(tmp_path: Path) -> tuple[Path, Path]:
    case = seism_files.Case(steps=2)
    seism_files.write_raw(tmp_path / "a", case, seism_files.data(case))
    seism_files.write_hdf5(tmp_path / "b", case, seism_files.data(case))
    return tmp_path / "a", tmp_path / "b"


MORE = {
    "soft": h5py.SoftLink("/chunked"),
    "external": h5py.ExternalLink("other.h5", "/x"),
    "dangling": h5py.SoftLink("/nowhere"),
}


@pytest.mark.parametrize("name", [*MORE, "hard", "group"])
def test_a_link_that_a_raw_file_cannot_have_is_more(
    name: str, raw_and_hdf5: tuple[Path, Path]
) -> None:
    raw, hdf5 = raw_and_hdf5
    before = found(raw, hdf5)
    with h5py.File(hdf5, "r+") as file:
        if name == "group":
            file.create_group(name)
        else:
            file[name] = MORE.get(name) or file["chunked"]
    assert sorted(found(raw, hdf5)) == sorted([*before, (f"/{name}", "only")])


def write_scales(path: Path, change: Change = lambda _file: None) -> None:
    """A plain HDF5 file with two scales, named as their paths are."""
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(3.0)
        file["y"] = np.arange(2.0)
        file["data"] = np.zeros((2, 3))
        for axis, name in enumerate("yx"):
            file[name].make_scale(name)
            file["data"].dims[axis].attach_scale(file[name])
            file["data"].dims[axis].label = name
        change(file)


def write_same_classic(path: Path) -> None:
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        for name, extent in (("y", 2), ("x", 3)):
            file.createDimension(name, extent)
            file.createVariable(name, "f8", (name,))[:] = np.arange(extent)
        file.createVariable("data", "f8", ("y", "x"))[:] = 0


def attribute(path: str, name: str, value: Any) -> Change:
    def change(file: Any) -> None:
        file[path].attrs[name] = value

    return change


SCALES = {
    "label of a scale": (attribute("x", "NAME", "distance from the wall"), "/x@NAME"),
    "NAME of no scale": (attribute("data", "NAME", "pressure"), "/data@NAME"),
    "CLASS of no scale": (attribute("data", "CLASS", "IMAGE"), "/data@CLASS"),
    "NAME of the root": (attribute("/", "NAME", "run 7"), "/@NAME"),
    "a list of no references": (attribute("x", "REFERENCE_LIST", [1, 2]), "/x@REFERENCE_LIST"),
    "no list of scales": (attribute("x", "DIMENSION_LIST", [1, 2]), "/x@DIMENSION_LIST"),
    "labels of axes": (
        attribute("data", "DIMENSION_LABELS", ["height", "x"]), "/data@DIMENSION_LABELS",
    ),
    "an id that is none": (attribute("data", "_Netcdf4Dimid", "seven"), "/data@_Netcdf4Dimid"),
    "properties of a dataset": (attribute("data", "_NCProperties", "x"), "/data@_NCProperties"),
}  # fmt: skip


def test_bookkeeping_of_scales_is_not_content(tmp_path: Path) -> None:
    write_scales(tmp_path / "a")
    write_same_classic(tmp_path / "b")
    assert found(tmp_path / "a", tmp_path / "b") == []


@pytest.mark.parametrize("name", SCALES)
def test_a_name_alone_makes_no_bookkeeping(name: str, tmp_path: Path) -> None:
    change, where = SCALES[name]
    write_scales(tmp_path / "a", change)
    write_same_classic(tmp_path / "b")
    assert (where, "only") in found(tmp_path / "a", tmp_path / "b")


def test_a_classic_file_may_have_such_names_too(tmp_path: Path) -> None:
    write_scales(tmp_path / "a")
    write_same_classic(tmp_path / "b")
    with netCDF4.Dataset(tmp_path / "b", "r+") as file:
        file["data"].setncattr("CLASS", "IMAGE")
    assert found(tmp_path / "a", tmp_path / "b") == [("/data@CLASS", "only")]


# --- beside what numpy does not know -------------------------------------------------------------


def write_times(path: Path, byte: int = 0, number: int = 5, padding: int = 0) -> None:
    """Times, as PyTables has them, which numpy has no equal of: in a compound with a gap, in arrays
    of it, and in an attribute."""
    kind = h5t.create(h5t.COMPOUND, 24)
    kind.insert(b"number", 3, h5t.STD_I32BE)
    kind.insert(b"time", 8, h5t.UNIX_D64LE)
    one = bytearray(24)
    one[1], one[6], one[12] = padding, number, byte
    with h5py.File(path, "w") as file:
        pair = h5t.array_create(kind, (2,))
        for name, each, times in (("rows", kind, 3), ("pairs", pair, 6)):
            data = h5d.create(file.id, name.encode(), each, h5s.create_simple((3,)))
            stored = np.frombuffer(bytes(one) * times, f"V{each.get_size()}")
            data.write(h5s.ALL, h5s.ALL, stored, mtype=each)
        attribute = h5a.create(file.id, b"since", kind, h5s.create_simple((1,)))
        attribute.write(np.frombuffer(bytes(one), "V24"), mtype=kind)


def test_times_within_elements_of_variable_length_are_refused(tmp_path: Path) -> None:
    """They come as pointers, which differ without saying anything."""
    path = tmp_path / "lists.h5"
    with h5py.File(path, "w") as file:
        kind = h5t.vlen_create(h5t.UNIX_D64LE)
        h5d.create(file.id, b"lists", kind, h5s.create_simple((3,)))
    with pytest.raises(TailraceError, match="lists cannot be compared"):
        compare_files(path, path)


@pytest.mark.parametrize("other", [{"byte": 1}, {"number": 6}], ids=["time", "number"])
def test_what_lies_beside_a_time_is_compared_and_so_is_the_time(
    tmp_path: Path, other: dict[str, int]
) -> None:
    one, again, changed = (tmp_path / name for name in ("one.h5", "again.h5", "changed.h5"))
    write_times(one)
    write_times(again, padding=7)
    write_times(changed, **other)
    assert found(one, again) == []
    assert {where for where, _ in found(one, changed)} == {"/@since", "/rows[0]", "/pairs[0]"} | {
        f"/{name}[{at}]" for name in ("rows", "pairs") for at in (1, 2)
    }
