# SPDX-License-Identifier: Apache-2.0
"""Lines for Fortran: a module with routines that set property lists and MPI-IO hints."""

from __future__ import annotations

import textwrap
from typing import Any

from tailrace.intent.snippets.c_lines import version_of, word_of
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

_one: dict[str, str] = {
    "page_bytes": "h5pset_file_space_page_size_f(fcpl, {}_hsize_t, error)",
    "meta_block_bytes": "h5pset_meta_block_size_f(fapl, {}_hsize_t, error)",
    "small_data_block_bytes": "h5pset_small_data_block_size_f(fapl, {}_hsize_t, error)",
    "sieve_buffer_bytes": "h5pset_sieve_buf_size_f(fapl, {}_size_t, error)",
    "file_locking": "h5pset_file_locking_f(fapl, {}, .true., error)",
    "collective_metadata_writes": "h5pset_coll_metadata_write_f(fapl, {}, error)",
    "collective_metadata_reads": "h5pset_all_coll_metadata_ops_f(fapl, {}, error)",
    "layout": "h5pset_layout_f(dcpl, H5D_{}_F, error)",
    "allocation_time": "h5pset_alloc_time_f(dcpl, H5D_ALLOC_TIME_{}_F, error)",
}
_transfers = {"write_mode": "write_dxpl", "read_mode": "read_dxpl"}
_longest = 100  # of a line: the standard has 132


def _logical(value: Any) -> str:
    return ".true." if value else ".false."


def _word(value: Any) -> str:
    return _logical(value) if isinstance(value, bool) else word_of(value)


def _file_calls(place: Place) -> Lines:
    calls: Lines = []
    if place.has("file_space_strategy"):
        strategy = word_of(place.say("file_space_strategy"))
        calls.append(
            f"h5pset_file_space_strategy_f(fcpl, H5F_FSPACE_STRATEGY_{strategy}_F, .false., "
            "1_hsize_t, error)"
        )
    if place.has("alignment_threshold_bytes", "alignment_bytes"):
        threshold = place.say("alignment_threshold_bytes", 1)
        alignment = place.say("alignment_bytes", 1)
        calls.append(f"h5pset_alignment_f(fapl, {threshold}_hsize_t, {alignment}_hsize_t, error)")
    bounds = {place.value("libver_low"), place.value("libver_high")}
    if bounds != {None} and "v200" not in bounds:
        low = version_of(place.say("libver_low", "earliest"))
        high = version_of(place.say("libver_high", "latest"))
        calls.append(f"h5pset_libver_bounds_f(fapl, {low}_F, {high}_F, error)")
    if place.value("driver") == "core":
        place.say("driver")
        increment = place.say("core_increment_bytes", 64 << 20)
        store = _logical(place.say("core_backing_store", True))
        calls.append(f"h5pset_fapl_core_f(fapl, {increment}_size_t, {store}, error)")
    return calls


def _dataset_calls(place: Place) -> Lines:
    calls: Lines = []
    if place.has("chunk"):  # the other way round: the fastest dimension comes first
        chunk = place.say("chunk")
        extents = ", ".join(f"{extent}_hsize_t" for extent in reversed(chunk))
        calls.append(f"h5pset_chunk_f(dcpl, {len(chunk)}, [{extents}], error)")
    if place.value("fill_time") == "never":
        place.say("fill_time")
        calls.append("h5pset_fill_time_f(dcpl, H5D_FILL_TIME_NEVER_F, error)")
    if place.value("shuffle"):
        place.say("shuffle")
        calls.append("h5pset_shuffle_f(dcpl, error)")
    if place.has("deflate"):
        calls.append(f"h5pset_deflate_f(dcpl, {place.say('deflate')}, error)")
    if place.has(*cache_keys):
        slots, size, preemption = cache_of(place)
        slots_text = "H5D_CHUNK_CACHE_NSLOTS_DFLT_F" if slots is None else f"{slots}_size_t"
        size_text = "H5D_CHUNK_CACHE_NBYTES_DFLT_F" if size is None else f"{size}_size_t"
        # H5D_CHUNK_CACHE_W0_DFLT_F is an integer, and no call takes one there.
        share = "-1.0" if preemption is None else str(preemption)
        calls.append(f"h5pset_chunk_cache_f(dapl, {slots_text}, {size_text}, {share}, error)")
    return calls


