# SPDX-License-Identifier: Apache-2.0
"""Lines for C: routines that set property lists and MPI-IO hints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tailrace.intent.snippets.unsaid import remarks_on, unsaid
from tailrace.intent.snippets.values import (
    Place,
    Setting,
    cache_keys,
    cache_of,
    hints_of,
    places,
)

Lines = list[str]

# Calls with one value: the words of a call, with {} where it stands.
_one: dict[str, str] = {
    "file_space_strategy": "H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_{}, 0, 1)",
    "page_bytes": "H5Pset_file_space_page_size(fcpl, {})",
    "page_buffer_bytes": "H5Pset_page_buffer_size(fapl, {}, 0, 0)",
    "meta_block_bytes": "H5Pset_meta_block_size(fapl, {})",
    "small_data_block_bytes": "H5Pset_small_data_block_size(fapl, {})",
    "sieve_buffer_bytes": "H5Pset_sieve_buf_size(fapl, {})",
    "evict_on_close": "H5Pset_evict_on_close(fapl, {})",
    "file_locking": "H5Pset_file_locking(fapl, {}, 1)",
    "collective_metadata_writes": "H5Pset_coll_metadata_write(fapl, {})",
    "collective_metadata_reads": "H5Pset_all_coll_metadata_ops(fapl, {})",
    "layout": "H5Pset_layout(dcpl, H5D_{})",
    "fill_time": "H5Pset_fill_time(dcpl, H5D_FILL_TIME_{})",
    "allocation_time": "H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_{})",
}
# After the chunk: filters want one.
_filters = {"deflate": "H5Pset_deflate(dcpl, {})"}
_transfers = {"write_mode": "write_dxpl", "read_mode": "read_dxpl"}
_both: dict[str, str] = {
    "collective_io": "H5Pset_dxpl_mpio_collective_opt({list}, H5FD_MPIO_{word}_IO)",
    "chunk_io": "H5Pset_dxpl_mpio_chunk_opt({list}, H5FD_MPIO_CHUNK_{word})",
    "chunk_io_chunks": "H5Pset_dxpl_mpio_chunk_opt_num({list}, {word})",
    "chunk_io_percent": "H5Pset_dxpl_mpio_chunk_opt_ratio({list}, {word})",
    "conversion_buffer_bytes": "H5Pset_buffer({list}, {word}, NULL, NULL)",
}


def word_of(value: Any) -> str:
    """A value as HDF5's names and numbers have it."""
    if isinstance(value, bool):
        return str(int(value))
    return "INCR" if value == "incremental" else str(value).upper()


def _simple(place: Place, forms: dict[str, str]) -> Lines:
    return [form.format(word_of(place.say(key))) for key, form in forms.items() if place.has(key)]


def version_of(word: str) -> str:
    """H5F_LIBVER_..."""
    return f"H5F_LIBVER_{word.upper()}"


def _bounds(place: Place) -> Lines:
    if not place.has("libver_low", "libver_high"):
        return []
    low, high = place.say("libver_low", "earliest"), place.say("libver_high", "latest")
    return [f"H5Pset_libver_bounds(fapl, {version_of(low)}, {version_of(high)})"]


def _alignment(place: Place) -> Lines:
    if not place.has("alignment_threshold_bytes", "alignment_bytes"):
        return []
    threshold = place.say("alignment_threshold_bytes", 1)
    return [f"H5Pset_alignment(fapl, {threshold}, {place.say('alignment_bytes', 1)})"]


def _driver(place: Place) -> Lines:
    driver = place.value("driver")
    if driver == "core":
        place.say("driver")
        increment = place.say("core_increment_bytes", 64 << 20)
        return [
            f"H5Pset_fapl_core(fapl, {increment}, {int(place.say('core_backing_store', True))})"
        ]
    if driver == "direct":
        place.say("driver")
        return ["H5Pset_fapl_direct(fapl, 4096, 4096, 16777216)"]
    return []


def _chunk(place: Place) -> Lines:
    if not place.has("chunk"):
        return []
    chunk = place.say("chunk")
    extents = ", ".join(map(str, chunk))
    return [f"H5Pset_chunk(dcpl, {len(chunk)}, (const hsize_t[]){{{extents}}})"]


def _shuffle(place: Place) -> Lines:
    return ["H5Pset_shuffle(dcpl)"] if place.value("shuffle") and place.say("shuffle") else []


def _cache(place: Place) -> Lines:
    if not place.has(*cache_keys):
        return []
    names = ("NSLOTS", "NBYTES", "W0")
    parts = ", ".join(
        f"H5D_CHUNK_CACHE_{name}_DEFAULT" if part is None else str(part)  # that of the file
        for name, part in zip(names, cache_of(place), strict=True)
    )
    return [f"H5Pset_chunk_cache(dapl, {parts})"]


