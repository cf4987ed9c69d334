# SPDX-License-Identifier: Apache-2.0
"""Each option by its effect: in the file, in counted calls, in the Record."""

import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

import h5py
import pytest
from mpi_programs import need_both_mpi_io
from seism_tool import BUILD, OPEN_MPI, ROMIO, described, good, run, seen

BASE = ("processor=2x2x1", "domain=8x8x8", "time=3", "fill=position")
CHUNK = "chunk=8x8x8"


def creation_list(folder):
    with h5py.File(folder / "seism-test.h5") as file:
        return file["chunked"].id.get_create_plist()


def last(folder, *arguments, ranks=4, **more):
    return good(folder, ranks, *BASE, *arguments, **more).records[-1]


def data_writers(record):
    """Ranks that wrote while data was written."""
    writers = record["writers"]["list"]
    return [w for w in writers if w["by_phase"].get("write", {}).get("bytes_done", 0) > 0]


def test_never_fill(tmp_path):
    last(tmp_path, CHUNK)
    assert creation_list(tmp_path).get_fill_time() == h5py.h5d.FILL_TIME_IFSET
    last(tmp_path, CHUNK, "never_fill")
    assert creation_list(tmp_path).get_fill_time() == h5py.h5d.FILL_TIME_NEVER


@pytest.mark.parametrize(
    "option, expected",
    [
        ([], h5py.h5d.ALLOC_TIME_EARLY),
        (["early_allocation"], h5py.h5d.ALLOC_TIME_EARLY),
        (["alloc_time=late", "precreate"], h5py.h5d.ALLOC_TIME_LATE),
        (["alloc_time=incremental", "precreate"], h5py.h5d.ALLOC_TIME_INCR),
    ],
)
def test_allocation_time(tmp_path, option, expected):
    last(tmp_path, CHUNK, *option)
    assert creation_list(tmp_path).get_alloc_time() == expected


@pytest.mark.parametrize(
    "option, early, time",
    [
        ([], True, "early"),
        (["early_allocation=0"], False, "default"),
        (["alloc_time=late"], False, "late"),
    ],
)
def test_both_names_of_the_allocation_time_agree(tmp_path, option, early, time):
    record = last(tmp_path, *option)
    assert record["configuration"]["early_allocation"] is early
    assert record["configuration"]["alloc_time"] == time


def test_chunk_and_contiguous(tmp_path):
    last(tmp_path, CHUNK)
    assert creation_list(tmp_path).get_chunk() == (1, 8, 8, 8)
    last(tmp_path)
    assert creation_list(tmp_path).get_layout() == h5py.h5d.CONTIGUOUS


def test_precreate_is_done_by_rank_0(tmp_path):
    record = last(tmp_path, CHUNK, "precreate")
    assert record["phases"]["precreate"]["entries"] >= 1
    assert record["phases"]["open_file"]["entries"] >= 1
    by_rank = {w["rank"]: w["by_phase"] for w in record["writers"]["list"]}
    assert by_rank[0]["precreate"]["bytes_done"] > 0
    assert all("precreate" not in by_rank[r] for r in by_rank if r != 0)
    record = last(tmp_path, CHUNK)
    assert "precreate" not in record["phases"]


@pytest.mark.parametrize("form", ["hdf5", "mpiio"])
def test_collective_write(tmp_path, form):
    record = last(tmp_path, CHUNK, "collective_write", f"format={form}")
    assert record["transfers"]["collective_requested"] is True
    assert record["transfers"]["collective_actual"] is True
    hints = record["mpi_io"]["hints_requested"]
    assert hints["romio_cb_write"] == "enable" and hints["romio_ds_write"] == "disable"
    assert hints["cb_buffer_size"] == "4096", "of a rank's 2048 bytes"
    if OPEN_MPI:
        assert len(data_writers(record)) == 1  # one aggregator per node
    record = last(tmp_path, CHUNK, f"format={form}")
    assert record["transfers"]["collective_requested"] is False
    assert record["transfers"]["collective_actual"] is False
    assert len(data_writers(record)) == 4
    assert "romio_cb_write" not in record["mpi_io"]["hints_requested"]


