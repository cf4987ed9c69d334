# SPDX-License-Identifier: Apache-2.0
"""Every setting that a plan can hold is in the lines of every kind, or named in their comments."""

from __future__ import annotations

import re
from typing import Any

import pytest
from snippet_plans import FILE, Json, every_setting, plan_of, plan_with, setting

from tailrace.errors import TailraceError
from tailrace.intent.snippets import kinds, snippet

MARKS = {"h5py": "#", "netcdf4": "#", "xarray": "#", "hints": "#", "fortran": "!"}
# What stands in the code for a key: by hand, and nothing of the table that makes the lines.
CODE: dict[str, dict[str, str]] = {
    "h5py": {
        "file_space_strategy": "'fs_strategy': 'page'",
        "alignment_threshold_bytes": "'alignment_threshold': ",
        "alignment_bytes": "'alignment_interval': ", "meta_block_bytes": "'meta_block_size': ",
        "page_buffer_bytes": "'page_buf_size': ", "libver_low": "'libver': ",
        "libver_high": "'libver': ", "file_locking": "'locking': ",
        "driver=core": "'driver': 'core'", "layout=chunked": "'chunks': True",
        "chunk": "'chunks': (128, 3000)", "fill_time": "'fill_time': ", "shuffle": "'shuffle': ",
        "deflate": "'compression_opts': 8", "chunk_cache_bytes": "'rdcc_nbytes': 1024",
        "chunk_cache_slots": "'rdcc_nslots': 521", "chunk_cache_preemption": "'rdcc_w0': 0.5",
    },
    "netcdf4": {
        "chunk": "'chunksizes': (128, 3000)", "fill_time=never": "'fill_value': False",
        "deflate": "'complevel': 8", "chunk_cache_bytes": "(1024, None, None)",
        "chunk_cache_slots": ", 521, ", "chunk_cache_preemption": ", 0.5)",
    },
    "xarray": {
        "chunk": "'chunksizes': (128, 3000)", "deflate": "'complevel': 8",
        "chunk_cache_bytes": "(1024, None, None)", "chunk_cache_slots": ", 521, ",
        "chunk_cache_preemption": ", 0.5)", "page_buffer_bytes": "'page_buf_size': ",
        "file_locking": "'locking': ",
    },
    "c": {
        "hint.cb_nodes": 'MPI_Info_set(info, "cb_nodes", "4")',
        "file_space_strategy": "H5F_FSPACE_STRATEGY_PAGE", "page_bytes": "page_size(fcpl, 512)",
        "alignment_threshold_bytes": "H5Pset_alignment(fapl, 8, 1)",
        "alignment_bytes": "H5Pset_alignment(fapl, 1, 512)",
        "meta_block_bytes": "H5Pset_meta_block_size", "sieve_buffer_bytes": "H5Pset_sieve_buf_size",
        "small_data_block_bytes": "H5Pset_small_data_block_size",
        "collective_metadata_writes": "H5Pset_coll_metadata_write(fapl, {flag})",
        "collective_metadata_reads": "H5Pset_all_coll_metadata_ops(fapl, {flag})",
        "metadata_cache_initial_bytes": "cache.initial_size = 1024",
        "metadata_cache_max_bytes": "cache.max_size = 1024",
        "metadata_cache_evictions": "cache.evictions_enabled = {flag}",
        "metadata_cache_image": "IMAGE_CONFIG_VERSION, {flag}",
        "page_buffer_bytes": "H5Pset_page_buffer_size(fapl, 512, 0, 0)",
        "libver_low": "H5Pset_libver_bounds(fapl, H5F_LIBVER_{word}, H5F_LIBVER_LATEST)",
        "libver_high": "H5Pset_libver_bounds(fapl, H5F_LIBVER_EARLIEST, H5F_LIBVER_{word})",
        "evict_on_close": "H5Pset_evict_on_close(fapl, {flag})",
        "file_locking": "H5Pset_file_locking(fapl, {flag}, 1)",
        "driver=core": "H5Pset_fapl_core(fapl, 67108864, 1)", "driver=direct": "H5Pset_fapl_direct",
        "layout": "H5Pset_layout(dcpl, H5D_{word})", "chunk": "{128, 3000}",
        "fill_time": "H5D_FILL_TIME_{word}", "allocation_time": "H5D_ALLOC_TIME_",
        "shuffle=True": "H5Pset_shuffle(dcpl)", "deflate": "H5Pset_deflate(dcpl, 8)",
        "chunk_cache_bytes": "NSLOTS_DEFAULT, 1024, H5D_CHUNK_CACHE_W0_DEFAULT)",
        "chunk_cache_slots": "(dapl, 521, ",
        "chunk_cache_preemption": ", 0.5)", "write_mode": "(write_dxpl, H5FD_MPIO_{word})",
        "read_mode": "(read_dxpl, H5FD_MPIO_{word})", "collective_io": "H5FD_MPIO_{word}_IO",
        "chunk_io": "H5FD_MPIO_CHUNK_{word}", "chunk_io_chunks": "chunk_opt_num(write_dxpl, 8)",
        "chunk_io_percent": "chunk_opt_ratio(read_dxpl, 8)",
        "conversion_buffer_bytes": "H5Pset_buffer(write_dxpl, 65536, NULL, NULL)",
    },
    "fortran": {
        "hint.cb_nodes": "MPI_Info_set(info, 'cb_nodes', &\n        '4', error)",
        "file_space_strategy": "H5F_FSPACE_STRATEGY_PAGE_F", "page_bytes": "512_hsize_t",
        "alignment_threshold_bytes": "fapl, 8_hsize_t, 1_hsize_t",
        "alignment_bytes": "fapl, 1_hsize_t, 512_hsize_t", "meta_block_bytes": "2048_hsize_t",
        "small_data_block_bytes": "2048_hsize_t", "sieve_buffer_bytes": "4096_size_t",
        "collective_metadata_writes": "h5pset_coll_metadata_write_f( &\n      fapl, .{logical}.",
        "collective_metadata_reads": "h5pset_all_coll_metadata_ops_f( &\n      fapl, .{logical}.",
        "libver_low": "fapl, H5F_LIBVER_{word}_F, H5F_LIBVER_LATEST_F",
        "libver_high": "fapl, H5F_LIBVER_EARLIEST_F, H5F_LIBVER_{word}_F",
        "file_locking": "fapl, .{logical}., .true.", "driver=core": "67108864_size_t, .true.",
        "layout": "H5D_{word}_F", "chunk": "[3000_hsize_t, 128_hsize_t]",
        "fill_time=never": "H5D_FILL_TIME_NEVER_F", "allocation_time": "H5D_ALLOC_TIME_",
        "shuffle=True": "h5pset_shuffle_f", "deflate": "dcpl, 8, error",
        "chunk_cache_bytes": "H5D_CHUNK_CACHE_NSLOTS_DFLT_F, 1024_size_t, -1.0",
        "chunk_cache_slots": "dapl, 521_size_t", "chunk_cache_preemption": ", 0.5, error",
        "write_mode": "write_dxpl, H5FD_MPIO_{word}_F",
        "read_mode": "read_dxpl, H5FD_MPIO_{word}_F",
        "conversion_buffer_bytes": "65536_hsize_t",
    },
    "hints": {"hint.cb_nodes": "cb_nodes 4"},
}  # fmt: skip
# Where settings are said in one call, or only beside another.
_C_TOGETHER = {
    "alignment_threshold_bytes": "(fapl, 8, 512)", "alignment_bytes": "(fapl, 8, 512)",
    "libver_low": "H5F_LIBVER_V18, H5F_LIBVER_V18", "libver_high": "H5F_LIBVER_V18, H5F_LIBVER_V18",
    "driver": "H5Pset_fapl_core(fapl, 65536, 1)", "chunk_cache_bytes": "(dapl, 521, 1024, 0.5)",
    "core_increment_bytes": "H5Pset_fapl_core(fapl, 65536, 1)",
    "core_backing_store": "H5Pset_fapl_core(fapl, 65536, 1)",
}  # fmt: skip
_FORTRAN_TOGETHER = {
    "alignment_threshold_bytes": "8_hsize_t, 512_hsize_t",
    "alignment_bytes": "8_hsize_t, 512_hsize_t",
    "libver_low": "H5F_LIBVER_V18_F, H5F_LIBVER_V18_F",
    "libver_high": "H5F_LIBVER_V18_F, H5F_LIBVER_V18_F",
    "driver": "65536_size_t, .true.", "core_increment_bytes": "65536_size_t, .true.",
    "core_backing_store": "65536_size_t, .true.",
    "chunk_cache_bytes": "521_size_t, 1024_size_t, 0.5",
}  # fmt: skip
TOGETHER: dict[str, dict[str, str]] = {
    "h5py": {
        "page_bytes": "'fs_page_size': 512", "core_increment_bytes": "'block_size': 65536",
        "core_backing_store": "'backing_store': True",
    },
    "netcdf4": {"shuffle": "'shuffle': True", "chunk_cache_bytes": "(1024, 521, 0.5)"},
    "xarray": {"shuffle": "'shuffle': True", "chunk_cache_bytes": "(1024, 521, 0.5)"},
    "c": _C_TOGETHER,
    "fortran": _FORTRAN_TOGETHER,
    "hints": {},
}  # fmt: skip
COMMENTED = {("fortran", "libver_low", "v200"), ("fortran", "libver_high", "v200")}


