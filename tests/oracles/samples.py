# SPDX-License-Identifier: Apache-2.0
"""Files with everything that HDF5 and netCDF can hold, in any layout; nothing of ours is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
from h5py import h5d, h5s, h5t

EMPTY = np.zeros(0)


def numbers(dtype: str, count: int = 24) -> Any:
    return np.arange(count).astype(dtype)


def write_types(path: Path, *, chunked: bool = False, big_endian: bool = False) -> None:
    """One dataset per class of datatype, links of every kind, committed types, attributes."""
    order = ">" if big_endian else "<"
    layout: dict[str, Any] = {"chunks": (3,), "compression": 4} if chunked else {}
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"):
            file.create_dataset(f"numbers/{name}", data=numbers(name), dtype=order + name, **layout)
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-310], "f8")
        file.create_dataset("numbers/special", data=special, dtype=f"{order}f8", **layout)
        file["numbers/scalar"] = np.float32(1.5)
        file["numbers/empty"] = h5py.Empty("f4")
        file["numbers/none"] = np.zeros((0, 3), "i4")
        file["numbers/long_double"] = np.array([1.25, np.nan], np.longdouble)
        file["complex"] = np.array([1 + 2j, complex(np.nan, 0)], "c16")
        _texts(file, layout)
        _special_types(file)
        _compounds(file, order, layout)
        _variable(file, layout)
        _links(file)
        _references(file)
        file["committed"] = np.dtype([("t", "<f8")])
        file.create_dataset("of_committed", (2,), dtype=file["committed"])
        _attributes(file)


def _texts(file: Any, layout: dict[str, Any]) -> None:
    file.create_dataset("text/fixed", data=np.array([b"abc", b"de", b""], "S5"), **layout)
    wide = h5py.string_dtype("utf-8", 8)
    file.create_dataset("text/utf8", data=np.array(["ä".encode(), b"x"], wide))
    file.create_dataset("text/variable", data=["one", "two ä", ""], dtype=h5py.string_dtype())
    for name, padding in (("null", h5t.STR_NULLTERM), ("space", h5t.STR_SPACEPAD)):
        kind = h5t.C_S1.copy()
        kind.set_size(6)
        kind.set_strpad(padding)
        space = h5s.create_simple((2,))
        stored = h5d.create(file.id, f"text/{name}".encode(), kind, space)
        fill = b"\0" if name == "null" else b" "
        rows = np.array([b"ab".ljust(6, fill), b"c".ljust(6, fill)], "V6")
        stored.write(h5s.ALL, h5s.ALL, rows, mtype=kind)


def _special_types(file: Any) -> None:
    file["enum"] = np.array([0, 2], h5py.enum_dtype({"RED": 0, "BLUE": 2}, "i2"))
    file["bool"] = np.array([True, False])
    opaque = h5t.create(h5t.OPAQUE, 7)
    opaque.set_tag(b"a tag")
    space = h5s.create_simple((2,))
    stored = h5d.create(file.id, b"opaque", opaque, space)
    stored.write(h5s.ALL, h5s.ALL, np.array([b"1234567", b"\0\1\2\3\4\5\6"], "V7"), mtype=opaque)
    bits = h5d.create(file.id, b"bitfield", h5t.STD_B16LE, space)
    bits.write(h5s.ALL, h5s.ALL, np.array([5, 0x8001], "u2"), mtype=h5t.STD_B16LE)
    moment = h5d.create(file.id, b"moment", h5t.UNIX_D32LE, space)
    moment.write(h5s.ALL, h5s.ALL, np.array([b"1234", b"5678"], "V4"), mtype=h5t.UNIX_D32LE)
    array = np.zeros(3, np.dtype(("f4", (2, 2))))
    file.create_dataset("array", (3,), dtype=np.dtype(("f4", (2, 2))))
    file["array"][...] = np.arange(12, dtype="f4").reshape(*array.shape)


def _compounds(file: Any, order: str, layout: dict[str, Any]) -> None:
    inner = np.dtype([("x", f"{order}f4"), ("flag", "?")], align=order == ">")
    outer = np.dtype(
        [("id", f"{order}u2"), ("inner", inner), ("v", f"{order}f8", (3,)), ("s", "S4")],
        align=order == ">",
    )
    rows = np.zeros(6, outer)
    rows["id"] = np.arange(6)
    rows["inner"]["x"] = [0, np.nan, 1, 2, 3, 4]
    rows["v"] = np.arange(18).reshape(6, 3)
    rows["s"] = [b"a", b"bb", b"", b"dddd", b"e", b"f"]
    file.create_dataset("compound", data=rows, **layout)


def _variable(file: Any, layout: dict[str, Any]) -> None:
    text = h5py.string_dtype()
    kind = [("name", text), ("track", h5py.vlen_dtype(np.float32))]
    rows = file.create_dataset("rows", (2,), dtype=kind, **({"chunks": (1,)} if layout else {}))
    rows[0] = ("first", np.array([1, np.nan], "f4"))
    rows[1] = ("", np.zeros(0, "f4"))
    ragged = file.create_dataset("ragged", (3,), dtype=h5py.vlen_dtype(np.int32))
    ragged[0], ragged[2] = np.array([1, 2, 3], "i4"), np.array([4], "i4")
    inner = h5py.vlen_dtype(np.int32)
    deep = file.create_dataset("deep", (1,), dtype=h5py.vlen_dtype(inner))
    lists = np.empty(2, object)
    lists[0], lists[1] = np.array([1], "i4"), np.array([2, 3], "i4")
    deep[0] = lists


def _links(file: Any) -> None:
    file["links/soft"] = h5py.SoftLink("/numbers/i4")
    file["links/dangling"] = h5py.SoftLink("/nowhere")
    file["links/external"] = h5py.ExternalLink("other.h5", "/x")
    file["numbers/same"] = file["numbers/i4"]
    file["links/cycle/up"] = file["links"]
    file["links/cycle/root"] = file["/"]


def _references(file: Any) -> None:
    objects = file.create_dataset("objects", (3,), dtype=h5py.ref_dtype)
    objects[0], objects[1] = file["numbers/i4"].ref, file["links"].ref
    regions = file.create_dataset("regions", (2,), dtype=h5py.regionref_dtype)
    regions[0] = file["numbers/f8"].regionref[2:7]
    file["scale"] = np.arange(4.0)
    file["scale"].make_scale("distance")
    file["along"] = np.zeros((4, 2))
    file["along"].dims[0].attach_scale(file["scale"])
    file["also"] = np.zeros(4)
    file["also"].dims[0].attach_scale(file["scale"])


def _attributes(file: Any) -> None:
    attributes = file["numbers/f8"].attrs
    attributes["units"] = "m"
    attributes["fixed"] = np.bytes_(b"text")
    attributes["list"] = np.array([1.0, np.nan])
    attributes["words"] = ["a", "bc"]
    attributes["nothing"] = h5py.Empty("i4")
    attributes["points_to"] = file["compound"].ref
    attributes["grid"] = np.arange(6, dtype="i2").reshape(2, 3)
    row = np.zeros((), [("a", "i4"), ("s", h5py.string_dtype())])
    row["a"], row["s"] = 7, "seven"
    attributes["row"] = row
    file.attrs["title"] = "everything"


def write_grid(path: Path, model: str = "NETCDF4", **layout: Any) -> None:
    """A climate-like file: dimensions (one unlimited), coordinates, characters, attributes."""
    with netCDF4.Dataset(path, "w", format=model) as file:
        file.createDimension("time", None)
        file.createDimension("lat", 4)
        file.createDimension("lon", 6)
        file.createDimension("length", 8)
        time = file.createVariable("time", "f8", ("time",))
        lat = file.createVariable("lat", "f4", ("lat",))
        lat[:] = [-30, -10, 10, 30]
        field = file.createVariable(
            "t2m", "f4", ("time", "lat", "lon"), fill_value=np.float32(-999), **layout
        )
        field[0:3] = np.arange(72, dtype="f4").reshape(3, 4, 6)
        time[0:3] = [0, 6, 12]
        field[1, 2, 3] = np.nan
        small = file.createVariable("level", "i2", ("lon",))
        small[:] = np.arange(6)
        names = file.createVariable("station", "S1", ("lat", "length"))
        names[:] = netCDF4.stringtochar(np.array([b"a", b"bcd", b"", b"x"], "S8"))
        scalar = file.createVariable("crs", "i4", ())
        scalar[...] = 7
        field.units, field.scale_hint = "K", np.float32(0.5)
        field.valid_range = np.array([-100, 100], "f4")
        lat.units = "degrees_north"
        file.title = "a grid"
        file.version = np.int32(3)