def test_hints_of_the_user_win(tmp_path):
    record = last(
        tmp_path, CHUNK, "collective_write", "hint=cb_buffer_size=4096", "hint=cb_config_list=*:4"
    )
    assert record["mpi_io"]["hints_requested"]["cb_buffer_size"] == "4096"
    assert record["mpi_io"]["hints_in_force"]["cb_buffer_size"] == "4096"


@pytest.mark.parametrize(
    "component, more, setting",
    [
        ("ompio", ["--mca", "io_ompio_num_aggregators", "4"], "io_ompio_num_aggregators 4"),
        (ROMIO, [], "hint cb_nodes=4 and hint cb_config_list=*:4"),
    ],
)
def test_the_setting_that_is_named_changes_who_writes(tmp_path, component, more, setting):
    need_both_mpi_io()
    mpi = ["--mca", "io", component]
    one = good(tmp_path, 4, *BASE, CHUNK, "collective_write", mpi=mpi)
    assert len(data_writers(one.records[-1])) == 1
    assert "One rank of 4 did all the writing" in one.out and setting in one.out
    implementation = "OMPIO" if component == "ompio" else "ROMIO"
    assert implementation in one.records[-1]["mpi_io"]["implementation"]
    hints = [] if more else ["hint=cb_nodes=4", "hint=cb_config_list=*:4"]
    all_ranks = good(tmp_path, 4, *BASE, CHUNK, "collective_write", *hints, mpi=mpi + more)
    assert len(data_writers(all_ranks.records[-1])) == 4
    assert "One rank" not in all_ranks.out


def test_collective_metadata_is_counted_not_believed(tmp_path):
    record = last(tmp_path, CHUNK, "set_collective_metadata", "precreate")
    assert record["transfers"]["metadata_collective_requested"] is True
    assert record["transfers"]["metadata_collective_actual"] is True
    record = last(tmp_path, CHUNK, "precreate")
    assert record["transfers"]["metadata_collective_actual"] is False


def test_deflate(tmp_path):
    good(
        tmp_path,
        4,
        "processor=2x2x1",
        "domain=8x8x8",
        "time=3",
        CHUNK,
        "collective_write",
        "deflate=5",
        "verify",
    )
    filters = creation_list(tmp_path)
    assert filters.get_nfilters() == 1
    assert filters.get_filter(0)[0] == h5py.h5z.FILTER_DEFLATE
    assert filters.get_filter(0)[2] == (5,)
    with h5py.File(tmp_path / "seism-test.h5") as file:
        assert file["chunked"].id.get_storage_size() < 3 * 4 * 2048 / 10


def test_registered_filter_by_number(tmp_path):
    good(
        tmp_path,
        2,
        "processor=2x1x1",
        "domain=8x8x8",
        "time=1",
        CHUNK,
        "collective_write",
        "filter=2",
        "filter=1 7",
        "verify",
    )  # shuffle, then deflate
    filters = creation_list(tmp_path)
    assert [filters.get_filter(i)[0] for i in range(filters.get_nfilters())] == [2, 1]


def test_alignment(tmp_path):
    last(tmp_path, "alignment=65536")
    with h5py.File(tmp_path / "seism-test.h5") as file:
        assert file["chunked"].id.get_offset() % 65536 == 0
    record = last(tmp_path, "alignment=65536 1000")
    assert record["file"]["settings"]["alignment_threshold_bytes"] == "1000"


def test_libver(tmp_path):
    for words, version in (("v110", 3), ("earliest v110", 0), ("v18", 2)):
        record = last(tmp_path, f"libver={words}")
        with h5py.File(tmp_path / "seism-test.h5") as file:
            assert file.id.get_create_plist().get_version()[0] == version, words
        assert record["file"]["settings"]["libver_low"] == words.split()[0]


def test_metadata_block_size(tmp_path):
    record = last(tmp_path, CHUNK, "metadata_block_size=1048576")
    assert record["file"]["settings"]["metadata_block_bytes"] == "1048576"
    small = last(tmp_path, CHUNK)
    assert record["bytes"]["stored"] >= small["bytes"]["stored"]


def test_fsync_each_step(tmp_path):
    once = last(tmp_path, "format=posix")
    each = last(tmp_path, "format=posix", "fsync=step")
    assert each["phases"]["sync"]["entries"] >= once["phases"]["sync"]["entries"] + 3
    assert all("sync_s" in step for step in each["steps"])
    assert each["file"]["durable"] is True and once["file"]["durable"] is True


