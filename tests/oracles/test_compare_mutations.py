# SPDX-License-Identifier: Apache-2.0
"""`tailrace verify A B`: the same content in any layout is the same; each small change is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import samples
from tailrace_cli import called

from tailrace.verify.compare import CompareOptions, compare_files
from tailrace.verify.hashing import hash_file

Change = Callable[[Any], None]


def set_to(path: str, index: Any, value: Any) -> Change:
    def change(file: Any) -> None:
        file[path][index] = value

    return change


def set_field(path: str, index: int, field: str, value: Any) -> Change:
    def change(file: Any) -> None:
        row = file[path][index]
        row[field] = value
        file[path][index] = row

    return change


def set_attribute(path: str, name: str, value: Any) -> Change:
    def change(file: Any) -> None:
        file[path].attrs[name] = value

    return change


def drop_attribute(path: str, name: str) -> Change:
    def change(file: Any) -> None:
        del file[path].attrs[name]

    return change


def replace(path: str, make: Callable[[Any], Any]) -> Change:
    def change(file: Any) -> None:
        new = make(file)
        del file[path]
        file[path] = new

    return change


def drop(path: str) -> Change:
    def change(file: Any) -> None:
        del file[path]

    return change


def retype(path: str, dtype: Any) -> Change:
    def change(file: Any) -> None:
        values = file[path][...]
        del file[path]
        file.create_dataset(path, data=values, dtype=dtype)

    return change


def redirect_object(file: Any) -> None:
    file["objects"][0] = file["numbers/i2"].ref


def move_region(file: Any) -> None:
    file["regions"][0] = file["numbers/f8"].regionref[2:8]


def detach(file: Any) -> None:
    file["also"].dims[0].detach_scale(file["scale"])


def swap_bitfield(file: Any) -> None:
    field = file["bitfield"].id
    field.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([5, 0x8003], "u2"), mtype=h5py.h5t.STD_B16LE)


def retag_opaque(file: Any) -> None:
    del file["opaque"]
    file["opaque"] = np.array([b"1234567", b"\0\1\2\3\4\5\6"], "V7")


def copy_instead_of_link(file: Any) -> None:
    del file["numbers/same"]
    file["numbers/same"] = file["numbers/i4"][...]


def to_utf8(file: Any) -> None:
    values = np.array(list(file["text/fixed"][...]), h5py.string_dtype("utf-8", 5))
    del file["text/fixed"]
    file["text/fixed"] = values


def widen_attribute(file: Any) -> None:
    file["numbers/f8"].attrs["grid"] = np.arange(6).reshape(2, 3)


def flatten_attribute(file: Any) -> None:
    file["numbers/f8"].attrs["grid"] = np.arange(6, dtype="i2")


MUTATIONS: dict[str, tuple[Change, str, str]] = {
    **{
        f"value of {name}": (set_to(f"numbers/{name}", 7, 99), f"/numbers/{name}[7]", "value")
        for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")
    },
    "NaN to number": (set_to("numbers/special", 0, 1.0), "/numbers/special[0]", "value"),
    "sign of zero": (set_to("numbers/special", 4, 0.0), "/numbers/special[4]", "value"),
    "scalar": (set_to("numbers/scalar", (), 2), "/numbers/scalar[]", "value"),
    "empty dataspace": (
        replace("numbers/empty", lambda f: np.float32(0)), "/numbers/empty", "extents",
    ),
    "long double": (set_to("numbers/long_double", 0, 1.5), "/numbers/long_double[0]", "value"),
    "complex": (set_to("complex", 0, 1 + 3j), "/complex[0]", "value"),
    "width of integers": (retype("numbers/i4", "i8"), "/numbers/i4", "type"),
    "signedness": (retype("numbers/i4", "u4"), "/numbers/i4", "type"),
    "width of floats": (retype("numbers/f8", "f4"), "/numbers/f8", "type"),
    "extents": (
        replace("numbers/i1", lambda f: np.arange(23, dtype="i1")), "/numbers/i1", "extents",
    ),
    "fixed text": (set_to("text/fixed", 1, b"df"), "/text/fixed[1]", "value"),
    "variable text": (set_to("text/variable", 1, "two a"), "/text/variable[1]", "value"),
    "fixed to variable text": (
        replace("text/fixed", lambda f: np.array(["abc", "de", ""], object)),
        "/text/fixed", "type",
    ),
    "character set": (to_utf8, "/text/fixed", "type"),
    "enum value": (set_to("enum", 1, 0), "/enum[1]", "value"),
    "enum names": (
        retype("enum", h5py.enum_dtype({"RED": 0, "GREEN": 2}, "i2")), "/enum", "type",
    ),
    "bool": (set_to("bool", 0, False), "/bool[0]", "value"),
    "opaque tag": (retag_opaque, "/opaque", "type"),
    "bitfield": (swap_bitfield, "/bitfield[1]", "value"),
    "array": (set_to("array", 1, np.ones((2, 2), "f4")), "/array[1]", "value"),
    "compound number": (set_field("compound", 3, "id", 77), "/compound[3]", "value"),
    "compound array": (set_field("compound", 2, "v", [0, 0, 0]), "/compound[2]", "value"),
    "compound text": (set_field("compound", 2, "s", b"x"), "/compound[2]", "value"),
    "sequence in a compound": (
        set_to("rows", 0, ("first", np.array([1, 2], "f4"))), "/rows[0]", "value",
    ),
    "text in a compound": (
        set_to("rows", 1, ("x", np.zeros(0, "f4"))), "/rows[1]", "value",
    ),
    "length of a sequence": (set_to("ragged", 2, np.array([4, 4], "i4")), "/ragged[2]", "value"),
    "soft link": (replace("links/soft", lambda f: h5py.SoftLink("/x")), "/links/soft", "link"),
    "external link": (
        replace("links/external", lambda f: h5py.ExternalLink("o.h5", "/x")),
        "/links/external", "link",
    ),
    "hard link to another": (
        replace("numbers/same", lambda f: f["numbers/i8"]), "/numbers/same", "link",
    ),
    "copy instead of a hard link": (copy_instead_of_link, "/numbers/same", "kind"),
    "soft instead of a hard link": (
        replace("numbers/same", lambda f: h5py.SoftLink("/numbers/i4")), "/numbers/same", "kind",
    ),
    "cycle": (drop("links/cycle/root"), "/links/cycle/root", "only"),
    "object reference": (redirect_object, "/objects[0]", "value"),
    "region reference": (move_region, "/regions[0]", "value"),
    "dimension scale": (detach, "/also@DIMENSION_LIST", "only"),
    "name of a scale": (set_attribute("scale", "NAME", np.bytes_(b"d")), "/scale@NAME", "type"),
    "committed type": (replace("committed", lambda f: np.dtype("i4")), "/committed", "type"),
    "committed to own type": (
        replace("of_committed", lambda f: np.zeros(2, [("t", "<f8")])), "/of_committed", "type",
    ),
    "dropped dataset": (drop("compound"), "/compound", "only"),
    "dropped group": (drop("links/cycle"), "/links/cycle", "only"),
    "added group": (lambda f: f.create_group("new"), "/new", "only"),
    "attribute text": (set_attribute("numbers/f8", "units", "km"), "/numbers/f8@units", "value"),
    "attribute list": (
        set_attribute("numbers/f8", "list", np.array([1.0, 2.0])), "/numbers/f8@list", "value",
    ),
    "attribute words": (
        set_attribute("numbers/f8", "words", ["a", "bd"]), "/numbers/f8@words", "value",
    ),
    "attribute extents": (
        flatten_attribute, "/numbers/f8@grid", "extents",
    ),
    "attribute type": (
        widen_attribute, "/numbers/f8@grid", "type",
    ),
    "attribute without value": (
        set_attribute("numbers/f8", "nothing", np.int32(0)), "/numbers/f8@nothing", "extents",
    ),
    "attribute reference": (
        lambda f: f["numbers/f8"].attrs.__setitem__("points_to", f["rows"].ref),
        "/numbers/f8@points_to", "value",
    ),
    "dropped attribute": (drop_attribute("numbers/f8", "row"), "/numbers/f8@row", "only"),
    "added attribute": (set_attribute("/", "x", 1), "/@x", "only"),
}  # fmt: skip


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plain") / "plain.h5"
    samples.write_types(path)
    return path


@pytest.mark.parametrize("chunked", [False, True], ids=["contiguous", "chunked"])
@pytest.mark.parametrize("big_endian", [False, True], ids=["little", "big"])
def test_layout_does_not_matter(
    chunked: bool, big_endian: bool, plain: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.h5"
    samples.write_types(other, chunked=chunked, big_endian=big_endian)
    report = compare_files(plain, other)
    assert report.first == [] and report.ok
    assert report.objects == 50 and report.attributes == 14
    assert hash_file(plain).whole == hash_file(other).whole


@pytest.mark.parametrize("name", MUTATIONS)
def test_each_change_is_named(name: str, plain: Path, tmp_path: Path) -> None:
    change, where, kind = MUTATIONS[name]
    other = tmp_path / "other.h5"
    shutil.copy(plain, other)
    with h5py.File(other, "r+") as file:
        change(file)
    report = compare_files(plain, other)
    found = {(item.where, item.kind) for item in report.first}
    assert (where, kind) in found, found
    assert report.total >= 1 and not report.ok
    assert hash_file(plain).whole != hash_file(other).whole
    mirrored = compare_files(other, plain)
    assert {(item.where, item.kind) for item in mirrored.first} == found


def test_one_nan_is_as_good_as_another(tmp_path: Path) -> None:
    bits = {"a": [0x7FC00000, 0x7FC00000, 1], "b": [0x7FC00001, 0xFFC00000, 1]}
    for name, words in bits.items():
        with h5py.File(tmp_path / name, "w") as file:
            values = np.array(words, "<u4").view("<f4")
            file["plain"] = values
            file["big"] = values.astype(">f4") if name == "a" else values
            rows = np.zeros(3, [("f", "<f4"), ("g", "<f4", (2,))])
            rows["f"], rows["g"] = values, values[:, None]
            file["rows"] = rows
            file.attrs["values"] = values
    assert compare_files(tmp_path / "a", tmp_path / "b").first == []
    with h5py.File(tmp_path / "b", "r+") as file:
        file["plain"][1] = 0
        file["rows"][1] = (np.nan, (np.nan, 0))
    found = compare_files(tmp_path / "a", tmp_path / "b").first
    assert {"/plain[1]", "/rows[1]"} <= {item.where for item in found}


def test_unwritten_parts_read_as_their_fill_value(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a", "w") as one, h5py.File(tmp_path / "b", "w") as other:
        one.create_dataset("x", (8,), "f4", chunks=(4,), fillvalue=7)
        other.create_dataset("x", data=np.full(8, 7, "f4"))
        one["x"][1] = other["x"][1] = 2
    assert compare_files(tmp_path / "a", tmp_path / "b").ok
    with h5py.File(tmp_path / "b", "r+") as other:
        other["x"][6] = 0
    first = compare_files(tmp_path / "a", tmp_path / "b").first[0]
    assert (first.where, first.one, first.other) == ("/x[6]", "7.0", "0.0")


def test_unlimited_extents_are_reported(tmp_path: Path) -> None:
    for name, limits in (("a", (None, 3)), ("b", (4, 3))):
        with h5py.File(tmp_path / name, "w") as file:
            file.create_dataset("x", data=np.zeros((4, 3)), maxshape=limits, chunks=(2, 3))
    first = compare_files(tmp_path / "a", tmp_path / "b").first[0]
    assert (first.kind, first.one, first.other) == ("limits", "unlimited x 3", "4 x 3")


MODELS = ("NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("other_model", MODELS)
def test_netcdf_of_any_format_says_the_same(model: str, other_model: str, tmp_path: Path) -> None:
    layout = {"zlib": True, "chunksizes": (1, 3, 2)} if other_model == "NETCDF4" else {}
    samples.write_grid(tmp_path / "a.nc", model)
    samples.write_grid(tmp_path / "b.nc", other_model, **layout)
    report = compare_files(tmp_path / "a.nc", tmp_path / "b.nc")
    assert report.first == [] and report.objects >= 9
    with netCDF4.Dataset(tmp_path / "b.nc", "r+") as file:
        file["t2m"][2, 1, 5] += 1
        file["t2m"].units = "degC"
        file.renameDimension("length", "width")
    found = {item.where for item in compare_files(tmp_path / "a.nc", tmp_path / "b.nc").first}
    assert {"/t2m[2,1,5]", "/t2m@units"} <= found
    assert any("width" in where for where in found)


def test_a_truncated_classic_file_is_an_error(tmp_path: Path) -> None:
    samples.write_grid(tmp_path / "a.nc", "NETCDF3_64BIT_DATA")
    shutil.copy(tmp_path / "a.nc", tmp_path / "b.nc")
    with (tmp_path / "b.nc").open("r+b") as file:
        file.truncate((tmp_path / "b.nc").stat().st_size - 40)
    ran = called("verify", tmp_path / "a.nc", tmp_path / "b.nc").expect(3)
    assert "b.nc: truncated: its header asks for" in ran.err


def test_plain_hdf5_and_classic_netcdf_of_the_same_content(tmp_path: Path) -> None:
    samples.write_grid(tmp_path / "a.nc", "NETCDF3_64BIT_DATA")
    with netCDF4.Dataset(tmp_path / "a.nc") as grid, h5py.File(tmp_path / "b.h5", "w") as file:
        for name, variable in grid.variables.items():
            variable.set_auto_maskandscale(False)
            variable.set_auto_chartostring(False)
            values = np.asarray(variable[...])
            record = variable.dimensions[:1] == ("time",)
            options = {"maxshape": (None, *values.shape[1:]), "chunks": True} if record else {}
            file.create_dataset(name, data=values, **options)
            file[name].attrs.update({key: variable.getncattr(key) for key in variable.ncattrs()})
        file.attrs.update({key: grid.getncattr(key) for key in grid.ncattrs()})
    report = compare_files(tmp_path / "a.nc", tmp_path / "b.h5")
    assert report.first == [] and report.model == "netCDF without named dimensions"
    with h5py.File(tmp_path / "b.h5", "r+") as file:
        file["lat"][1] = 0
    assert compare_files(tmp_path / "a.nc", tmp_path / "b.h5").first[0].where == "/lat[1]"


def test_tolerance_only_on_request(tmp_path: Path) -> None:
    values = np.array([1.0, -2.0, np.inf, np.nan, 0.0])
    for name, factor in (("a", 1.0), ("b", 1.0 + 1e-9)):
        with h5py.File(tmp_path / name, "w") as file:
            file["x"] = values * factor
            file["count"] = np.array([5])
    files = tmp_path / "a", tmp_path / "b"
    assert compare_files(*files).differing_elements == 2
    called("verify", *files, "--rtol", "1e-8").expect(0)
    called("verify", *files, "--rtol", "1e-10").expect(3)
    called("verify", *files, "--atol", "1e-8").expect(0)
    with h5py.File(tmp_path / "b", "r+") as file:
        file["x"][2] = 1e308
        file["count"][0] = 6
    found = compare_files(*files, CompareOptions(tolerance=_loose())).first
    assert [item.where for item in found] == ["/count[0]", "/x[2]"]


def _loose() -> Any:
    from tailrace.verify.close import Tolerance

    return Tolerance(relative=1.0, absolute=1.0)


def test_ignore_leaves_out_paths_and_attributes(plain: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.h5"
    shutil.copy(plain, other)
    with h5py.File(other, "r+") as file:
        file["numbers/i2"][0] = 9
        file["numbers/f8"].attrs["units"] = "km"
        file.attrs["title"] = "x"
    called("verify", plain, other).expect(3)
    ignored = ("--ignore", "/numbers/i2", "--ignore", "@units", "--ignore", "/@title")
    ran = called("verify", plain, other, *ignored, "--ignore", "/nothing").expect(0)
    assert "--ignore /nothing: nothing has that name" in ran.err
    called("verify", plain, other, *ignored[:4]).expect(3)