def split(kind: str, text: str) -> tuple[str, str]:
    """Code, and comments as one line."""
    if kind == "c":
        comments = " ".join(re.findall(r"/\*(.*?)\*/", text, re.DOTALL))
        return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), comments.replace("\n *", "")
    mark = MARKS[kind]
    lines = text.splitlines()
    own = [line.lstrip() for line in lines]
    code = "\n".join(line for line in lines if not line.lstrip().startswith(mark))
    comments = " ".join(line[1:].strip() for line in own if line.startswith(mark))
    return code, comments


def expected(kind: str, key: str, value: Any) -> str | None:
    """What is to stand in the code; None: the key in a comment."""
    if (kind, key, str(value)) in COMMENTED:
        return None
    form = CODE[kind].get(f"{key}={value}", CODE[kind].get(key))
    if form is None:
        return None
    words = {"word": str(value).upper(), "flag": str(int(value is True)),
             "logical": str(value).lower()}  # fmt: skip
    return re.sub(r"\{(word|flag|logical)\}", lambda found: words[found[1]], form)


@pytest.mark.parametrize("kind", kinds)
@pytest.mark.parametrize(("key", "of", "value"), every_setting())
def test_a_setting_is_in_the_code_or_named(kind: str, key: str, of: str, value: Any) -> None:
    text = snippet(kind, plan_with(key, of, value))
    code, comments = split(kind, text)
    wanted = expected(kind, key, value)
    if wanted is None:
        assert f"{key} = " in comments, text
        assert re.search("use `tailrace apply`|but possible", comments), text
        assert not code.strip(), text
    else:
        assert wanted in code, text
        assert f"{key} = " not in comments, text