@pytest.mark.parametrize("kind", ["busy", "idle"])
def test_compute_is_off_the_clock(tmp_path, kind):
    start = time.monotonic()
    record = last(tmp_path, f"compute=0.3 {kind}", ranks=4)
    assert time.monotonic() - start > 0.6
    assert record["phases"]["compute"]["entries"] == 2
    assert record["phases"]["compute"]["min_s"] >= 0.6
    assert [step.get("compute_s", {}).get("max", 0) >= 0.3 for step in record["steps"]] == [
        False,
        True,
        True,
    ]
    assert "compute" in record["configuration"]


def test_repeat_has_a_warm_up_and_fresh_files(tmp_path):
    result = good(tmp_path, 4, *BASE, CHUNK, "repeat=3")
    assert [r["repetition"] for r in result.records] == [0, 1, 2, 3]
    assert [r["warm_up"] for r in result.records] == [True, False, False, False]
    assert len({r["run_id"] for r in result.records}) == 1
    assert "Warm-up" in result.out and "Repetition 3 of 3" in result.out
    assert "Measured repetitions:           3 (min | median | max" in result.out
    assert seen(tmp_path) == ["results.jsonl", "seism-test.h5"]
    single = good(tmp_path, 4, *BASE, CHUNK)
    assert single.records[-1]["warm_up"] is False and len(single.records) == 5


def test_read_back_by_another_decomposition(tmp_path):
    record = good(tmp_path, 4, "processor=4x1x1", "domain=2x8x8", "time=2", "read_back").records[-1]
    assert record["read_back"]["decomposition"] == [1, 1, 4, 1]
    assert record["read_back"]["bytes"] == record["bytes"]["logical"] == 2 * 8 * 8 * 8 * 4
    assert record["read_back"]["rate_bytes_per_s"] > 0


def test_results_file(tmp_path):
    good(tmp_path, 2, "processor=2x1x1", "domain=2x2x2", "time=1", "results=other.jsonl")
    assert seen(tmp_path) == ["other.jsonl", "seism-test.h5"]


def test_subfiling(tmp_path):
    result = run(tmp_path, 4, *BASE, "subfile=2", "verify")
    if result.code == 4:
        assert "subfil" in result.err  # this HDF5 has none: said, and nothing left
        assert seen(tmp_path) == []
        return
    assert result.code == 0, result.err
    assert result.records[-1]["verification"]["status"] == "passed"
    assert len([n for n in seen(tmp_path) if ".subfile_" in n and n.endswith("_of_2")]) == 2


@pytest.mark.parametrize("form", ["posix", "mpiio"])
def test_raw_alignment(tmp_path, form):
    """By the place of a slab's second dataset; the first has 560 bytes."""
    for words, offset in (((), 4096), (("alignment=65536",), 65536), (("alignment=1",), 560)):
        pair = ("n1=10", "n2=7", f"format={form}", "filename=o", *words)
        good(tmp_path, 2, *pair, "verify", program=BUILD / "bin/tailrace-slab")
        _, about = described(tmp_path / "o")
        assert [one["offset"] for one in about["objects"]] == [0, offset]


def test_packed_parts_have_no_alignment(tmp_path):
    result = run(tmp_path, 4, *BASE, "format=posix-per-rank", "alignment=65536")
    assert result.codes == [2] * 4 and "has no meaning for format posix-per-rank" in result.err
    assert seen(tmp_path) == []


def test_a_cold_cache_is_had_or_it_is_said(tmp_path):
    """On tmpfs pages stay; elsewhere the file is out of the cache before it is read."""
    disk = Path(tempfile.mkdtemp(dir=BUILD))
    memory = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        for folder, more, state in (
            (disk, ["cold_cache"], "dropped"), (disk, [], "warm"), (memory, ["cold_cache"], "warm"),
        ):  # fmt: skip
            record = last(folder, "read=same other", *more)
            on_tmpfs = record["context"]["file_system"] == "tmpfs"
            assert on_tmpfs == (folder == memory), "the build folder lies on a disk"
            assert [one["cache"] for one in record["reads"]] == [state] * 2, record["reads"]
            assert all(one["cache_evidence"] for one in record["reads"])
    finally:
        shutil.rmtree(disk)
        shutil.rmtree(memory)


