# SPDX-License-Identifier: Apache-2.0
"""Lines for h5py, netCDF4 and xarray are run; what they set is read back with another library."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import xarray
from snippet_plans import DATASET, Json, plan_of, preemption_alone

from tailrace.intent.snippets import snippet

STORED: Json = {"chunk": [16, 50], "deflate": 3, "shuffle": True, "fill_time": "never"}
CACHE: Json = {
    "chunk_cache_bytes": 3 << 20, "chunk_cache_slots": 521, "chunk_cache_preemption": 0.25,
}  # fmt: skip
SHAPE = (64, 100)


def run(kind: str, plan: Json) -> Json:
    """What the lines define."""
    made: Json = {}
    exec(compile(snippet(kind, plan), kind, "exec"), made)
    return made


def creation(path: Path, name: str = DATASET) -> Any:
    """The list that a dataset was made with, by h5py."""
    with h5py.File(path) as file:
        return file[name].id.get_create_plist()


def locks(arguments: Json) -> bool:
    """What h5py.File puts on its list; of an open file HDF5_USE_FILE_LOCKING decides, set here."""
    return bool(h5py._hl.files.make_fapl(None, locking=arguments["locking"]).get_file_locking()[0])


def test_h5py_files(tmp_path: Path) -> None:
    path = str(tmp_path / "f.h5")
    plan = plan_of(
        {"alignment_threshold_bytes": 70000, "alignment_bytes": 4096, "meta_block_bytes": 1 << 20,
         "libver_low": "v110", "libver_high": "latest", "file_locking": False},
        path=path,
    )  # fmt: skip
    arguments = run("h5py", plan)["file_arguments"][path]
    assert locks(arguments) is False
    with h5py.File(path, "w", **arguments) as file:
        access = file.id.get_access_plist()
        assert access.get_alignment() == (70000, 4096)
        assert access.get_meta_block_size() == 1 << 20
        assert file.libver[0] == "v110"


@pytest.mark.parametrize(
    ("words", "bounds"),
    [
        ({"libver_low": "v18", "libver_high": "v110"}, ("v108", "v110")),
        ({"libver_low": "latest"}, ("v200", "v200")),
        ({"libver_high": "latest"}, ("earliest", "v200")),
        ({"libver_high": "v18"}, ("earliest", "v108")),
    ],
)
def test_h5py_versions(tmp_path: Path, words: Json, bounds: tuple[str, str]) -> None:
    path = str(tmp_path / "f.h5")
    arguments = run("h5py", plan_of(words, path=path))["file_arguments"][path]
    with h5py.File(path, "w", **arguments) as file:
        found = file.id.get_access_plist().get_libver_bounds()
        names = [name for name, number in h5py._hl.files.libver_dict.items() if number == found[0]]
        assert bounds[0] in names
        assert found[1] == h5py._hl.files.libver_dict[bounds[1]]


def test_h5py_pages_and_memory(tmp_path: Path) -> None:
    path = str(tmp_path / "f.h5")
    paged = plan_of({"file_space_strategy": "page", "page_bytes": 8192,
                     "page_buffer_bytes": 1 << 20}, path=path)  # fmt: skip
    with h5py.File(path, "w", **run("h5py", paged)["file_arguments"][path]) as file:
        created = file.id.get_create_plist()
        assert created.get_file_space_strategy()[0] == h5py.h5f.FSPACE_STRATEGY_PAGE
        assert created.get_file_space_page_size() == 8192
        assert file.id.get_access_plist().get_page_buffer_size()[0] == 1 << 20
    kept = plan_of({"driver": "core", "core_increment_bytes": 1 << 17,
                    "core_backing_store": False}, path=path)  # fmt: skip
    with h5py.File(path, "w", **run("h5py", kept)["file_arguments"][path]) as file:
        assert file.driver == "core"
        assert file.id.get_access_plist().get_fapl_core() == (1 << 17, False)


def test_h5py_datasets(tmp_path: Path) -> None:
    path = tmp_path / "f.h5"
    made = run("h5py", plan_of({}, {**STORED, **CACHE}, str(path)))
    with h5py.File(path, "w") as file:
        arguments = made["dataset_arguments"][str(path), DATASET]
        file.create_dataset(DATASET, SHAPE, "f4", **arguments)[...] = 1
    with h5py.File(path, **made["file_arguments"][str(path)]) as file:
        dataset = file[DATASET]
        assert dataset.id.get_access_plist().get_chunk_cache() == (521, 3 << 20, 0.25)
        assert (dataset[...] == 1).all()
        assert (dataset.chunks, dataset.compression_opts, dataset.shuffle) == ((16, 50), 3, True)
    assert creation(path).get_fill_time() == h5py.h5d.FILL_TIME_NEVER


def test_h5py_leaves_what_the_plan_leaves(tmp_path: Path) -> None:
    """The preemption alone: size and slots are h5py's own, or what was asked for."""
    path = str(tmp_path / "f.h5")
    alone = run("h5py", preemption_alone(path))["file_arguments"][path]
    assert alone == {"rdcc_w0": 0.5}
    asked = run("h5py", preemption_alone(path, {"chunk_cache_bytes": 5 << 20}))
    with h5py.File(path, "w", **asked["file_arguments"][path]) as file:
        slots = h5py.h5p.create(h5py.h5p.FILE_ACCESS).get_cache()[1]
        assert file.id.get_access_plist().get_cache()[1:] == (slots, 5 << 20, 0.5)