def _transfer_calls(place: Place) -> Lines:
    calls = [
        f"h5pset_dxpl_mpio_f({name}, H5FD_MPIO_{word_of(place.say(key))}_F, error)"
        for key, name in _transfers.items()
        if place.has(key)
    ]
    if place.has("conversion_buffer_bytes"):
        size = place.say("conversion_buffer_bytes")
        calls += [f"h5pset_buffer_f({one}, {size}_hsize_t, error)" for one in _transfers.values()]
    return calls


def _calls(place: Place) -> Lines:
    simple = [form.format(_word(place.say(key))) for key, form in _one.items() if place.has(key)]
    return _file_calls(place) + simple + _dataset_calls(place) + _transfer_calls(place)


def _call_lines(call: str) -> Lines:
    """A call over as many lines as it needs."""
    head, _, tail = call.partition("(")
    parts = textwrap.wrap(tail, _longest, break_long_words=False, break_on_hyphens=False)
    return [
        f"    call {head}( &",
        *(f"      {part} &" for part in parts[:-1]),
        f"      {parts[-1]}",
    ]


def _comment(texts: Lines) -> Lines:
    return [f"  ! {part}" for text in texts for part in _wrapped(text)]


def _wrapped(text: str) -> Lines:
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(text, _longest, initial_indent=indent, subsequent_indent=indent + "  ")


def _quoted(text: str) -> str:
    """A literal in pieces: a line may have 132 characters."""
    pieces = [text[at : at + 60] for at in range(0, len(text), 60)]
    return " // &\n        ".join("'" + piece.replace("'", "''") + "'" for piece in pieces)


def _routine(number: int, place: Place) -> Lines:
    calls = _calls(place)
    if not calls:
        return []
    lines = [
        *_comment([place.title, *remarks_on(place, "call h5dopen_f(file, '{}', x, error, dapl)")]),
        f"  subroutine tune_{number}(fcpl, fapl, dcpl, dapl, write_dxpl, read_dxpl, error)",
        "    integer(hid_t), intent(in) :: fcpl, fapl, dcpl, dapl, write_dxpl, read_dxpl",
        "    integer, intent(out) :: error",
    ]
    for at, call in enumerate(calls):
        if at > 0:
            lines.append("    if (error < 0) return")
        lines += _call_lines(call)
    return [*lines, "  end subroutine", ""]


def _hint_routine(number: int, place: Place) -> Lines:
    hints = list(hints_of(place))
    if not hints:
        return []
    lines = [
        *_comment([f"{place.hint_title}; info: that of h5pset_fapl_mpio_f"]),
        *_comment(place.reasons(hints=True)),
        f"  subroutine hint_{number}(info, error)",
        "    use mpi, only: MPI_Info_set",
        "    integer, intent(in) :: info",
        "    integer, intent(out) :: error",
    ]
    for name, value in hints:
        lines.append(f"    call MPI_Info_set(info, {_quoted(name)}, &")
        lines.append(f"        {_quoted(value)}, error)")
    return [*lines, "  end subroutine", ""]


def fortran_lines(plan: dict[str, Any]) -> tuple[Lines, Lines]:
    """A module with subroutines per file and dataset; then comments."""
    lines: Lines = []
    found = places(plan)
    for number, place in enumerate(found, 1):
        lines += _routine(number, place) + _hint_routine(number, place)
    rest = _comment(unsaid("HDF5's Fortran module", found, plan, _how))
    if lines:
        head = ["module tuned_lists", "  use hdf5", "  implicit none", "contains"]
        lines = [*head, *lines, "end module"]
    return lines, rest


def _how(one: Setting) -> str:
    if one.key == "shuffle":
        return "as it is without a call"
    if one.key == "fill_time":
        return "as it is: the library's default, for which the module has no name"
    if one.key in {"core_increment_bytes", "core_backing_store"}:
        return "h5pset_fapl_core_f, only with the driver core"
    return ""
