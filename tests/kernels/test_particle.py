# SPDX-License-Identifier: Apache-2.0
"""tailrace-particle: every element where h5bench puts it, its input files, its block of results."""

import itertools
import json
import re

import h5py
import numpy as np
import pytest
from seism_tool import BUILD, OPEN_MPI, ROMIO, good, run, seen
from tailrace_cli import tailrace

TOOL = BUILD / "bin/tailrace-particle"
VARIABLES = ["x", "y", "z", "px", "py", "pz", "id_1", "id_2"]
ROMIO_ARGUMENTS = ["--mca", "io", ROMIO] if ROMIO else []


def numbers(step, variable, shape):
    """The upper 24 bits of the SplitMix64 finaliser of the element's number in the file."""
    count = int(np.prod(shape))
    z = np.arange(count, dtype="u8") + np.uint64((8 * step + variable) * count)
    z += np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(40)).reshape(shape)


def values(step, variable, shape):
    found = numbers(step, variable, shape)
    return found if variable == 6 else found * 2.0**-24


def check(path, shape, steps, *, interleaved=False, written=None):
    """Element by element, with h5py alone; `written`: which particles are not in a gap."""
    here = np.ones(shape, bool) if written is None else written
    with h5py.File(path) as file:
        assert sorted(file) == sorted(f"Timestep_{t}" for t in range(steps))
        for step in range(steps):
            group = file[f"Timestep_{step}"]
            assert sorted(group) == (["particles"] if interleaved else sorted(VARIABLES))
            for number, name in enumerate(VARIABLES):
                found = group["particles"][name] if interleaved else group[name][...]
                kind = "i4" if name == "id_1" else "f4"
                assert found.dtype == np.dtype(kind), name
                expected = np.where(here, values(step, number, shape), 0)
                np.testing.assert_array_equal(found, expected, f"{name} of step {step}")


def particle(folder, ranks, *words, **more):
    return good(folder, ranks, *words, program=TOOL, **more)


def shape_of(ranks, dims):
    return (dims[0] * ranks, *dims[1:])


CONTIG = [
    (1, [1], 1, ()),
    (3, [7], 3, ("collective_data=yes", "collective_metadata=yes")),
    (5, [3, 5], 2, ("mem_pattern=interleaved", "collective_data=no")),
    (4, [2, 3, 4], 2, ("collective_data=yes", "precreate")),
]


@pytest.mark.parametrize(("ranks", "dims", "steps", "words"), CONTIG)
def test_contiguous_files(tmp_path, ranks, dims, steps, words):
    extents = [f"dim_{d + 1}={n}" for d, n in enumerate(dims)]
    ran = particle(
        tmp_path, ranks, f"timesteps={steps}", f"num_dims={len(dims)}", *extents, *words,
        "read_option=full", "read=same", "read_back", "verify",
    )  # fmt: skip
    check(tmp_path / "test.h5", shape_of(ranks, dims), steps)
    record = ran.records[0]
    elements = 8 * steps * int(np.prod(shape_of(ranks, dims)))
    assert record["kernel"] == "particle" and record["verification"]["status"] == "passed"
    assert record["bytes"]["logical"] == record["read_back"]["bytes"] == 4 * elements
    assert [r["pattern"] for r in record["reads"]] == ["same", "full"]
    assert all(r["wrong"] == 0 and r["elements"] == elements for r in record["reads"])
    assert len(record["steps"]) == steps and ("pack" in record["phases"]) == (ranks == 5)
    if "collective_data=yes" in words and ranks > 1:
        # ROMIO may let each rank write its own bytes; then nothing tells that it was together.
        actual = record["transfers"]["collective_actual"]
        alone = "every rank wrote exactly its own bytes"
        assert actual or (alone in record["transfers"]["no_collective_cause"] and not OPEN_MPI)
    assert tailrace("verify", tmp_path / "test.h5").expect(0)


