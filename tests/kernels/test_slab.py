# SPDX-License-Identifier: Apache-2.0
"""tailrace-slab: every element by readers that share nothing with us, the classic command line,
hints in both syntaxes, what is refused, and who wrote."""

import re
import subprocess

import h5py
import numpy as np
import pytest
from own_namespace import not_run, small_disk
from seism_tool import BUILD, OPEN_MPI, ROMIO, Result, environment, good, raw_values, run, seen
from seism_tool import command as command_of

SLAB = BUILD / "bin/tailrace-slab"
MPI_IO = [()] + ([("--mca", "io", ROMIO)] if ROMIO else [])
NAMES = {"long-fast": "dset_1", "long-slow": "dset_2", "short-split": "dset_3"}


def slab(folder, ranks, *arguments, **more):
    return good(folder, ranks, *arguments, program=SLAB, **more)


def refused(folder, ranks, *arguments, **more):
    result = run(folder, ranks, *arguments, program=SLAB, **more)
    assert len(result.errors) == 1, result.err
    return result


def position(number, dims):
    """The upper 53 bits of the SplitMix64 finaliser of the element's number in the file."""
    count = int(np.prod(dims))
    z = np.arange(number * count, (number + 1) * count, dtype="u8") + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(11)).astype("f8") * 2.0**-53).reshape(dims)


def dims_of(axis, n1, n2):
    return (n2, n1) if axis == "long-fast" else (n1, n2)


@pytest.mark.parametrize("mpi", MPI_IO, ids=["default", "romio"][: len(MPI_IO)])
@pytest.mark.parametrize("mode", ["T", "F"])
def test_the_original_s_pair(tmp_path, mpi, mode):
    result = slab(tmp_path, 4, "101", "7", mode, "verify", "read_back", mpi=mpi)
    with h5py.File(tmp_path / "output.h5") as file:
        np.testing.assert_array_equal(file["dset_1"][...], position(0, (7, 101)))
        np.testing.assert_array_equal(file["dset_2"][...], position(1, (101, 7)))
        assert file["dset_1"].dtype == "<f8" and file["dset_1"].chunks is None
        early = file["dset_1"].id.get_create_plist().get_alloc_time()
        assert early == h5py.h5d.ALLOC_TIME_EARLY
        assert dict(file.attrs)["kernel"] == "slab" and file.attrs["ranks"] == 4
    record = result.records[-1]
    assert record["kernel"] == "slab" and record["configuration"]["precreate"] is True
    assert record["transfers"]["collective_requested"] is (mode == "T")
    assert record["transfers"]["collective_actual"] is (mode == "T")
    assert record["bytes"]["logical"] == 2 * 707 * 8 and len(record["steps"]) == 2
    given = [writer["bytes_given"] for writer in record["writers"]["list"]]
    assert given == [2 * rows * 7 * 8 for rows in (26, 26, 26, 23)]
    assert "smallest contiguous piece:    184 bytes; 7 pieces on rank 0" in result.out
    rates = re.findall(r"write: +(\S+) s, +(\S+) GB/s \((\S+) GiB/s\)", result.out)
    assert len(rates) >= 2, result.out
    for seconds, decimal, binary in (map(float, one) for one in rates):
        assert decimal == pytest.approx(5656 / seconds / 1e9, rel=0.02)
        assert binary == pytest.approx(5656 / seconds / 2**30, rel=0.02)


@pytest.mark.parametrize("form", ["hdf5", "mpiio", "posix", "posix-per-rank"])
def test_every_axis_in_every_format(tmp_path, form):
    """13 x 3 on 5 ranks: of long-fast and long-slow the last has one row; of short-split two have
    none."""
    for axis, name in NAMES.items():
        words = ["n1=13", "n2=3", f"axis={axis}", f"format={form}", "filename=o"]
        reads = "read=same other plane points shuffled"
        record = slab(tmp_path, 5, *words, "verify", reads).records[-1]
        assert [one["wrong"] for one in record["reads"]] == [0] * 5
        assert [one["elements"] for one in record["reads"][:2]] == [39, 39]
        if form == "hdf5":
            with h5py.File(tmp_path / "o") as file:
                found = file[name][...]
        else:
            found = raw_f8(tmp_path / "o")
        np.testing.assert_array_equal(found, position(0, dims_of(axis, 13, 3)))


def raw_f8(path):
    return raw_values(path, "<f8")[0]


def test_fill_rank_is_the_original_s(tmp_path):
    slab(tmp_path, 3, "10", "4", "F", "fill=rank", "verify")
    owner = np.arange(10) // 4.0 // 1
    with h5py.File(tmp_path / "output.h5") as file:
        np.testing.assert_array_equal(file["dset_1"][...], np.tile(owner, (4, 1)))
        np.testing.assert_array_equal(file["dset_2"][...], np.tile(owner[:, None], (1, 4)))


def test_chunks_are_turned_with_the_dataset(tmp_path):
    slab(tmp_path, 2, "20", "6", "T", "chunk=5x2", "deflate=1", "verify")
    with h5py.File(tmp_path / "output.h5") as file:
        assert file["dset_1"].chunks == (2, 5) and file["dset_2"].chunks == (5, 2)
        assert file["dset_1"].compression == "gzip"