def _transfer(place: Place) -> Lines:
    calls = [
        f"H5Pset_dxpl_mpio({name}, H5FD_MPIO_{word_of(place.say(key))})"
        for key, name in _transfers.items()
        if place.has(key)
    ]
    for key, form in _both.items():
        if place.has(key):
            word = word_of(place.say(key))
            calls += [form.format(list=name, word=word) for name in _transfers.values()]
    return calls


def _metadata_cache(place: Place) -> Lines:
    """Statements: HDF5 has a structure for it, of which the rest stays."""
    sets: Lines = []
    if place.has("metadata_cache_initial_bytes"):
        size = place.say("metadata_cache_initial_bytes")
        sets += ["cache.set_initial_size = 1;", f"cache.initial_size = {size};"]
        sets += ["if (cache.min_size > cache.initial_size) cache.min_size = cache.initial_size;"]
    if place.has("metadata_cache_max_bytes"):
        sets.append(f"cache.max_size = {place.say('metadata_cache_max_bytes')};")
    if sets:
        sets.append("if (cache.max_size < cache.initial_size) cache.max_size = cache.initial_size;")
    if place.has("metadata_cache_evictions"):
        evictions = bool(place.say("metadata_cache_evictions"))
        sets.append(f"cache.evictions_enabled = {int(evictions)};")
        if not evictions:  # HDF5 wants a cache of a fixed size then
            sets += [
                "cache.incr_mode = H5C_incr__off;",
                "cache.flash_incr_mode = H5C_flash_incr__off;",
                "cache.decr_mode = H5C_decr__off;",
            ]
    if not sets:
        return []
    return [
        "{",
        "    H5AC_cache_config_t cache = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};",
        "    if (H5Pget_mdc_config(fapl, &cache) < 0) return -1;",
        *(f"    {one}" for one in sets),
        "    if (H5Pset_mdc_config(fapl, &cache) < 0) return -1;",
        "}",
    ]


def _cache_image(place: Place) -> Lines:
    if not place.has("metadata_cache_image"):
        return []
    return [
        "{",
        "    H5AC_cache_image_config_t image = {H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION, "
        f"{int(place.say('metadata_cache_image'))}, 0,",
        "                                       H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE};",
        "    if (H5Pset_mdc_image_config(fapl, &image) < 0) return -1;",
        "}",
    ]


def _body(place: Place) -> Lines:
    """Statements on fcpl, fapl, dcpl, dapl, write_dxpl and read_dxpl."""
    parts: tuple[Callable[[Place], Lines], ...] = (
        _bounds, _alignment, _driver, lambda at: _simple(at, _one), _chunk, _shuffle,
        lambda at: _simple(at, _filters), _cache, _transfer,
    )  # fmt: skip
    calls = [call for part in parts for call in part(place)]
    lines = [f"if ({call} < 0) return -1;" for call in calls]
    return lines + _metadata_cache(place) + _cache_image(place)


def _comment(texts: Lines) -> Lines:
    """A comment that no text ends, nor begins a second time."""
    inner = [text.replace("*/", "* /").replace("/*", "/ *") for text in texts]
    if len(inner) == 1:
        return [f"/* {inner[0]} */"]
    return [f"/* {inner[0]}", *(f" * {text}" for text in inner[1:]), " */"]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '"'


def c_lines(plan: dict[str, Any]) -> tuple[Lines, Lines]:
    """A routine per file and dataset; each takes all lists, and uses those that it needs.

    Then comments.
    """
    lines: Lines = []
    found = places(plan)
    for number, place in enumerate(found, 1):
        body = _body(place)
        if body:
            remarks = remarks_on(place, 'x = H5Dopen2(file, "{}", dapl)')
            lines += ["", *_comment([place.title, *remarks])]
            lines += [
                f"static int tune_{number}(hid_t fcpl, hid_t fapl, hid_t dcpl, hid_t dapl,",
                "                  hid_t write_dxpl, hid_t read_dxpl)",
                "{", "    (void)fcpl, (void)fapl, (void)dcpl, (void)dapl, (void)write_dxpl, "
                "(void)read_dxpl;",
            ]  # fmt: skip
            lines += [*(f"    {line}" for line in body), "    return 0;", "}"]
        hints = [
            f"    if (MPI_Info_set(info, {_quoted(name)}, {_quoted(value)})) return -1;"
            for name, value in hints_of(place)
        ]
        if hints:
            title = f"{place.hint_title}; info: that of H5Pset_fapl_mpio"
            lines += ["", *_comment([title, *place.reasons(hints=True)])]
            lines += [f"static int hint_{number}(MPI_Info info)", "{", *hints, "    return 0;", "}"]
    if lines:
        lines = ["#include <hdf5.h>", *lines]
    rest = unsaid("C", found, plan, _how)
    return lines, _comment(rest) if rest else []


def _how(one: Setting) -> str:
    if one.key == "shuffle":
        return "as it is without a call"
    if one.key in {"core_increment_bytes", "core_backing_store"}:
        return "H5Pset_fapl_core, only with the driver core"
    return ""