@pytest.mark.parametrize("memory", ["contig", "interleaved"])
def test_interleaved_files(tmp_path, memory):
    mpi = ROMIO_ARGUMENTS if memory == "contig" else ()
    particle(
        tmp_path, 3, "timesteps=2", "num_dims=2", "dim_1=4", "dim_2=3", "file_pattern=interleaved",
        f"mem_pattern={memory}", "collective_data=yes", "verify", mpi=mpi,
    )  # fmt: skip
    check(tmp_path / "test.h5", (12, 3), 2, interleaved=True)
    tailrace("verify", tmp_path / "test.h5").expect(0)


def test_interleaved_files_take_few_calls(tmp_path):
    """1 MiB of particles on each of 2 ranks: h5bench's own calls (a variable at a time, through
    HDF5's buffer) in HDF5, large pieces elsewhere; nowhere one call per number."""
    words = ("dim_1=32768", "file_pattern=interleaved", "collective_data=no", "verify")
    for kind, most in (("hdf5", 8 * 2), ("mpiio", 2), ("posix", 2), ("netcdf4", 2)):
        record = particle(tmp_path, 2, *words, f"format={kind}").records[-1]
        phases = [one["by_phase"]["write"] for one in record["writers"]["list"]]
        assert all(one["calls"] <= most for one in phases), (kind, phases)
        assert ("pack" in record["phases"]) == (kind != "hdf5")
        assert record["verification"]["status"] == "passed", kind
    assert sum(one["calls"] for one in phases) >= 2, "they are counted"


def test_compressed_interleaved_files_are_put_together_first(tmp_path):
    """HDF5 converts no compounds through filters in a parallel file."""
    particle(
        tmp_path, 3, "timesteps=2", "num_dims=2", "dim_1=4", "dim_2=3", "file_pattern=interleaved",
        "compress=yes", "chunk_dim_1=4", "chunk_dim_2=3", "verify",
    )  # fmt: skip
    check(tmp_path / "test.h5", (12, 3), 2, interleaved=True)