def test_hints_in_both_syntaxes(tmp_path):
    """What happens is counted: without collective buffering ROMIO lets every rank write."""
    if OPEN_MPI and not ROMIO:
        not_run("needs ROMIO, which this Open MPI does not have")
    mpi = MPI_IO[-1]
    cray = "*:romio_cb_write=disable:romio_ds_write=disable"
    base = ["4000", "8", "T", "axis=long-fast"]
    plain = slab(tmp_path, 4, *base, mpi=mpi).records[-1]
    assert plain["writers"]["ranks_that_wrote"] == 1
    runs = [
        ([f"hints={cray}"], {}),
        (["hint=romio_cb_write=disable", "hint=romio_ds_write=disable"], {}),
        ([], {"MPICH_MPIIO_HINTS": cray}),
        ([], {"TAILRACE_SLAB_HINTS": cray, "MPICH_MPIIO_HINTS": "*:romio_cb_write=enable"}),
    ]
    for words, env in runs:
        record = slab(tmp_path, 4, *base, *words, mpi=mpi, env=env).records[-1]
        asked = record["mpi_io"]["hints_requested"]
        assert asked == {"romio_cb_write": "disable", "romio_ds_write": "disable"}
        assert record["writers"]["ranks_that_wrote"] == 4


def test_what_is_refused_and_how(tmp_path):
    for words, text in (
        (["10", "2", "T", "F"], "T or F is given twice"),
        (["10", "2", "3"], 'a third number, "3"'),
        (["n1=0"], "n1"),
        (["axis=fast"], "axis"),
        (["10", "2", "chunk=11x1"], "a chunk of 11 x 1 is larger than the array, 10 x 2"),
        (["10", "2", "deflate=1", "collective_write"], "no chunk is given"),
        (["10", "2", "hints=cb_nodes=2"], "there is no hint in"),
        (["10", "2", "read=planes"], 'Did you mean "plane"?'),
        (["10", "2", "cold_cache"], "cold_cache without read"),
        (["99999999999", "99999999999"], "does not fit 64 bits"),
        (["10", "2", "page_allocation=4096", "libver=earliest"], "libver v18 have no pages"),
        (["10", "2", "page_allocation=4096", "libver=earliest v18"], "libver v18 have no pages"),
        (["10", "2", "format=pnetcdf", "unlimited"], "has 10 records where that has 2"),
        (["10", "2", "T", "format=netcdf4", "chunk=5x2", "shuffle", "endian=big"], "endian big"),
        (["10", "2", "T", "format=netcdf4", "quantize=bitround 5", "read=same"], "read compares"),
        (["10", "2", "T", "format=netcdf4", "quantize=bitround 5", "verify"], "verify compares"),
    ):
        result = refused(tmp_path, 2, *words)
        assert result.codes == [2, 2] and text in result.err, (words, result.err)
    assert seen(tmp_path) == []


def test_short_memory_and_short_disk_suggest_an_n1_that_fits(tmp_path):
    huge = refused(tmp_path, 2, "9000000000000", "50", "--dry-run")
    assert huge.codes == [2, 2] and "bytes of free memory" in huge.err
    fits = int(huge.err.split("hint: n1 ")[1].split()[0])
    assert 1 < fits < 9000000000000
    again = run(tmp_path, 2, str(fits), "50", "axis=long-slow", "--dry-run", program=SLAB)
    assert "bytes of free memory" not in again.err
    assert seen(tmp_path) == []


def test_a_disk_that_is_short_suggests_an_n1_that_fits_it(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["n2=5", "axis=long-slow", "format=mpiio", f"filename={disk}/o", "results=r.jsonl"]

    def on_small_disk(n1):
        command = [*small_disk(disk, 16 << 20), *command_of(2, [f"n1={n1}", *words], (), SLAB)]
        for old in tmp_path.glob(".code.*"):
            old.unlink()
        done = subprocess.run(command, cwd=tmp_path, env=environment(), timeout=60, text=True,
                              capture_output=True, check=False)  # fmt: skip
        return Result(done, tmp_path)

    short = on_small_disk(1_000_000)  # 40 MB
    assert short.codes == [2, 2] and "too little disk space" in short.err, short.err
    fits = int(re.search(r"\bn1 (\d+)", short.err.split("hint:")[1])[1])
    assert 50_000 < fits < 419_430  # 16 MiB of 40 bytes, and tmpfs holds what the ranks hold
    assert on_small_disk(fits).codes == [0, 0]


@pytest.mark.parametrize("form", ["hdf5", "netcdf4", "pnetcdf", "mpiio"])
def test_a_write_that_fails_ends_all_ranks(tmp_path, form):
    (tmp_path / "slab.out").write_bytes(b"precious")
    rule = "op=write,path=*/slab.out*,phase=write,short=100,errno=ENOSPC"
    words = ["n1=4000", "n2=5", "axis=long-slow", f"format={form}", "filename=slab.out"]
    result = refused(tmp_path, 3, *words, env={"TAILRACE_FAULT": rule})
    assert result.codes == [1, 1, 1] and "hint:" in result.err, result.err
    assert (tmp_path / "slab.out").read_bytes() == b"precious"
    assert seen(tmp_path) == ["results.jsonl", "slab.out"]


def test_without_arguments_the_published_size_is_planned(tmp_path):
    result = run(tmp_path, 1, "--dry-run", "n1=400000", program=SLAB)
    assert result.codes == [0], result.err
    assert "n1 400000" in result.out and "n2 50 " in result.out and "axis pair " in result.out
