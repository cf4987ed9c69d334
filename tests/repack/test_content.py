# SPDX-License-Identifier: Apache-2.0
"""What a repacked file still says: read by h5py and netCDF4, not by the comparison of repack."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
from h5py import h5a, h5o, h5r, h5s, h5t
from samples import write_grid, write_types

from tailrace.repack import Options, repack
from tailrace.repack.pointers import copy_elements

EVERYTHING = ["/numbers/*=5", "/compound=2", "/rows=2", "/ragged=2", "/objects=2", "/regions=1",
              "/along=2x2", "/text/*=2", "/deep=1", "/array=2", "/opaque=1", "/bitfield=1",
              "/enum=1", "/scale=3"]  # fmt: skip


def packed(path: Path, *chunks: str, **options: Any) -> Path:
    """The copy of a file with other chunks, beside it."""
    out = path.with_name(f"packed-{path.name}")
    report = repack(path, None, out, Options(chunks=chunks, **options))
    assert report.done and report.changes, report
    return out


@pytest.mark.parametrize("big_endian", [False, True], ids=["little", "big"])
@pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])
def test_every_type_and_link(tmp_path: Path, chunked: bool, big_endian: bool) -> None:
    path = tmp_path / "types.h5"
    write_types(path, chunked=chunked, big_endian=big_endian)
    out = packed(path, *EVERYTHING)
    with h5py.File(path) as old, h5py.File(out) as new:
        assert new["numbers/f8"].chunks == (5,) and new["rows"].chunks == (2,)
        names: list[str] = []
        old.visit(names.append)
        assert "numbers/f8" in names and len(names) > 30
        for name in names:
            same_object(old[name], new[name])
        same_object(old, new)
        assert new["numbers/same"] == new["numbers/i4"], "one object, not two"
        assert new["links/cycle/up"] == new["links"] and new["links/cycle/root"] == new["/"]
        soft, external = (new.get(f"links/{name}", getlink=True) for name in ("soft", "external"))
        assert isinstance(soft, h5py.SoftLink) and soft.path == "/numbers/i4"
        assert isinstance(external, h5py.ExternalLink)
        assert (external.filename, external.path) == ("other.h5", "/x")
        assert new[new["objects"][0]] == new["numbers/i4"] and not new["objects"][2]
        assert new[new["numbers/f8"].attrs["points_to"]] == new["compound"]
        region = new["regions"][0]
        assert list(new[region][region]) == list(old["numbers/f8"][2:7])
        assert [scale.name for scale in new["along"].dims[0].values()] == ["/scale"]
        assert new["scale"].is_scale and len(new["scale"].attrs["REFERENCE_LIST"]) == 2
        kind = new["of_committed"].id.get_type()
        assert (
            kind.committed() and h5o.get_info(kind).addr == h5o.get_info(new["committed"].id).addr
        )


def same_object(old: Any, new: Any) -> None:
    assert type(old) is type(new)
    assert list(old.attrs) == list(new.attrs)
    for name in old.attrs:
        same_bytes(h5a.open(old.id, name.encode()), h5a.open(new.id, name.encode()))
    if isinstance(old, h5py.Dataset):
        assert old.id.get_type().equal(new.id.get_type()) and old.maxshape == new.maxshape
        same_bytes(old.id, new.id)


def same_bytes(old: Any, new: Any) -> None:
    """Elements of fixed size as they are stored, of the same type."""
    kind = old.get_type()
    assert old.shape == new.shape and kind.equal(new.get_type())
    if kind.detect_class(h5t.VLEN) or kind.detect_class(h5t.REFERENCE) or has_text(kind):
        return
    if old.get_space().get_simple_extent_type() == h5s.NULL:
        return
    a, b = (np.zeros(old.shape, f"V{kind.get_size()}") for _ in range(2))
    if isinstance(old, h5a.AttrID):
        old.read(a, mtype=kind)
        new.read(b, mtype=kind)
    else:
        old.read(h5s.ALL, h5s.ALL, a, mtype=kind)
        new.read(h5s.ALL, h5s.ALL, b, mtype=kind)
    assert a.tobytes() == b.tobytes()


def has_text(kind: Any) -> bool:
    if kind.get_class() == h5t.COMPOUND:
        return any(has_text(kind.get_member_type(i)) for i in range(kind.get_nmembers()))
    return bool(kind.get_class() == h5t.STRING and kind.is_variable_str())


def test_elements_of_variable_length(tmp_path: Path) -> None:
    path = tmp_path / "types.h5"
    write_types(path)
    with h5py.File(packed(path, *EVERYTHING)) as new:
        first, second = new["rows"][:]
        assert (
            first["name"] == b"first" and np.isnan(first["track"][1]) and not len(second["track"])
        )
        assert [list(row) for row in new["ragged"][:]] == [[1, 2, 3], [], [4]]
        assert [list(row) for row in new["deep"][0]] == [[1], [2, 3]]
        assert [text.decode() for text in new["text/variable"][:]] == ["one", "two ä", ""]
        assert new["numbers/f8"].attrs["row"]["s"] == b"seven"
        assert list(new["numbers/f8"].attrs["words"]) == ["a", "bc"]


@pytest.mark.parametrize("model", ["NETCDF4", "NETCDF4_CLASSIC"])
def test_a_netcdf_file_stays_one(tmp_path: Path, model: str) -> None:
    path = tmp_path / "grid.nc"
    write_grid(path, model, zlib=True, chunksizes=(1, 2, 6))
    out = packed(path, "t2m=3x4x2")
    with netCDF4.Dataset(path) as old, netCDF4.Dataset(out) as new:
        assert new.data_model == old.data_model == model
        assert new["t2m"].chunking() == [3, 4, 2] and new["t2m"].filters()["zlib"]
        assert list(new.dimensions) == list(old.dimensions) and new.dimensions["time"].isunlimited()
        assert list(new.variables) == list(old.variables), "the order in which they were defined"
        for name, variable in old.variables.items():
            other = new[name]
            assert other.dimensions == variable.dimensions and other.ncattrs() == variable.ncattrs()
            variable.set_auto_mask(False)
            other.set_auto_mask(False)
            assert variable[:].tobytes() == other[:].tobytes()
        assert new["t2m"]._FillValue == np.float32(-999)
    assert dumped(path) == dumped(out)
    with netCDF4.Dataset(out, "a") as new:  # and can grow
        new["t2m"][3] = np.ones((4, 6))
        assert len(new.dimensions["time"]) == 4


def dumped(path: Path) -> str:
    ncdump = shutil.which("ncdump")
    if ncdump is None:
        with netCDF4.Dataset(path) as file:
            return str(file.variables)
    found = subprocess.run([ncdump, path], capture_output=True, text=True, check=True)
    return found.stdout.partition("\n")[2]


def test_order_of_creation_and_user_block(tmp_path: Path) -> None:
    path = tmp_path / "order.h5"
    with h5py.File(path, "w", userblock_size=1024, track_order=True) as file:
        for name in ("zeta", "alpha", "mid"):
            dataset = file.create_dataset(name, data=np.arange(40), track_order=True)
            for word in ("z", "a", "m"):
                dataset.attrs[word] = word
        group = file.create_group("plain", track_order=False)
        group["b"], group["a"] = 1, 2
        file.attrs["y"], file.attrs["x"] = 1, 2
        h5o.set_comment(file["mid"].id, b"a comment")
    with path.open("r+b") as stream:
        stream.write(b"mine" * 256)
    out = packed(path, "alpha=10")
    assert out.read_bytes()[:1024] == b"mine" * 256
    with h5py.File(out) as file:
        root = file["/"]  # of a file that is opened again h5py itself knows no order
        assert list(root) == ["zeta", "alpha", "mid", "plain"] and file.userblock_size == 1024
        assert list(file["alpha"].attrs) == ["z", "a", "m"] and list(root.attrs) == ["y", "x"]
        assert list(file["plain"]) == ["a", "b"]
        assert root.id.get_comment(b"mid") == b"a comment" and not root.id.get_comment(b"zeta")


@pytest.mark.parametrize("track_order", [False, True])
def test_groups_of_many_links_in_the_newer_format(tmp_path: Path, track_order: bool) -> None:
    """More than eight are kept in a heap, whose place in the old file is among the properties."""
    path = tmp_path / "many.h5"
    names = [f"name {number}" for number in range(40, 0, -1)]
    with h5py.File(path, "w", libver=("v108", "latest")) as file:
        file["x"] = np.arange(40)
        many = file.create_group("many", track_order=track_order)
        for name in names:
            many.create_group(name).attrs["name"] = name
    with h5py.File(packed(path, "x=10")) as file:
        kept = file["many"]
        order = kept.id.get_create_plist().get_link_creation_order()
        assert list(kept) == (names if track_order else sorted(names))
        assert [group.attrs["name"] for group in kept.values()] == list(kept)
        assert bool(order) == track_order


def test_what_nobody_wrote_stays_unwritten(tmp_path: Path) -> None:
    """And reads as the fill value; filters, limits and the moment of filling stay."""
    path = tmp_path / "sparse.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "x", (10000, 1000), "f8", chunks=(100, 100), maxshape=(None, 2000), fillvalue=-7.5,
            compression=4, shuffle=True, fletcher32=True,
        )  # fmt: skip
        file["x"][450:520, 130:140] = 1
        file.create_dataset("never", (1 << 20,), "f8")  # contiguous, without storage
    out = packed(path, "x=200x50", "never=4096")
    assert out.stat().st_size < 200_000
    with h5py.File(path) as old, h5py.File(out) as new:
        x = new["x"]
        assert x.fillvalue == -7.5 and x.maxshape == (None, 2000) and x.compression_opts == 4
        assert x.shuffle and x.fletcher32 and x.id.get_num_chunks() == 2
        assert np.array_equal(old["x"][:1000], x[:1000])
        assert new["never"].id.get_num_chunks() == 0


def test_objects_that_no_path_leads_to(tmp_path: Path) -> None:
    """A cycle that was cut off, a committed type without a name, a reference to nothing."""
    path = tmp_path / "hidden.h5"
    with h5py.File(path, "w") as file:
        island = file.create_group("island")
        island["itself"] = island
        island["values"] = [1, 2, 3]
        file["refs"] = np.array([island.ref, island.ref], h5py.ref_dtype)
        gone = file.create_group("gone")
        file["refs"].attrs["gone"] = gone.ref
        file["kind"] = np.dtype([("a", "<i4")])
        file.create_dataset("typed", (4,), file["kind"])
        file["x"] = np.arange(100)
        del file["island"], file["gone"], file["kind"]
    out = packed(path, "x=10")
    with h5py.File(out) as file:
        assert sorted(file) == ["refs", "typed", "x"]
        island = file[file["refs"][0]]
        assert list(island["values"]) == [1, 2, 3] and island["itself"] == island
        assert file[file["refs"][1]] == island
        assert file["typed"].id.get_type().committed()
        with pytest.raises((KeyError, ValueError, RuntimeError)):
            h5r.dereference(file["refs"].attrs["gone"], file.id)


def test_types_that_are_committed_after_their_users(tmp_path: Path) -> None:
    """The copy meets the dataset first; two equal types stay two."""
    path = tmp_path / "late.h5"
    with h5py.File(path, "w") as file:
        kinds = file.create_group("z")
        kinds["one"] = np.dtype([("a", "<i4")])
        kinds["two"] = np.dtype([("a", "<i4")])
        kinds["one"].attrs["says"] = "first"
        file.create_dataset("a", (40,), kinds["one"])
        file.create_dataset("b", (40,), kinds["two"], chunks=(8,))
    out = packed(path, "a=10")
    with h5py.File(out) as file:
        address = {name: h5o.get_info(file["z"][name].id).addr for name in ("one", "two")}
        for name, kind in (("a", "one"), ("b", "two")):
            assert h5o.get_info(file[name].id.get_type()).addr == address[kind]
        assert file["z/one"].attrs["says"] == "first" and sorted(file) == ["a", "b", "z"]


def test_fill_values_of_every_kind(tmp_path: Path) -> None:
    """Of texts and compounds too, and none."""
    path = tmp_path / "fill.h5"
    kind = np.dtype([("a", "<i4"), ("b", "S3")])
    with h5py.File(path, "w") as file:
        file.create_dataset("text", (40,), "S4", fillvalue=b"none", chunks=(10,), maxshape=(None,))
        file.create_dataset("row", (40,), kind, fillvalue=np.array((7, b"ab"), kind), chunks=(10,))
        file.create_dataset("big", (40,), ">i8", fillvalue=-5)
        file.create_dataset("none", (40,), "f4", fillvalue=None, chunks=(10,))
        file.create_dataset("words", (40,), h5py.string_dtype(), chunks=(10,))
        file["row"][3], file["text"][11] = (1, b"x"), b"some"
        file["words"][20] = "only"
    with h5py.File(packed(path, "*=7")) as file:
        assert file["text"].fillvalue == b"none" and file["text"].chunks == (7,)
        file_row = file["row"].fillvalue
        assert (int(file_row["a"]), bytes(file_row["b"])) == (7, b"ab")
        assert file["big"].fillvalue == -5 and file["big"][39] == -5
        assert file["row"][4] == np.array((7, b"ab"), kind) and file["row"][3]["a"] == 1
        assert file["text"][12] == b"none" and file["words"][20] == b"only"
        assert file["words"][0] == b""


def test_large_datasets_keep_their_packed_chunks(tmp_path: Path) -> None:
    """Of those that keep their layout: chunk by chunk, also where a filter was left out."""
    path = tmp_path / "large.h5"
    noise = np.random.default_rng(3).random(3 << 20)
    with h5py.File(path, "w") as file:
        file.create_dataset("kept", data=noise, chunks=(1 << 18,), compression=1)
        file["kept"].id.write_direct_chunk((0,), noise[: 1 << 18].tobytes(), 1)
        file["plain"] = noise
        file["x"] = np.arange(1000)
    out = packed(path, "x=10")
    with h5py.File(path) as old, h5py.File(out) as new:
        for index in range(old["kept"].id.get_num_chunks()):
            offset = old["kept"].id.get_chunk_info(index).chunk_offset
            pair = [file["kept"].id.read_direct_chunk(offset) for file in (old, new)]
            assert pair[0] == pair[1]
        assert np.array_equal(new["plain"][:], noise) and new["plain"].chunks is None


def test_attributes_of_every_kind(tmp_path: Path) -> None:
    """Large ones, committed types, references within compounds and arrays."""
    path = tmp_path / "attributes.h5"
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        file["x"] = np.arange(100)
        file["kind"] = np.dtype([("a", "<i4")])
        x = file["x"]
        x.attrs["large"] = np.arange(20000.0)
        x.attrs.create("typed", np.array([(3,)], [("a", "<i4")]), dtype=file["kind"])
        rows = np.zeros(2, [("to", h5py.ref_dtype), ("n", "i2")])
        rows["to"], rows["n"] = [x.ref, h5py.Reference()], [5, 6]
        x.attrs["rows"] = rows
        for index in range(50):
            x.attrs[f"many{index}"] = index
    with h5py.File(packed(path, "x=7"), "r") as file:
        x = file["x"]
        assert len(x.attrs) == 53 and x.attrs["many49"] == 49
        assert np.array_equal(x.attrs["large"], np.arange(20000.0))
        kind = h5a.open(x.id, b"typed").get_type()
        assert kind.committed() and h5o.get_info(kind).addr == h5o.get_info(file["kind"].id).addr
        assert file[x.attrs["rows"]["to"][0]] == x and not x.attrs["rows"]["to"][1]
        assert list(x.attrs["rows"]["n"]) == [5, 6]


def test_formats_do_not_become_newer(tmp_path: Path) -> None:
    for low in ("earliest", "v108", "v110"):
        path = tmp_path / f"{low}.h5"
        with h5py.File(path, "w", libver=(low, "v110")) as file:
            file["x"] = np.arange(100)
        out = packed(path, "x=10")
        assert out.read_bytes()[8] == path.read_bytes()[8], "version of the superblock"


@pytest.mark.parametrize("chunk", ["v=20", "names=20", "*=15"])
def test_texts_of_a_netcdf_file_keep_their_fill_values(tmp_path: Path, chunk: str) -> None:
    """netCDF gives each variable of texts one: it lies in the file, and is not to be looked for
    where it lay in the old one."""
    path = tmp_path / "texts.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("y", 40)
        file.createVariable("v", "f4", ("y",), chunksizes=(10,))[:] = 1
        for name, options in {"names": {"chunksizes": (8,)}, "whole": {}, "own": {}}.items():
            fill = {"fill_value": "none"} if name == "own" else {}
            variable = file.createVariable(name, str, ("y",), **options, **fill)
            for at in range(40):
                variable[at] = f"{name} {at}"
    out = packed(path, chunk)
    with netCDF4.Dataset(out) as file:
        for name in ("names", "whole", "own"):
            assert list(file[name][:]) == [f"{name} {at}" for at in range(40)]
        assert file["own"]._FillValue == "none" and file["v"][39] == 1
    with h5py.File(out) as file:
        assert [file[name].fillvalue for name in ("names", "own")] == [b"", b"none"]


def test_a_text_that_is_not_there_does_not_become_an_empty_one(tmp_path: Path) -> None:
    """What nobody wrote of a chunk, a member of a compound, a label of a dimension."""
    path = tmp_path / "null.h5"
    kind = np.dtype([("a", "<i4"), ("b", h5py.string_dtype())])
    with h5py.File(path, "w") as file:
        file.create_dataset("text", (10,), h5py.string_dtype(), chunks=(5,))[2:4] = ["x", ""]
        file.create_dataset("row", (4,), kind, chunks=(4,))[1] = (1, "q")
        file.create_dataset("x", (4, 4), "f4").dims[0].label = "time"
    with h5py.File(path) as old, h5py.File(packed(path, "text=10", "row=2")) as new:
        for file in (old, new):
            there = [bool(one) for one in pointers(file["text"].id)]
            assert there == [at in (2, 3) for at in range(10)]
            assert [bool(one) for one in pointers(file["row"].id)] == [False, True, False, False]
            labels = h5a.open(file["x"].id, b"DIMENSION_LABELS")
            assert [bool(one) for one in pointers(labels)] == [True, False]
        assert list(new["text"][:4]) == [b"", b"", b"x", b""] and new["row"][1]["b"] == b"q"
        assert new["x"].dims[0].label == "time"


def pointers(holder: Any) -> Any:
    """To texts, as HDF5 gives them to a program in C; the last member of a compound."""
    kind = holder.get_type()
    values = np.zeros(holder.shape, f"V{kind.get_size()}")
    if isinstance(holder, h5a.AttrID):
        holder.read(values, mtype=kind)
    else:
        holder.read(h5s.ALL, h5s.ALL, values, mtype=kind)
    return values.view(np.uint8).reshape(len(values), -1)[:, -8:].copy().view(np.uint64)[:, 0]


def test_a_failure_among_texts_is_told_in_the_words_of_hdf5(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "read-only.h5", "w") as file:
        file.create_dataset("text", data=["a", "b"], dtype=h5py.string_dtype())
    with h5py.File(tmp_path / "read-only.h5") as file:
        text = file["text"].id
        spaces = (h5s.create_simple((2,)), text.get_space())
        with pytest.raises(OSError, match="no write intent on file"):
            copy_elements(text, text, text.get_type(), spaces)
