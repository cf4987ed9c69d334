# SPDX-License-Identifier: Apache-2.0
"""Lines for netCDF4-python and xarray."""

from __future__ import annotations

from typing import Any

from tailrace.intent.snippets.h5py_lines import argument_lines
from tailrace.intent.snippets.unsaid import locking_by_environment, unsaid
from tailrace.intent.snippets.values import (
    Place,
    Setting,
    cache_keys,
    cache_of,
    cache_said,
    places,
)


def netcdf4_lines(plan: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Arguments of createVariable, and chunk caches of variables; then comments."""
    create: list[str] = []
    caches: list[str] = []
    found = places(plan)
    for place in found:
        if not place.dataset:
            continue
        name = f"({place.file!r}, {place.dataset!r})"
        create += argument_lines(place, _variable(place), name)
        if place.has(*cache_keys):
            slots, size, preemption = cache_said(place)
            caches += [f"    # {place.title}", f"    {name}:"]
            caches += [f"        ({size}, {slots}, {preemption}),"]
    lines: list[str] = []
    if create:
        lines += [
            "# group.createVariable(name, type, dimensions, **variable_arguments[path, name])",
            "variable_arguments = {", *create, "}",
        ]  # fmt: skip
    if caches:
        lines += [
            "# variable.set_var_chunk_cache(*chunk_caches[path, name]), before the first access;",
            "# bytes, slots, preemption, each None where it stays as it is",
            "chunk_caches = {", *caches, "}",
        ]  # fmt: skip
    return lines, [f"# {text}" for text in unsaid("netCDF4-python", found, plan, _netcdf4_how)]


def _storage(place: Place) -> dict[str, Any]:
    """What both libraries call the same."""
    made: dict[str, Any] = {}
    if place.has("chunk"):
        made["chunksizes"] = tuple(place.say("chunk"))
        if place.value("layout") == "chunked":
            place.say("layout")
    return made


def _variable(place: Place) -> dict[str, Any]:
    made = _storage(place)
    if place.has("deflate"):
        shuffle = bool(place.say("shuffle", False))
        made |= {"compression": "zlib", "complevel": int(place.say("deflate")), "shuffle": shuffle}
    # False is NC_NOFILL, HDF5's never. netCDF always has a fill value, so ifset is what it does.
    if place.value("fill_time") == "never":
        place.say("fill_time")
        made["fill_value"] = False
    return made


def _netcdf4_how(one: Setting) -> str:
    if one.key in {"alignment_threshold_bytes", "alignment_bytes"}:
        return "netCDF4.set_alignment(threshold, alignment), for all files that are created later"
    if one.key == "fill_time":
        return "as it is: netCDF always has a fill value, and writes it"
    if one.key in {"write_mode", "read_mode"}:
        together = one.value == "collective"
        return f"variable.set_collective({together}), in a file opened with parallel=True"
    if one.key == "shuffle":
        return "shuffle=True, only together with compression"
    if one.key.startswith("hint."):
        name = one.key.removeprefix("hint.")
        return f"info=MPI.Info.Create({{{name!r}: {one.value!r}}}) with parallel=True"
    return locking_by_environment(one)


_merged = [
    "", "", "def encoding(path, group='/', own=None):",
    "    new, own = encodings[path, group], own or {}",
    "    return {name: {**new.get(name, {}), **own.get(name, {})} for name in {**new, **own}}",
]  # fmt: skip


def xarray_lines(plan: dict[str, Any]) -> tuple[list[str], list[str]]:
    """`encodings` for to_netcdf, and arguments of open_dataset; then comments."""
    encodings: dict[tuple[str, str], list[str]] = {}
    found = places(plan)
    for place in found:
        if not place.dataset:
            continue
        group, _, name = place.dataset.rpartition("/")
        made = argument_lines(place, _encoding(place), repr(name))
        if made:
            encodings.setdefault((place.file, group or "/"), []).extend(made)
    lines: list[str] = []
    if encodings:
        lines += [
            "# By path and group of a file. What the program itself gives for a variable comes",
            "# first, so hand it to the function below:",
            "# data.to_netcdf(path, group=group, encoding=encoding(path, group, own))",
            "encodings = {",
        ]
        for where, made in encodings.items():
            lines += [f"    {where!r}: {{", *(f"    {line}" for line in made), "    },"]
        lines += ["}", *_merged]
    lines += _opening(found)
    return lines, [f"# {text}" for text in unsaid("xarray", found, plan, _xarray_how)]


def _encoding(place: Place) -> dict[str, Any]:
    made = _storage(place)
    if place.has("deflate"):
        shuffle = bool(place.say("shuffle", False))
        made |= {"zlib": True, "complevel": int(place.say("deflate")), "shuffle": shuffle}
    return made


def _opening(found: list[Place]) -> list[str]:
    """Arguments of h5py.File below h5netcdf."""
    largest: dict[str, Place] = {}
    arguments: dict[str, dict[str, Any]] = {}
    for place in found:
        if not place.dataset and place.has("page_buffer_bytes"):
            made = arguments.setdefault(place.file, {})
            made["page_buf_size"] = int(place.say("page_buffer_bytes"))
        if not place.dataset and place.has("file_locking"):
            arguments.setdefault(place.file, {})["locking"] = bool(place.say("file_locking"))
        if place.has(*cache_keys):
            before = largest.get(place.file)
            if before is None or _cache_bytes(before) < _cache_bytes(place):
                largest[place.file] = place
    for file, place in largest.items():
        slots, size, preemption = cache_of(place)
        cache = {"rdcc_nbytes": size, "rdcc_nslots": slots, "rdcc_w0": preemption}
        arguments.setdefault(file, {}).update(
            (key, value) for key, value in cache.items() if value is not None
        )
    if not arguments:
        return []
    lines = [
        '# xarray.open_dataset(path, engine="h5netcdf", **open_arguments[path]): a cache for',
        "# every variable, as large as the largest needs",
        "open_arguments = {",
    ]
    for file, made in arguments.items():
        if file in largest:
            lines.append(f"    # {largest[file].title}")
        lines += [f'    {file!r}: {{"driver_kwds": {{']
        lines += [f"        {key!r}: {value!r}," for key, value in made.items()] + ["    }},"]
    return [*lines, "}"]


def _cache_bytes(place: Place) -> int:
    size = place.value("chunk_cache_bytes") or place.asked_for.get("chunk_cache_bytes")
    return int(size or 8 << 20)


def _xarray_how(one: Setting) -> str:
    if one.key in cache_keys:
        return "the file has one cache for all variables, of what the largest needs"
    if one.key == "fill_time" and one.value == "ifset":
        return "as it is: netCDF always has a fill value, and writes it"
    if one.key == "shuffle":
        return "only together with compression"
    if one.key.startswith("hint."):
        return "a file for ROMIO_HINTS (--as hints), below a netCDF with MPI"
    return ""
