# SPDX-License-Identifier: Apache-2.0
"""Lines for netCDF4-python and xarray."""

from __future__ import annotations

from typing import Any

from tailrace.intent.snippets.h5py_lines import argument_lines, one_cache
from tailrace.intent.snippets.lookup import dictionary, with_class
from tailrace.intent.snippets.unsaid import locking_by_environment, remarks_on, unsaid
from tailrace.intent.snippets.values import (
    Place,
    Setting,
    cache_keys,
    cache_said,
    largest_caches,
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
        create += argument_lines([place], _variable(place), name, "chunksizes=")
        if place.has(*cache_keys):
            slots, size, preemption = cache_said(place)
            caches += [f"    # {text}" for text in (place.title, *remarks_on(place))]
            caches += [f"    {name}:", f"        ({size}, {slots}, {preemption}),"]
    lines = dictionary(
        "variable_arguments",
        ["group.createVariable(name, type, dimensions, **variable_arguments[path, name])"],
        create,
    )
    lines += dictionary(
        "chunk_caches",
        ["variable.set_var_chunk_cache(*chunk_caches[path, name]), before the first access;",
         "bytes, slots, preemption, each None where it stays as it is"],
        caches,
    )  # fmt: skip
    comments = unsaid("netCDF4-python", found, plan, _netcdf4_how)
    return with_class(lines), [f"# {text}" for text in comments]


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


_merged = '''

def brought(variable):
    """What it was read with, which to_netcdf forgets of all that it is handed anything for."""
    old, shape = variable.encoding, variable.shape
    names = """dtype _FillValue missing_value scale_factor add_offset _Unsigned units calendar
        char_dim_name _Encoding bounds grid_mapping climatology cell_measures formula_terms
        geometry node_coordinates node_count part_node_count interior_ring ancillary_variables
        zlib complevel shuffle fletcher32 compression endian
        least_significant_digit significant_digits quantize_mode""".split()
    kept = {name: old[name] for name in names if name in old}
    chunk, was = old.get("chunksizes"), old.get("original_shape", shape)
    if chunk and was == shape and all(map(int.__le__, chunk, shape)):
        kept["chunksizes"] = chunk
    return kept


def encoding(data, path, group="/", own=None):
    new, made = encodings[path, group], dict(own or {})
    for name in data.variables.keys() & new.keys():
        one = {} if name in made else brought(data.variables[name])
        if "zlib" in new[name]:
            one.pop("compression", None)
        one |= new[name] | made.get(name, {})
        if chunk := new[name].get("chunksizes"):
            one.pop("contiguous", None)
            one["chunksizes"] = chunk
        made[name] = one
    return made
'''


def xarray_lines(plan: dict[str, Any]) -> tuple[list[str], list[str]]:
    """`encodings` for to_netcdf, and arguments of open_dataset; then comments."""
    encodings: dict[tuple[str, str], list[str]] = {}
    found = places(plan)
    for place in found:
        if not place.dataset:
            continue
        group, _, name = place.dataset.rpartition("/")
        made = argument_lines([place], _encoding(place), repr(name))
        if made:
            encodings.setdefault((place.file, group or "/"), []).extend(made)
    lines = dictionary(
        "encodings",
        ["By path and group of a file. What a variable brings along stays, and so does what the",
         "program itself gives but for chunks: hand both to the function below, with a Dataset:",
         "data.to_netcdf(path, group=group, encoding=encoding(data, path, group, own))"],
        [line for where, made in encodings.items() for line in _of_group(where, made)],
    )  # fmt: skip
    lines += _merged.splitlines() if encodings else []
    lines += _opening(found) + _cache_of_netcdf(found)
    return with_class(lines), [f"# {text}" for text in unsaid("xarray", found, plan, _xarray_how)]


def _of_group(where: tuple[str, str], made: list[str]) -> list[str]:
    return [f"    {where!r}: {{", *(f"    {line}" for line in made), "    },"]


def _encoding(place: Place) -> dict[str, Any]:
    made = _storage(place)
    if place.has("deflate"):
        shuffle = bool(place.say("shuffle", False))
        made |= {"zlib": True, "complevel": int(place.say("deflate")), "shuffle": shuffle}
    return made


def _opening(found: list[Place]) -> list[str]:
    """Arguments of h5py.File below h5netcdf."""
    entries: list[str] = []
    for place in found:
        made: dict[str, Any] = {}
        if not place.dataset and place.has("page_buffer_bytes"):
            made["page_buf_size"] = int(place.say("page_buffer_bytes"))
        if not place.dataset and place.has("file_locking"):
            made["locking"] = bool(place.say("file_locking"))
        entries += argument_lines([place], {"driver_kwds": made} if made else {}, repr(place.file))
    return dictionary(
        "open_arguments",
        ['xarray.open_dataset(path, engine="h5netcdf", **open_arguments[path])'],
        entries,
    )


def _cache_of_netcdf(found: list[Place]) -> list[str]:
    """netCDF-C keeps a variable open, and its cache with it; h5netcdf opens it for each access."""
    entries: list[str] = []
    for file, place in largest_caches(found).items():
        slots, size, preemption = cache_said(place)
        entries += [f"    # {text}" for text in (place.title, *remarks_on(place))]
        entries.append(f"    {file!r}: ({size}, {slots}, {preemption}),")
    return dictionary(
        "chunk_caches",
        ["netCDF4.set_chunk_cache(*chunk_caches[path]), before",
         'xarray.open_dataset(path, engine="netcdf4"), and for each file that is opened later;',
         "bytes, slots, preemption, each None where it stays as it is. With h5netcdf no cache",
         "lasts longer than an access: load() what is read again"],
        entries,
    )  # fmt: skip


def _xarray_how(one: Setting) -> str:
    if one.key in cache_keys:
        return one_cache
    if one.key == "fill_time" and one.value == "ifset":
        return "as it is: netCDF always has a fill value, and writes it"
    if one.key == "shuffle":
        return "only together with compression"
    if one.key.startswith("hint."):
        return "a file for ROMIO_HINTS (--as hints), below a netCDF with MPI"
    return ""