def strided(ranks, particles, stride, size, count):
    own = np.arange(ranks * particles) % particles
    return (own % stride < size) & (own // stride < count)


STRIDED = ["file_pattern=strided", "dim_1=10", "stride_size=4", "block_size=2", "block_cnt=2"]


@pytest.mark.parametrize("mpi", [(), tuple(ROMIO_ARGUMENTS)])
def test_strided_files(tmp_path, mpi):
    ran = particle(
        tmp_path, 3, "timesteps=2", *STRIDED, "read_option=strided", "read_back", "verify",
        "collective_data=yes", mpi=mpi,
    )  # fmt: skip
    check(tmp_path / "test.h5", (30,), 2, written=strided(3, 10, 4, 2, 2))
    record = ran.records[0]
    assert record["bytes"]["logical"] == 3 * 4 * 8 * 2 * 4
    assert record["verification"]["elements"] == 30 * 8 * 2
    assert record["reads"][0]["elements"] == 3 * 4 * 8 * 2
    tailrace("verify", tmp_path / "test.h5").expect(0)


@pytest.mark.parametrize("form", ["mpiio", "posix", "posix-per-rank"])
def test_other_formats(tmp_path, form):
    words = ["timesteps=2", "dim_1=9", "mem_pattern=interleaved"]
    ran = run(tmp_path, 2, *words, f"format={form}", "verify", "read_option=partial",
              "to_read_num_particles=4", program=TOOL)  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.records[0]["reads"][0]["elements"] == 2 * 4 * 8 * 2
    tailrace("verify", tmp_path / "test.h5").expect(0)


def configuration(**keys):
    return {"MEM_PATTERN": "CONTIG", "FILE_PATTERN": "CONTIG", "TIMESTEPS": "2", "NUM_DIMS": "1",
            "DIM_1": "1 K", "DIM_2": "1", "DIM_3": "1", "MODE": "SYNC"} | keys  # fmt: skip


def h5bench(*benchmarks, **sections):
    return {
        "mpi": {"command": "mpirun", "ranks": "4"}, "vol": {}, "file-system": {}, "directory": ".",
        "benchmarks": list(benchmarks),
    } | sections  # fmt: skip


def benchmark(kind, **keys):
    return {"benchmark": kind, "file": "bench.h5", "configuration": configuration(**keys)}


def test_a_configuration_file_of_h5bench(tmp_path):
    """A write and a read as in its sample, with some emulated computation between the steps."""
    blocks = {"STRIDE_SIZE": "4", "BLOCK_SIZE": "2", "BLOCK_CNT": "8"}
    file = h5bench(
        benchmark("write", FILE_PATTERN="STRIDED", COLLECTIVE_DATA="YES", CSV_FILE="o.csv",
                  EMULATED_COMPUTE_TIME_PER_TIMESTEP="20 ms", **blocks),
        benchmark("read", FILE_PATTERN="STRIDED", READ_OPTION="STRIDED", COLLECTIVE_DATA="NO",
                  **blocks),
        {"benchmark": "amrex", "configuration": {}},
    )  # fmt: skip
    (tmp_path / "b.json").write_text(json.dumps(file, indent=2))
    ran = particle(tmp_path, 2, "--input", "b.json")
    check(tmp_path / "bench.h5", (2048,), 2, written=strided(2, 1024, 4, 2, 8))
    assert 'the benchmark "amrex" has no effect here (b.json:' in ran.err
    assert ran.err.count("COLLECTIVE_DATA of the read, which is done as the write") == 1
    block = dict(re.findall(r"^(.+?): +(.+)$", ran.out, re.M))
    written = 2 * 16 * 8 * 4 * 2
    assert block["Total write size"].endswith(f"GB ({written} bytes)")
    assert block["Total number of ranks"] == "2"
    emulated = re.findall(r"^Total emulated compute time: +(.+)$", ran.out, re.M)
    assert emulated == ["0.02 s", "0 s"]
    order = [
        "Performance Results", "Total number of ranks", "Total emulated compute time",
        "Total write size", "Raw write time", "Metadata time", "H5Fcreate() time",
        "H5Fflush() time", "H5Fclose() time", "Observed completion time", "SYNC Raw write rate",
        "SYNC Observed write rate", "Total read size", "Raw read time",
        "Observed read completion time", "SYNC Raw read rate", "SYNC Observed read rate",
    ]  # fmt: skip
    at = [ran.out.index(label) for label in order]
    assert at == sorted(at)
    seconds = float(block["Observed completion time"].split()[0])
    record = ran.records[0]
    assert seconds >= record["elapsed"]["durable_s"] + 0.019
    assert record["steps"][1]["compute_s"]["min"] >= 0.02


def rows_of(path):
    head, *rows = [line.split(", ") for line in path.read_text().splitlines()]
    assert head == ["metric", "value", "unit"] and all(len(row) == 3 for row in rows)
    return [(metric, value, unit) for metric, value, unit in rows]


def test_the_folder_and_the_tables_of_h5bench_are_made(tmp_path):
    file = h5bench(
        benchmark("write", CSV_FILE="w.csv"), benchmark("read", CSV_FILE="r.csv"), directory="a/b"
    )
    (tmp_path / "b.json").write_text(json.dumps(file))
    particle(tmp_path, 2, "--input", "b.json", "--dry-run")
    assert not (tmp_path / "a").exists()
    record = particle(tmp_path, 2, "--input", "b.json").records[0]
    check(tmp_path / "a/b/bench.h5", (2048,), 2)
    written, read = (rows_of(tmp_path / f"a/b/{name}.csv") for name in "wr")
    assert [row[0] for row in written] == [row[0] for row in read] == [
        "operation", "ranks", "collective data", "collective meta", "subfiling",
        "total compute time", "total size", "raw time", "raw rate", "metadata time",
        "observed rate", "observed time",
    ]  # fmt: skip
    assert written[0] == ("operation", "write", "") and read[0] == ("operation", "read", "")
    assert written[6] == read[6] == ("total size", str(record["bytes"]["logical"]), "B")
    assert float(written[7][1]) == pytest.approx(record["elapsed"]["write_s"], rel=1e-4)
    assert float(read[7][1]) == pytest.approx(record["reads"][0]["elapsed_s"], rel=1e-4)
    particle(tmp_path, 2, "--input", "b.json", "read_csv_file=a/b/w.csv")
    both = rows_of(tmp_path / "a/b/w.csv")
    assert [row[1] for row in both if row[0] == "operation"] == ["write", "read"]


def test_a_folder_or_a_table_that_cannot_be_made(tmp_path):
    (tmp_path / "x").write_text("a file")
    (tmp_path / "b.json").write_text(json.dumps(h5bench(benchmark("write"), directory="x/y")))
    result = run(tmp_path, 2, "--input", "b.json", program=TOOL)
    assert result.codes == [2, 2] and "x/y: the folder cannot be made" in result.err


def test_keys_of_the_reader_do_not_stop_a_write(tmp_path):
    keys = {"BLOCK_SIZE_2": "4", "STRIDE_SIZE_2": "8", "READ_OPTION": "LDC"}
    (tmp_path / "b.json").write_text(json.dumps(h5bench(benchmark("write", **keys))))
    ran = particle(tmp_path, 2, "--input", "b.json")
    check(tmp_path / "bench.h5", (2048,), 2)
    for text in ("block_size_2 has no effect", "READ_OPTION ldc of the write has no effect"):
        assert ran.err.count(text) == 1, ran.err


def test_a_read_in_a_pattern_that_is_not_ours_does_not_stop_the_write(tmp_path):
    """As in four of h5bench's samples: the write and the read share a file."""
    for pattern, keys in {
        "LDC": {"BLOCK_SIZE": "1", "BLOCK_SIZE_2": "1"},
        "RDC": {"BLOCK_SIZE": "1", "BLOCK_SIZE_2": "1"},
        "PRL": {"BLOCK_SIZE": "1", "BLOCK_SIZE_2": "1", "BLOCK_SIZE_3": "1"},
        "CS": {"BLOCK_SIZE": "2", "BLOCK_SIZE_2": "2", "STRIDE_SIZE": "4", "STRIDE_SIZE_2": "3"},
    }.items():
        size = {"NUM_DIMS": "2", "DIM_1": "32", "DIM_2": "32", "CSV_FILE": "o.csv"}
        read = benchmark("read", READ_OPTION=pattern, **size, **keys)
        (tmp_path / "b.json").write_text(json.dumps(h5bench(benchmark("write", **size), read)))
        ran = particle(tmp_path, 2, "--input", "b.json")
        check(tmp_path / "bench.h5", (64, 32), 2)
        text = f'the benchmark "read" in the pattern {pattern} has no effect here (b.json:1)'
        assert ran.err.count(text) == 1 and ran.records[-1]["reads"] == [], ran.err
        assert [row[1] for row in rows_of(tmp_path / "o.csv")][:1] == ["write"]
    (tmp_path / "old.cfg").write_text("DIM_1=8\nREAD_OPTION=LDC\nBLOCK_SIZE_2=1\n")
    ran = particle(tmp_path, 1, "--input", "old.cfg")
    assert "READ_OPTION LDC has no effect here (old.cfg:2)" in ran.err


def test_a_partial_read_without_a_number_reads_all(tmp_path):
    """As h5bench does, in its own sample."""
    file = h5bench(benchmark("write"), benchmark("read", READ_OPTION="PARTIAL"))
    (tmp_path / "b.json").write_text(json.dumps(file))
    read = particle(tmp_path, 2, "--input", "b.json").records[0]["reads"][0]
    assert (read["pattern"], read["elements"]) == ("full", 2048 * 8 * 2)


def test_the_command_line_overrides_the_file_under_either_name(tmp_path):
    keys = {"EMULATED_COMPUTE_TIME_PER_TIMESTEP": "60 s", "COLLECTIVE_DATA": "YES", "ALIGN": "YES",
            "ALIGN_LEN": "4096"}  # fmt: skip
    (tmp_path / "b.json").write_text(json.dumps(h5bench(benchmark("write", **keys))))
    ran = particle(
        tmp_path, 2, "--input", "b.json", "compute=0", "collective_write=0", "alignment=8192"
    )
    now = ran.records[0]["configuration"]
    assert not now["collective_write"] and now["alignment"] == ["8192"], now
    assert now["emulated_compute_time_per_timestep"] is None
    assert "Total emulated compute time:    0 s" in ran.out
    same = ("compute=0", "emulated_compute_time_per_timestep=1")
    assert "two names for one thing" in run(tmp_path, 1, "dim_1=4", *same, program=TOOL).err


def test_compressed_as_h5bench_does_it(tmp_path):
    """Its level 9 and its chunks, under the key of its newer versions too."""
    keys = {"COMPRESS": "YES", "COMPRESS_FILTER": "GZIP", "CHUNK_DIM_1": "256"}
    (tmp_path / "b.json").write_text(json.dumps(h5bench(benchmark("write", **keys))))
    ran = particle(tmp_path, 2, "--input", "b.json", "verify")
    check(tmp_path / "bench.h5", (2048,), 2)
    with h5py.File(tmp_path / "bench.h5") as file:
        datasets = [file[name] for step in file for name in (f"{step}/x", f"{step}/id_1")]
        for dataset in datasets:
            assert (dataset.compression, dataset.compression_opts) == ("gzip", 9)
            assert dataset.chunks == (256,)
    assert ran.records[0]["verification"]["status"] == "passed"


BAD = [
    ({"TIMESTEP": "2"}, 'unknown key "timestep". Did you mean "timesteps"?'),
    ({"MODE": "ASYNC"}, "would change what is measured"),
    ({"MEM_PATTERN": "STRIDED"}, '"strided"'),
    ({"DIM_1": "many"}, "is not a whole number"),
    ({"DIM_1": "16\ntimesteps 4"}, "a text without control characters"),
    ({"STDEV_DIM_1": "3"}, "write_var_normal_dist"),
    ({"DIM_2": "4"}, "num_dims is 1"),
    ({"ALIGN": "YES"}, "needs align_len"),
    ({"COMPRESS": "YES"}, "no chunk_dim_1"),
    ({"COMPRESS": "YES", "COMPRESS_FILTER": "SZIP", "CHUNK_DIM_1": "64"}, '"SZIP" is not at hand'),
    ({"COMPRESS": "YES", "CHUNK_DIM_1": "4096"}, "the file has 1024"),
]


def test_bad_files_name_the_line_and_write_nothing(tmp_path):
    for keys, text in BAD:
        (tmp_path / "b.json").write_text(json.dumps(h5bench(benchmark("write", **keys)), indent=1))
        ran = run(tmp_path, 0, "--input", "b.json", program=TOOL)
        assert ran.code == 2 and text in ran.err and "b.json:" in ran.err, (keys, ran.err)
        assert "hint:" in ran.err and seen(tmp_path) == ["b.json"]


def test_a_plane_of_particles_in_a_row_is_refused_before_anything_is_written(tmp_path):
    (tmp_path / "p.h5").write_bytes(b"precious")
    words = ("dim_1=16", "read=same plane", "filename=p.h5")
    for mode in (["--dry-run"], []):
        ran = run(tmp_path, 2, *mode, *words, program=TOOL)
        assert ran.codes == [2, 2] and "which has one dimension" in ran.err, ran.err
    assert seen(tmp_path) == ["p.h5"] and (tmp_path / "p.h5").read_bytes() == b"precious"


@pytest.mark.parametrize("form", ["hdf5", "posix"])
def test_a_file_for_each_rank(tmp_path, form):
    """As in the published demonstration: one dimension, strided, a file for each process."""
    blocks = {"STRIDE_SIZE": "4", "BLOCK_SIZE": "2", "BLOCK_CNT": "5", "DIM_1": "20"}
    file = h5bench(benchmark("write", FILE_PATTERN="STRIDED", FILE_PER_PROC="YES", **blocks))
    (tmp_path / "b.json").write_text(json.dumps(file, indent=2))
    ran = particle(tmp_path, 3, "--input", "b.json", f"format={form}", "verify", "read_back",
                   "read=shuffled", "read_option=full", "repeat=1")  # fmt: skip
    names = [f"rank_{rank}_bench.h5" for rank in range(3)]
    assert [name for name in seen(tmp_path) if name.startswith("rank")] == names
    assert not (tmp_path / "bench.h5").exists()
    record = ran.records[1]
    assert record["bytes"]["logical"] == 3 * 10 * 8 * 4 * 2
    assert record["verification"]["elements"] == 60 * 8 * 2
    assert record["verification"]["status"] == "passed"
    assert [w["rank"] for w in record["writers"]["list"]] == [0, 1, 2]
    if form == "hdf5":
        here = strided(1, 20, 4, 2, 5)
        for rank, name in enumerate(names):
            with h5py.File(tmp_path / name) as one:
                assert one.attrs["file_of_rank"] == rank
                for step, number in itertools.product(range(2), range(8)):
                    found = one[f"Timestep_{step}/{VARIABLES[number]}"][...]
                    whole = values(step, number, (60,))[20 * rank : 20 * rank + 20]
                    np.testing.assert_array_equal(found, np.where(here, whole, 0))
    tailrace("verify", "--each", *(tmp_path / name for name in names)).expect(0)
    if form == "hdf5":
        with h5py.File(tmp_path / names[1], "r+") as one:
            one.attrs["file_of_rank"] = np.uint64(2)
        tailrace("verify", tmp_path / names[1]).expect(3)
    refused = run(tmp_path, 0, "file_per_proc=yes", "results=rank_0_test.h5", program=TOOL)
    assert refused.code == 2 and "the file of rank 0" in refused.err
    refused = run(tmp_path, 0, "file_per_proc=yes", "format=posix-per-rank", program=TOOL)
    assert refused.code == 2 and "writes several files" in refused.err


@pytest.mark.parametrize(
    "fault", ["op=write,phase=write,errno=ENOSPC", "op=rename,errno=EIO", "op=fsync,errno=EIO"]
)
def test_where_one_rank_s_file_fails_there_is_none(tmp_path, fault):
    (tmp_path / "rank_0_test.h5").write_bytes(b"precious")
    words = ["timesteps=2", "dim_1=64", "file_per_proc=yes", "format=posix"]
    rule = fault.replace(",", ",path=*/rank_1_test.h5*,", 1)
    ran = run(tmp_path, 3, *words, program=TOOL, env={"TAILRACE_FAULT": rule})
    assert ran.codes == [1, 1, 1] and len(ran.errors) == 1, ran.err
    assert "rank_1_test.h5" in ran.err and "hint:" in ran.err
    assert ran.records[-1]["status"] == "failed"
    left = seen(tmp_path)
    assert "results.jsonl" in left and set(left) <= {"results.jsonl", "rank_0_test.h5"}
    if fault.startswith("op=write"):  # later the others may have taken the place of older files
        assert (tmp_path / "rank_0_test.h5").read_bytes() == b"precious"


def test_dry_run_repeat_and_limit(tmp_path):
    dry = run(tmp_path, 0, "--dry-run", "dim_1=64", program=TOOL)
    assert dry.code == 0 and "nothing was written" in dry.out and seen(tmp_path) == []
    (tmp_path / "again.in").write_text(dry.out)
    ran = particle(tmp_path, 2, "--input", "again.in", "timesteps=2", "repeat=2", "limit",
                   "--progress")  # fmt: skip
    assert [r["warm_up"] for r in ran.records] == [True, False, False]
    assert ran.out.count("Performance Results") == 3 and "tailrace-progress:" in ran.out
    resumed = particle(tmp_path, 2, "--input", "again.in", "timesteps=2", "repeat=2", "limit",
                       "--resume")  # fmt: skip
    assert "nothing to do" in resumed.out
