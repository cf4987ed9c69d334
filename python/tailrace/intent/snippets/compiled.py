# SPDX-License-Identifier: Apache-2.0
"""Lines for C and Fortran: routines that set property lists."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from tailrace.intent.snippets.python import cache_of
from tailrace.intent.snippets.values import Place, places

Lines = list[str]
_versions = {"v18": "V18", "v110": "V110", "v112": "V112", "v114": "V114", "v200": "V200"}


def _c_calls(place: Place) -> Lines:
    """Calls of the C interface on fcpl, fapl, dcpl, dapl and dxpl."""
    v = place.values
    calls: Lines = []

    def when(keys: str, line: Callable[[], str]) -> None:
        if all(key in v for key in keys.split()):
            calls.append(line())

    when("page_bytes", lambda: "H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, 0, 1)")
    when("page_bytes", lambda: f"H5Pset_file_space_page_size(fcpl, {v['page_bytes']})")
    when(
        "page_buffer_bytes",
        lambda: f"H5Pset_page_buffer_size(fapl, {v['page_buffer_bytes']}, 0, 0)",
    )
    when(
        "alignment_bytes alignment_threshold_bytes",
        lambda: f"H5Pset_alignment(fapl, {v['alignment_threshold_bytes']}, {v['alignment_bytes']})",
    )
    when("meta_block_bytes", lambda: f"H5Pset_meta_block_size(fapl, {v['meta_block_bytes']})")
    when(
        "small_data_block_bytes",
        lambda: f"H5Pset_small_data_block_size(fapl, {v['small_data_block_bytes']})",
    )
    when("sieve_buffer_bytes", lambda: f"H5Pset_sieve_buf_size(fapl, {v['sieve_buffer_bytes']})")
    when("evict_on_close", lambda: f"H5Pset_evict_on_close(fapl, {int(v['evict_on_close'])})")
    when("file_locking", lambda: f"H5Pset_file_locking(fapl, {int(v['file_locking'])}, 1)")
    when(
        "libver_low libver_high",
        lambda: (
            "H5Pset_libver_bounds(fapl, "
            f"H5F_LIBVER_{_versions[v['libver_low']]}, H5F_LIBVER_{_versions[v['libver_high']]})"
        ),
    )
    when(
        "core_increment_bytes core_backing_store",
        lambda: (
            f"H5Pset_fapl_core(fapl, {v['core_increment_bytes']}, {int(v['core_backing_store'])})"
        ),
    )
    when("collective_metadata_writes", lambda: "H5Pset_coll_metadata_write(fapl, 1)")
    when("collective_metadata_reads", lambda: "H5Pset_all_coll_metadata_ops(fapl, 1)")
    when("layout", lambda: f"H5Pset_layout(dcpl, H5D_{v['layout'].upper()})")
    if "chunk" in v:
        extents = ", ".join(str(extent) for extent in v["chunk"])
        calls.append(f"H5Pset_chunk(dcpl, {len(v['chunk'])}, (const hsize_t[]){{{extents}}})")
    when("fill_time", lambda: f"H5Pset_fill_time(dcpl, H5D_FILL_TIME_{v['fill_time'].upper()})")
    when("allocation_time", lambda: f"H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_{_time(v)})")
    when("shuffle", lambda: "H5Pset_shuffle(dcpl)")
    when("deflate", lambda: f"H5Pset_deflate(dcpl, {v['deflate']})")
    if any(key.startswith("chunk_cache") for key in v):
        slots, size, preemption = cache_of(place)
        calls.append(f"H5Pset_chunk_cache(dapl, {slots}, {size}, {preemption})")
    when(
        "conversion_buffer_bytes",
        lambda: f"H5Pset_buffer(dxpl, {v['conversion_buffer_bytes']}, NULL, NULL)",
    )
    if "collective" in {v.get("write_mode"), v.get("read_mode")}:
        calls.append("H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE)")
    return calls


def _time(values: dict[str, Any]) -> str:
    return {"early": "EARLY", "late": "LATE", "incremental": "INCR"}[values["allocation_time"]]


def c_lines(plan: dict[str, Any]) -> Lines:
    """A routine per file and dataset; each takes all lists, and uses those that it needs."""
    lines: Lines = []
    for number, place in enumerate(places(plan), 1):
        calls = _c_calls(place)
        if not calls:
            continue
        lines += ["", f"/* {_comment(place.title)} */"]
        lines += [
            f"static int tune_{number}(hid_t fcpl, hid_t fapl, hid_t dcpl, hid_t dapl, hid_t dxpl)",
            "{", "    (void)fcpl, (void)fapl, (void)dcpl, (void)dapl, (void)dxpl;",
        ]  # fmt: skip
        lines += [f"    if ({call} < 0) return -1;" for call in calls]
        lines += ["    return 0;", "}"]
    return ["#include <hdf5.h>", *lines] if lines else []


def _comment(text: str) -> str:
    return text.replace("*/", "* /")


def _fortran_calls(place: Place) -> Lines:
    v = place.values
    calls: Lines = []
    one = {
        "meta_block_bytes": "h5pset_meta_block_size_f(fapl, {}_hsize_t, error)",
        "small_data_block_bytes": "h5pset_small_data_block_size_f(fapl, {}_hsize_t, error)",
        "sieve_buffer_bytes": "h5pset_sieve_buf_size_f(fapl, {}_size_t, error)",
        "page_bytes": "h5pset_file_space_page_size_f(fcpl, {}_hsize_t, error)",
        "deflate": "h5pset_deflate_f(dcpl, {}, error)",
        "conversion_buffer_bytes": "h5pset_buffer_f(dxpl, {}_hsize_t, error)",
    }
    if "page_bytes" in v:
        calls.append(
            "h5pset_file_space_strategy_f(fcpl, H5F_FSPACE_STRATEGY_PAGE_F, .false., "
            "1_hsize_t, error)"
        )
    if "alignment_bytes" in v and "alignment_threshold_bytes" in v:
        calls.append(
            f"h5pset_alignment_f(fapl, {v['alignment_threshold_bytes']}_hsize_t, "
            f"{v['alignment_bytes']}_hsize_t, error)"
        )
    if "shuffle" in v:
        calls.append("h5pset_shuffle_f(dcpl, error)")
    calls += [form.format(v[key]) for key, form in one.items() if key in v]
    if "layout" in v:
        calls.append(f"h5pset_layout_f(dcpl, H5D_{v['layout'].upper()}_F, error)")
    if "chunk" in v:  # the other way round: the fastest dimension comes first
        extents = ", ".join(f"{extent}_hsize_t" for extent in reversed(v["chunk"]))
        calls.append(f"h5pset_chunk_f(dcpl, {len(v['chunk'])}, [{extents}], error)")
    if "fill_time" in v:
        calls.append(f"h5pset_fill_time_f(dcpl, H5D_FILL_TIME_{v['fill_time'].upper()}_F, error)")
    if "allocation_time" in v:
        calls.append(f"h5pset_alloc_time_f(dcpl, H5D_ALLOC_TIME_{_time(v)}_F, error)")
    if any(key.startswith("chunk_cache") for key in v):
        slots, size, preemption = cache_of(place)
        calls.append(
            f"h5pset_chunk_cache_f(dapl, {slots}_size_t, {size}_size_t, {preemption}, error)"
        )
    if "libver_low" in v:
        low, high = (_versions[v[key]] for key in ("libver_low", "libver_high"))
        calls.append(
            f"h5pset_libver_bounds_f(fapl, H5F_LIBVER_{low}_F, H5F_LIBVER_{high}_F, error)"
        )
    if "core_increment_bytes" in v:
        store = ".true." if v.get("core_backing_store", True) else ".false."
        calls.append(
            f"h5pset_fapl_core_f(fapl, {v['core_increment_bytes']}_size_t, {store}, error)"
        )
    if "collective" in {v.get("write_mode"), v.get("read_mode")}:
        calls.append("h5pset_dxpl_mpio_f(dxpl, H5FD_MPIO_COLLECTIVE_F, error)")
    return calls


def fortran_lines(plan: dict[str, Any]) -> Lines:
    """A module with a subroutine per file and dataset."""
    lines: Lines = []
    for number, place in enumerate(places(plan), 1):
        calls = _fortran_calls(place)
        if not calls:
            continue
        lines += [f"  ! {part}" for part in textwrap.wrap(place.title, 100)]
        lines += [
            f"  subroutine tune_{number}(fcpl, fapl, dcpl, dapl, dxpl, error)",
            "    integer(hid_t), intent(in) :: fcpl, fapl, dcpl, dapl, dxpl",
            "    integer, intent(out) :: error",
        ]
        for at, call in enumerate(calls):
            head, _, tail = call.partition("(")
            lines.append(f"    call {head}( &\n      {tail}")
            if at + 1 < len(calls):
                lines.append("    if (error < 0) return")
        lines += ["  end subroutine", ""]
    if not lines:
        return []
    return [
        "module tuned_lists", "  use hdf5", "  implicit none", "contains", *lines,
        "end module",
    ]  # fmt: skip