def test_flags_of_other_formats_are_named_and_do_nothing(tmp_path):
    result = good(
        tmp_path,
        2,
        "processor=2x1x1",
        "domain=2x2x2",
        "time=1",
        "format=posix",
        "precreate",
        "collective_write",
    )
    assert "precreate has no effect with format posix" in result.err
    assert "collective_write has no effect with format posix" in result.err
    assert "Pre-create:                     0\n" in result.out
    assert "Collective I/O:                 0\n" in result.out


FAKE_LFS = """#!/bin/sh
printf '%s\\n' "$*" >> "$LFS_LOG"
case $1 in
setstripe)
    [ -z "$LFS_FAIL" ] || { echo "error: setstripe: cannot do this" >&2; exit 22; }
    for file; do :; done
    [ ! -e "$file" ] || { echo "file exists" >&2; exit 17; }
    : > "$file" && stat -c %i "$file" >> "$LFS_LOG" ;;
getstripe) [ "$2" = -c ] && echo 2 || echo 1048576 ;;
esac
"""


@pytest.fixture
def lfs(tmp_path):
    """A stand-in for Lustre's tool that creates the file, as the true one does."""
    folder = tmp_path / "bin"
    folder.mkdir()
    tool = folder / "lfs"
    tool.write_text(FAKE_LFS)
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    work = tmp_path / "work"
    work.mkdir()
    env = {"PATH": f"{folder}:{os.environ['PATH']}", "LFS_LOG": str(tmp_path / "log")}
    return work, env, tmp_path / "log"


KERNELS = {
    "seism": ("processor=2x1x1", "domain=4x4x4", "time=1"),
    "slab": ("n1=20", "n2=4"),
    "particle": ("dim_1=16",),
}
STRIPED = [
    *(("seism", form, []) for form in ("hdf5", "netcdf4", "pnetcdf", "posix", "mpiio")),
    ("seism", "hdf5", ["precreate"]),
    ("slab", "hdf5", []), ("slab", "netcdf4", []), ("slab", "pnetcdf", []),
    ("particle", "hdf5", []), ("particle", "mpiio", []),
]  # fmt: skip


@pytest.mark.parametrize("kernel, form, more", STRIPED)
def test_striping_is_set_at_creation_without_a_shell(lfs, kernel, form, more):
    folder, env, log = lfs
    name = "-a $(touch pwned) b.h5"
    result = good(
        folder,
        2,
        *KERNELS[kernel],
        f"format={form}",
        "lfs_stripe_count=2",
        "lfs_stripe_size=1048576",
        f"filename={name}",
        "verify",
        *more,
        env=env,
        program=BUILD / f"bin/tailrace-{kernel}",
    )
    lines = log.read_text().splitlines()
    assert lines[0] == f"setstripe -c 2 -S 1048576 {folder}/{name}.part"
    # The file that lfs created is the one that was written: striping is a property of it.
    assert int(lines[1]) == (folder / name).stat().st_ino
    assert result.records[-1]["context"]["striping"] == {
        "stripe_count": "2",
        "stripe_size_bytes": "1048576",
    }
    assert "stripe_count=2" in result.out
    assert not (folder / "pwned").exists()


def test_striping_that_fails_is_an_error_with_its_text(lfs):
    folder, env, _ = lfs
    result = run(
        folder,
        2,
        "processor=2x1x1",
        "domain=4x4x4",
        "time=1",
        "lfs_stripe_count=2",
        env={**env, "LFS_FAIL": "1"},
    )
    assert result.code == 1 and result.codes == [1, 1]
    assert "cannot do this" in result.err and "status 22" in result.err
    assert "seism-test.h5" not in seen(folder)


def test_striping_without_lustre_is_one_message(tmp_path):
    result = good(
        tmp_path,
        2,
        "processor=2x1x1",
        "domain=4x4x4",
        "time=1",
        "lfs_stripe_count=2",
        env={"PATH": os.environ["PATH"]},
    )
    assert result.err.count("lfs") == 1
