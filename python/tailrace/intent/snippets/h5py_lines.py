# SPDX-License-Identifier: Apache-2.0
"""Lines for h5py: dictionaries of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tailrace.intent.snippets.lookup import dictionary, with_class
from tailrace.intent.snippets.unsaid import remarks_on, unsaid
from tailrace.intent.snippets.values import (
    Place,
    Setting,
    cache_keys,
    cache_of,
    largest_caches,
    places,
)

# What h5py.File takes, and how the value is said there.
_file: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "alignment_threshold_bytes": ("alignment_threshold", int),
    "alignment_bytes": ("alignment_interval", int),
    "meta_block_bytes": ("meta_block_size", int),
    "file_space_strategy": ("fs_strategy", str),
    "page_buffer_bytes": ("page_buf_size", int),
    "file_locking": ("locking", bool),
}
_dataset: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "chunk": ("chunks", tuple),
    "shuffle": ("shuffle", bool),
    "fill_time": ("fill_time", str),
}
one_cache = "the file has one size for the caches of its datasets, of what the largest needs"
_versions = {"v18": "v108"}  # the others, and latest, are called the same


def h5py_lines(plan: dict[str, Any]) -> tuple[list[str], list[str]]:
    """`file_arguments` and `dataset_arguments`, by path; then comments."""
    files: list[str] = []
    datasets: list[str] = []
    found = places(plan)
    arguments = {place.file: _h5py_file(place) for place in found if not place.dataset}
    caches = largest_caches(found)
    for file, place in caches.items():
        arguments.setdefault(file, {}).update(_h5py_cache(place))
    about = [place for place in found if not place.dataset and place.said] + list(caches.values())
    for file, made in arguments.items():
        files += argument_lines([one for one in about if one.file == file], made, repr(file))
    for place in found:
        if place.dataset:
            name = f"({place.file!r}, {place.dataset!r})"
            datasets += argument_lines([place], _h5py_dataset(place), name, "chunks=")
    lines = dictionary(
        "file_arguments",
        ["h5py.File(path, mode, **file_arguments[path])",
         "(fs_strategy and fs_page_size only where the file is created; a chunk cache is one",
         "for each dataset that is open, and ends with the last handle of it)"],
        files,
    )  # fmt: skip
    lines += dictionary(
        "dataset_arguments",
        ["file.create_dataset(name, ..., **dataset_arguments[path, name])"],
        datasets,
    )
    return with_class(lines), [f"# {text}" for text in unsaid("h5py", found, plan, _how)]


def _h5py_file(place: Place) -> dict[str, Any]:
    made = {name: of(place.say(key)) for key, (name, of) in _file.items() if place.has(key)}
    if place.value("file_space_strategy") == "page" and place.has("page_bytes"):
        made["fs_page_size"] = int(place.say("page_bytes"))
    if place.has("libver_low", "libver_high"):
        low, high = place.say("libver_low", "earliest"), place.say("libver_high", "latest")
        made["libver"] = (_versions.get(low, low), _versions.get(high, high))
    if place.value("driver") == "core":
        made["driver"] = place.say("driver")
        if place.has("core_increment_bytes"):
            made["block_size"] = int(place.say("core_increment_bytes"))
        if place.has("core_backing_store"):
            made["backing_store"] = bool(place.say("core_backing_store"))
    return made


def _h5py_cache(place: Place) -> dict[str, Any]:
    parts = zip(("rdcc_nslots", "rdcc_nbytes", "rdcc_w0"), cache_of(place), strict=True)
    return {name: part for name, part in parts if part is not None}


def _h5py_dataset(place: Place) -> dict[str, Any]:
    made = {name: of(place.say(key)) for key, (name, of) in _dataset.items() if place.has(key)}
    if place.value("layout") == "chunked":
        place.say("layout")
        made.setdefault("chunks", True)
    if place.has("deflate"):
        made |= {"compression": "gzip", "compression_opts": int(place.say("deflate"))}
    return made


def argument_lines(
    about: list[Place], arguments: dict[str, Any], name: str, chunk: str = ""
) -> list[str]:
    """An entry of a dictionary of arguments; none where there are no arguments. chunk: the
    argument for chunks, of which a call takes one."""
    if not arguments:
        return []
    return [
        *(
            f"    # {text}"
            for place in about
            for text in [place.title, *remarks_on(place, "x = file['{}']", chunk)]
        ),
        f"    {name}: {{",
        *(f"        {key!r}: {value!r}," for key, value in arguments.items()),
        "    },",
    ]


def _how(one: Setting) -> str:
    """By h5py's low-level lists, or in another place of the program."""
    ways = {
        "sieve_buffer_bytes": f"set_sieve_buf_size({one.value}) on the list for h5py.h5f.open",
        "page_bytes": "fs_page_size, only with file_space_strategy page",
        "core_increment_bytes": "block_size, only with the driver core",
        "core_backing_store": "backing_store, only with the driver core",
        "write_mode": "`with dataset.collective:` around writes, where h5py has MPI",
        "read_mode": "`with dataset.collective:` around reads, where h5py has MPI",
    }
    if one.key in cache_keys:
        return one_cache
    if one.key in {"write_mode", "read_mode"} and one.value == "independent":
        return "as it is without `with dataset.collective:`"
    if one.key == "layout":
        return "set_layout(h5py.h5d.COMPACT) on the list for h5py.h5d.create"
    if one.key == "allocation_time":
        name = {"incremental": "INCR"}.get(one.value, str(one.value).upper())
        return f"set_alloc_time(h5py.h5d.ALLOC_TIME_{name}) on the list for h5py.h5d.create"
    if one.key.startswith("metadata_cache_") and one.key != "metadata_cache_image":
        return "set_mdc_config on the list for h5py.h5f.open"
    if one.key.startswith("hint."):
        name = one.key.removeprefix("hint.")
        return f"info=MPI.Info.Create({{{name!r}: {one.value!r}}}) with driver='mpio'"
    return ways.get(one.key, "")