def test_h5py_ways_of_the_comments_are_there() -> None:
    """Its low-level lists, which the comments name."""
    text = snippet("h5py", plan_of(
        {"sieve_buffer_bytes": 1 << 18, "metadata_cache_max_bytes": 1 << 20},
        {"layout": "compact", "allocation_time": "incremental"},
    ))  # fmt: skip
    access, created = (
        h5py.h5p.create(kind) for kind in (h5py.h5p.FILE_ACCESS, h5py.h5p.DATASET_CREATE)
    )
    calls = re.findall(r"set_\w+\([\w.]+\)", text)
    assert len(calls) == 3 and "set_mdc_config" in text
    for call in calls:
        exec(f"made.{call}", {"made": access if "sieve" in call else created, "h5py": h5py})
    access.set_mdc_config(access.get_mdc_config())
    assert access.get_sieve_buf_size() == 1 << 18
    assert created.get_layout() == h5py.h5d.COMPACT
    assert created.get_alloc_time() == h5py.h5d.ALLOC_TIME_INCR


def variable(path: Path, **arguments: Any) -> None:
    """One in a group, of which half is written."""
    with netCDF4.Dataset(path, "w") as file:
        group = file.createGroup("g")
        for name, length in zip("ab", SHAPE, strict=True):
            file.createDimension(name, length)
        group.createVariable("x", "f4", ("a", "b"), **arguments)[:32] = 1


def test_netcdf4_variables(tmp_path: Path) -> None:
    path = tmp_path / "f.nc"
    made = run("netcdf4", plan_of({}, {**STORED, **CACHE}, str(path)))
    variable(path, **made["variable_arguments"][str(path), DATASET])
    stored = creation(path)
    assert stored.get_chunk() == (16, 50)
    assert [stored.get_filter(at)[0] for at in range(2)] == [h5py.h5z.FILTER_SHUFFLE, 1]
    assert stored.get_filter(1)[2] == (3,)
    assert stored.get_fill_time() == h5py.h5d.FILL_TIME_NEVER
    with netCDF4.Dataset(path) as file:
        found = file[DATASET]
        found.set_var_chunk_cache(*made["chunk_caches"][str(path), DATASET])
        assert found.get_var_chunk_cache() == (3 << 20, 521, 0.25)
        assert (found[:32] == 1).all()


def test_netcdf4_leaves_what_the_plan_leaves(tmp_path: Path) -> None:
    """netCDF's own cache is larger than HDF5's: the preemption alone must not make it smaller."""
    path = tmp_path / "f.nc"
    variable(path, chunksizes=(16, 50))
    made = run("netcdf4", preemption_alone(str(path), {"chunk_cache_bytes": 67108864}))
    with netCDF4.Dataset(path) as file:
        found = file[DATASET]
        size, slots, _ = found.get_var_chunk_cache()
        assert size >= 16 << 20
        found.set_var_chunk_cache(*made["chunk_caches"][str(path), DATASET])
        assert found.get_var_chunk_cache() == (size, slots, 0.5)


def test_netcdf4_without_shuffle(tmp_path: Path) -> None:
    path = tmp_path / "f.nc"
    made = run("netcdf4", plan_of({}, {"deflate": 1}, str(path)))
    variable(path, **made["variable_arguments"][str(path), DATASET])
    assert creation(path).get_nfilters() == 1


def test_netcdf_fills_without_being_asked(tmp_path: Path) -> None:
    """Why `ifset` needs no argument, and must not become fill_value=False, which is never."""
    assert (
        "fill_value"
        not in run("netcdf4", plan_of({}, {"fill_time": "ifset", "deflate": 1}))[
            "variable_arguments"
        ]["/data/*.h5", DATASET]
    )
    filled, unfilled = tmp_path / "filled.nc", tmp_path / "unfilled.nc"
    variable(filled)
    variable(unfilled, fill_value=False)
    assert creation(filled).fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED
    assert creation(filled).get_fill_time() != h5py.h5d.FILL_TIME_NEVER
    assert creation(unfilled).get_fill_time() == h5py.h5d.FILL_TIME_NEVER
    with netCDF4.Dataset(filled) as file:
        assert file[DATASET][:32].count() == 3200 and file[DATASET][32:].count() == 0


def test_netcdf4_alignment_as_the_comment_has_it(tmp_path: Path) -> None:
    plan = plan_of({"alignment_threshold_bytes": 1000, "alignment_bytes": 4096})
    assert "netCDF4.set_alignment(threshold, alignment)" in snippet("netcdf4", plan)
    try:
        netCDF4.set_alignment(1000, 4096)
        variable(tmp_path / "f.nc", contiguous=True)
    finally:
        netCDF4.set_alignment(1, 1)
    with h5py.File(tmp_path / "f.nc") as file:
        assert file[DATASET].id.get_offset() % 4096 == 0


