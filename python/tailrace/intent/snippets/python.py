# SPDX-License-Identifier: Apache-2.0
"""Lines for h5py, netCDF4 and xarray: dictionaries of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tailrace.intent.snippets.values import Place, places

# What h5py.File takes, and how the value is said there.
_file: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "alignment_threshold_bytes": ("alignment_threshold", int),
    "alignment_bytes": ("alignment_interval", int),
    "meta_block_bytes": ("meta_block_size", int),
    "page_bytes": ("fs_page_size", int),
    "file_space_strategy": ("fs_strategy", str),
    "page_buffer_bytes": ("page_buf_size", int),
    "file_locking": ("locking", bool),
    "driver": ("driver", str),
    "core_increment_bytes": ("block_size", int),
    "core_backing_store": ("backing_store", bool),
}
_dataset: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "chunk": ("chunks", tuple),
    "shuffle": ("shuffle", bool),
    "fill_time": ("fill_time", str),
}
_cache = ("chunk_cache_bytes", "chunk_cache_slots", "chunk_cache_preemption")


def h5py_lines(plan: dict[str, Any]) -> list[str]:
    """`file_arguments` and `dataset_arguments`, by path."""
    files: list[str] = []
    datasets: list[str] = []
    for place in places(plan):
        if place.dataset:
            _add(datasets, place, _h5py_dataset(place), f"({place.file!r}, {place.dataset!r})")
        else:
            _add(files, place, _h5py_file(place), repr(place.file))
    caches = [place for place in places(plan) if place.has(*_cache)]
    lines: list[str] = []
    if files:
        lines += [
            "# h5py.File(path, mode, **file_arguments[path]); keys: paths, or patterns of them",
            "file_arguments = {",
        ]
        lines += [*files, "}"]
    if datasets:
        lines += [
            "# file.create_dataset(name, ..., **dataset_arguments[path, name])",
            "dataset_arguments = {", *datasets, "}",
        ]  # fmt: skip
    if caches:
        lines += _h5py_caches(caches)
    return lines


def _h5py_file(place: Place) -> dict[str, Any]:
    made = {name: of(place.values[key]) for key, (name, of) in _file.items() if key in place.values}
    if place.has("libver_low"):
        made["libver"] = (place.values["libver_low"], place.values["libver_high"])
    return {} if made.get("driver") in {"direct", "subfiling"} else made


def _h5py_dataset(place: Place) -> dict[str, Any]:
    made = {
        name: of(place.values[key]) for key, (name, of) in _dataset.items() if key in place.values
    }
    if place.has("deflate"):
        made |= {"compression": "gzip", "compression_opts": place.values["deflate"]}
    return made


def _h5py_caches(caches: list[Place]) -> list[str]:
    lines = [
        "import h5py",
        "",
        "# slots, bytes, preemption; the dataset is opened with dataset(file, path, name)",
        "chunk_caches = {",
    ]
    for place in caches:
        slots, size, preemption = cache_of(place)
        lines += [f"    # {place.title}", f"    ({place.file!r}, {place.dataset!r}):"]
        lines += [f"        ({slots}, {size}, {preemption}),"]
    return [
        *lines, "}", "", "", "def dataset(file, path, name):",
        "    access = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)",
        "    access.set_chunk_cache(*chunk_caches[path, name])",
        "    return h5py.Dataset(h5py.h5d.open(file.id, name.encode(), access))",
    ]  # fmt: skip


def cache_of(place: Place) -> tuple[int, int, float]:
    """Slots, bytes, preemption; what the plan does not say as the library has it (2.x)."""
    return (
        int(place.values.get("chunk_cache_slots", 8191)),
        int(place.values.get("chunk_cache_bytes", 8 << 20)),
        float(place.values.get("chunk_cache_preemption", 0.75)),
    )


def _add(lines: list[str], place: Place, arguments: dict[str, Any], name: str) -> None:
    if not arguments:
        return
    lines += [f"    # {place.title}", f"    {name}: {{"]
    lines += [f"        {key!r}: {value!r}," for key, value in arguments.items()]
    lines += ["    },"]


def netcdf4_lines(plan: dict[str, Any]) -> list[str]:
    """Arguments of createVariable, and chunk caches of variables."""
    create: list[str] = []
    caches: list[str] = []
    for place in places(plan):
        if not place.dataset:
            continue
        made: dict[str, Any] = {}
        if place.has("chunk"):
            made["chunksizes"] = tuple(place.values["chunk"])
        if place.has("deflate"):
            made |= {"compression": "zlib", "complevel": place.values["deflate"], "shuffle": True}
        if place.has("fill_time"):
            made["fill_value"] = False
        _add(create, place, made, f"({place.file!r}, {place.dataset!r})")
        if place.has(*_cache):
            slots, size, preemption = cache_of(place)
            caches += [f"    # {place.title}", f"    ({place.file!r}, {place.dataset!r}):"]
            caches += [f"        ({size}, {slots}, {preemption}),"]
    lines: list[str] = []
    if create:
        lines += [
            "# group.createVariable(name, type, dimensions, **variable_arguments[path, name])",
            "variable_arguments = {", *create, "}",
        ]  # fmt: skip
    if caches:
        lines += [
            "# variable.set_var_chunk_cache(*chunk_caches[path, name]), before the first access",
            "chunk_caches = {", *caches, "}",
        ]  # fmt: skip
    return lines


def xarray_lines(plan: dict[str, Any]) -> list[str]:
    """`encoding` for to_netcdf, and arguments of open_dataset."""
    encoding: list[str] = []
    opening: dict[str, Place] = {}
    for place in places(plan):
        if not place.dataset:
            continue
        made: dict[str, Any] = {}
        if place.has("chunk"):
            made["chunksizes"] = tuple(place.values["chunk"])
        if place.has("deflate"):
            made |= {"zlib": True, "complevel": place.values["deflate"], "shuffle": True}
        _add(encoding, place, made, repr(place.dataset.lstrip("/")))
        if place.has("chunk_cache_bytes"):
            before = opening.get(place.file)
            if before is None or cache_of(before)[1] < cache_of(place)[1]:
                opening[place.file] = place
    lines: list[str] = []
    if encoding:
        lines += ["# data.to_netcdf(path, encoding=encoding)", "encoding = {", *encoding, "}"]
    if opening:
        lines += [
            '# xarray.open_dataset(path, engine="h5netcdf", **open_arguments[path]): a cache for',
            "# every variable, as large as the largest needs",
            "open_arguments = {",
        ]
        for file, place in opening.items():
            slots, size, preemption = cache_of(place)
            lines += [
                f"    # {place.title}", f"    {file!r}: {{", '        "driver_kwds": {',
                f'            "rdcc_nbytes": {size}, "rdcc_nslots": {slots},',
                f'            "rdcc_w0": {preemption},', "        },", "    },",
            ]  # fmt: skip
        lines += ["}"]
    return lines