def test_the_table_above_has_no_other_keys() -> None:
    keys = {key for key, _, _ in every_setting()}
    assert len(keys) >= 40
    assert {name.split("=")[0] for names in CODE.values() for name in names} <= keys


@pytest.mark.parametrize("kind", kinds)
def test_all_together_and_nothing_is_lost(kind: str) -> None:
    """Each key once, in one plan: none hides another."""
    once = {key: (of, value) for key, of, value in reversed(every_setting())}
    whole: Json = {"entries": [], "environment": []}
    for key, (of, value) in once.items():
        whole["entries"] += plan_with(key, of, value)["entries"]
    whole["environment"] = [{"name": "PNETCDF_HINTS", "value": "a=1;b=2"}]
    code, comments = split(kind, snippet(kind, whole))
    for key, (_, value) in once.items():
        wanted = TOGETHER[kind].get(key, expected(kind, key, value))
        assert (f"{key} = " in comments) is (wanted is None), key
        assert wanted is None or wanted in code, key
    assert "export PNETCDF_HINTS='a=1;b=2'" in comments


@pytest.mark.parametrize("kind", kinds)
def test_what_is_only_known_in_the_run_is_named(kind: str) -> None:
    plan = plan_of({}, {"chunk": None})
    (one,) = plan["entries"][0]["settings"]
    del one["value"]
    one["function"] = {"name": "tile", "numbers": {}}
    _, comments = split(kind, snippet(kind, plan))
    assert "chunk = what tile gives (rule 1): only known when the program runs" in comments


@pytest.mark.parametrize("kind", kinds)
def test_what_differs_for_create_and_open_is_named(kind: str) -> None:
    plan = plan_of({"meta_block_bytes": 4096})
    plan["entries"].append(
        {"file": FILE, "dataset": "", "when": "open",
         "settings": [setting("meta_block_bytes", 65536, "3")]}
    )  # fmt: skip
    _, comments = split(kind, snippet(kind, plan))
    assert "meta_block_bytes = 65536 (rule 3): for open; another value stands above" in comments


@pytest.mark.parametrize("kind", ["h5py", "netcdf4", "c", "fortran"])
def test_fill_never_says_what_it_means(kind: str) -> None:
    _, comments = split(kind, snippet(kind, plan_with("fill_time", "new dataset", "never")))
    assert "elements that the program does not write are undefined" in comments
    assert "Only where every element is written" in comments
    _, comments = split(kind, snippet(kind, plan_with("fill_time", "new dataset", "ifset")))
    assert "undefined" not in comments


@pytest.mark.parametrize("kind", kinds)
def test_names_of_files_do_not_leave_their_comments(kind: str) -> None:
    path = "/a/*/b\nimport shutil */ int x; /* '\"\\.h5"
    text = snippet(kind, plan_of({"meta_block_bytes": 4096, "hint.x": "1"}, {"chunk": [1]}, path))
    code, _ = split(kind, text)
    assert not [line for line in text.splitlines() if line.startswith("import shutil")]
    if kind == "c":
        assert "int x" not in code


@pytest.mark.parametrize("kind", kinds)
def test_a_plan_without_settings_is_refused(kind: str) -> None:
    with pytest.raises(TailraceError, match="no settings"):
        snippet(kind, plan_of({}))