@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf"])
def test_xarray_encodings(tmp_path: Path, engine: Any) -> None:
    path = tmp_path / "f.nc"
    made = run("xarray", plan_of({}, {**STORED, **CACHE}, str(path)))
    data = xarray.Dataset({"x": (("a", "b"), np.ones(SHAPE, "f4"))})
    encoding = made["encodings"][str(path), "/g"]
    data.to_netcdf(path, group="/g", encoding=encoding, engine=engine)
    stored = creation(path)
    assert stored.get_chunk() == (16, 50)
    assert [stored.get_filter(at)[0] for at in range(2)] == [h5py.h5z.FILTER_SHUFFLE, 1]
    assert stored.get_filter(1)[2] == (3,)
    with xarray.open_dataset(path, group="/g", engine=engine) as found:
        assert found.x.encoding["chunksizes"] == (16, 50)
        assert found.x.encoding["complevel"] == 3


def test_xarray_opens_without_locks(tmp_path: Path) -> None:
    path = tmp_path / "f.nc"
    arguments = run("xarray", plan_of({"file_locking": False}, path=str(path)))["open_arguments"]
    assert locks(arguments[str(path)]["driver_kwds"]) is False
    variable(path)
    with xarray.open_dataset(path, group="/g", engine="h5netcdf", **arguments[path]) as found:
        assert (found.x[:32] == 1).all()


def test_xarray_leaves_what_the_plan_leaves(tmp_path: Path) -> None:
    path = str(tmp_path / "f.nc")
    plan = preemption_alone(path, {"chunk_cache_bytes": 67108864, "chunk_cache_slots": 1009})
    assert run("xarray", plan)["chunk_caches"][path] == (None, None, 0.5)


@pytest.mark.parametrize(
    ("kind", "largest"),
    [("xarray", "(3145728, 521, 0.25)"), ("h5py", "'rdcc_nbytes': 3145728")],
)
def test_a_file_has_one_cache(kind: str, largest: str) -> None:
    plan = plan_of({}, CACHE)
    small = plan_of({}, {"chunk_cache_bytes": 1 << 20})["entries"][0] | {"dataset": "/y"}
    plan["entries"].append(small)
    text = snippet(kind, plan)
    assert largest in text
    assert "/y: chunk_cache_bytes = 1048576 (rule 1): the file has one size" in text


def test_names_as_the_program_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative ones, links, paths, groups without their first slash; and patterns."""
    (tmp_path / "d").mkdir()
    (tmp_path / "link").symlink_to("d")
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path.resolve() / "d" / "f[0-9]*.h5")
    made = run("h5py", plan_of({"meta_block_bytes": 4096}, STORED, path, "/g/v[0-9]*"))
    for said in ("d/f7.h5", "./d/../link/f7.h5", Path("d") / "f7.h5", "f7.h5", "/".join(
        (str(tmp_path), "d", "f7.h5")
    )):  # fmt: skip
        assert made["file_arguments"][said] == {"meta_block_size": 4096}
        for name in ("/g/v3", "g/v3", "v3"):
            assert made["dataset_arguments"][said, name]["chunks"] == (16, 50)
    made = run("xarray", plan_of({}, STORED, str(tmp_path / "x.nc")))
    data = xarray.Dataset({"x": (("a", "b"), np.ones(SHAPE))})
    assert made["encoding"](data, "x.nc", "g") == made["encodings"][str(tmp_path / "x.nc"), "/g"]


def test_a_name_that_nothing_is_set_for_is_told(tmp_path: Path) -> None:
    path = str(tmp_path / "f.h5")
    made = run("h5py", plan_of({"meta_block_bytes": 4096}, STORED, path))
    for name, key in (
        ("file_arguments", "g.h5"), ("file_arguments", "/elsewhere/f.h5"),
        ("dataset_arguments", (path, "/g/y")), ("dataset_arguments", ("g.h5", DATASET)),
    ):  # fmt: skip
        with pytest.warns(UserWarning, match=r"no settings for .*f\.h5"):
            assert made[name][key] == {}


def test_xarray_lines_are_a_file_of_python(tmp_path: Path) -> None:
    """Whose first two lines say nothing of an encoding of the text itself."""
    path = str(tmp_path / "x.nc")
    lines = tmp_path / "lines.py"
    lines.write_text(snippet("xarray", plan_of({}, STORED, path=path, dataset="/T")))
    subprocess.run([sys.executable, lines], check=True)
    made = run("xarray", plan_of({}, STORED, path=path, dataset="/T"))
    data = xarray.Dataset({"T": (("a", "b"), np.ones(SHAPE))})
    own = {"T": {"complevel": 7, "dtype": "f4"}, "U": {"zlib": True}}
    new = made["encodings"][path, "/"]["T"]
    assert made["encoding"](data, path, "/", own) == {"T": {**new, **own["T"]}, "U": own["U"]}
    chunks = {"T": {"chunksizes": (1, 1), "contiguous": False}}
    assert made["encoding"](data, path, "/", chunks) == {"T": new}
