# SPDX-License-Identifier: Apache-2.0
"""Records of Darshan as parts of a profile: dimensions, names, sums."""

from __future__ import annotations

import pytest

from tailrace.intent.darshan_datasets import datasets_by_file
from tailrace.intent.darshan_layers import mpiio, posix
from tailrace.intent.darshan_log import Json, Record
from tailrace.intent.darshan_names import joined_names, path_of, single_slashes
from tailrace.intent.darshan_numbers import process_text, sizes
from tailrace.intent.darshan_trace import Trace, timelines

FILE = 2**63 + 5  # an id that no signed 64-bit number holds


def h5d(identity: int, rank: int = -1, **counters: int) -> Record:
    named = {f"H5D_{name}": value for name, value in counters.items()}
    return Record(identity, rank, named, {}, {"file_rec_id": FILE})


def one_dataset(record: Record, name: str = "/f.h5:/x", ranks: int = 4) -> Json:
    names = {record.id: name, FILE: "/f.h5"}
    found, nameless = datasets_by_file([record], names, names, "H5D", ranks)
    assert nameless == 0
    (dataset,) = found["/f.h5"]
    return dataset


def test_lengths_count_from_d5_and_chunks_from_d1() -> None:
    record = h5d(
        2**64 - 1, WRITES=4, BYTES_WRITTEN=4 * 960, DATASPACE_NDIMS=3, DATASPACE_NPOINTS=480,
        DATATYPE_SIZE=8, ACCESS1_ACCESS=960, ACCESS1_COUNT=4, ACCESS1_LENGTH_D5=2,
        ACCESS1_LENGTH_D4=4, ACCESS1_LENGTH_D3=15, ACCESS1_STRIDE_D5=1, ACCESS1_STRIDE_D4=5,
        ACCESS1_STRIDE_D3=7, CHUNK_SIZE_D1=30, CHUNK_SIZE_D2=20, CHUNK_SIZE_D3=10,
    )  # fmt: skip
    dataset = one_dataset(record)
    (shape,) = dataset["writes"]["shapes"]
    assert shape["length"] == [2, 4, 15]
    assert shape["stride"] == [1, 5, 7]
    assert dataset["chunk"] == [10, 20, 30]
    assert "reads" not in dataset


def test_a_whole_transfer_leaves_no_length_and_is_known_by_its_bytes() -> None:
    record = h5d(1, WRITES=1, BYTES_WRITTEN=800, DATASPACE_NDIMS=2, DATASPACE_NPOINTS=100,
                 DATATYPE_SIZE=8, ACCESS1_ACCESS=800, ACCESS1_COUNT=1)  # fmt: skip
    dataset = one_dataset(record)
    assert dataset["writes"]["shapes"] == [{"selection": "all", "calls": 1, "call_bytes": 800}]
    assert dataset["writes"]["whole"] == 1
    assert "dims" not in dataset  # two extents with product 100: not known


def test_more_than_five_dimensions_have_no_lengths() -> None:
    record = h5d(1, READS=1, BYTES_READ=80, DATASPACE_NDIMS=6, DATASPACE_NPOINTS=100,
                 DATATYPE_SIZE=8, ACCESS1_ACCESS=80, ACCESS1_COUNT=1, ACCESS1_LENGTH_D5=10,
                 CHUNK_SIZE_D1=4)  # fmt: skip
    dataset = one_dataset(record)
    assert dataset["ndims"] == 6
    assert "length" not in dataset["reads"]["shapes"][0]
    assert "chunk" not in dataset


def test_a_length_that_does_not_fit_its_bytes_is_not_taken() -> None:
    record = h5d(1, READS=1, BYTES_READ=80, DATASPACE_NDIMS=1, DATASPACE_NPOINTS=100,
                 DATATYPE_SIZE=8, ACCESS1_ACCESS=80, ACCESS1_COUNT=1,
                 ACCESS1_LENGTH_D5=11)  # fmt: skip
    (shape,) = one_dataset(record)["reads"]["shapes"]
    assert shape["selection"] == "not known"
    assert "length" not in shape


def test_reads_and_writes_share_their_shapes() -> None:
    record = h5d(1, READS=1, WRITES=1, BYTES_READ=80, BYTES_WRITTEN=80, DATASPACE_NDIMS=1,
                 DATASPACE_NPOINTS=100, DATATYPE_SIZE=8, ACCESS1_ACCESS=80, ACCESS1_COUNT=2,
                 ACCESS1_LENGTH_D5=10)  # fmt: skip
    dataset = one_dataset(record)
    assert dataset["shapes"][0]["calls"] == 2
    assert "shapes" not in dataset["reads"]


def test_the_collective_flag() -> None:
    yes = one_dataset(h5d(1, WRITES=3, USE_MPIIO_COLLECTIVE=1))
    assert yes["requested_collective"] is True
    assert "requested_collective" not in yes["writes"]  # how many of them is not known
    no = one_dataset(h5d(1, WRITES=3, USE_MPIIO_COLLECTIVE=0))
    assert no["writes"]["requested_independent"] == 3


def test_records_of_ranks_are_summed_and_one_dataset_under_two_names_joined() -> None:
    records = [
        h5d(1, 0, WRITES=1, BYTES_WRITTEN=80, DATASPACE_NDIMS=1, DATATYPE_SIZE=8),
        h5d(2, 1, WRITES=2, BYTES_WRITTEN=160, DATASPACE_NDIMS=1, DATATYPE_SIZE=8),
    ]
    names = {1: "/f.h5:/grpx", 2: "/f.h5://grp/x", FILE: "/f.h5"}
    found, _ = datasets_by_file(records, names, names, "H5D", 4)
    (dataset,) = found["/f.h5"]
    assert (dataset["path"], dataset["names"]) == ("/grp/x", ["/grpx"])
    assert dataset["writes"]["calls"] == 3
    assert dataset["processes"] == "0-1"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"/grpx": 1, "/grp/x": 1}, [["/grp/x", "/grpx"]]),
        ({"/grpx": 1, "/grp/x": 2}, [["/grp/x"], ["/grpx"]]),  # other types
        ({"/a/bc": 1, "/ab/c": 1}, [["/a/bc"], ["/ab/c"]]),  # neither has the other's slashes
        ({"/a/bc": 1, "/ab/c": 1, "/abc": 1}, [["/a/bc"], ["/ab/c"], ["/abc"]]),  # which?
        ({"/a/b/c": 1, "/a/bc": 1, "/abc": 1}, [["/a/b/c", "/a/bc", "/abc"]]),
    ],
)
def test_which_names_are_one(names: dict[str, int], expected: list[list[str]]) -> None:
    assert joined_names(names) == expected


def test_paths_of_records() -> None:
    assert path_of("/a:b/f.h5://g/x", "/a:b/f.h5") == ("/a:b/f.h5", "/g/x")
    assert path_of("/f.h5:/x", None) == ("/f.h5", "/x")
    assert path_of(None, "/f.h5") is None
    assert single_slashes("//g///x/") == "/g/x"
    assert single_slashes("") == "/"


def test_posix_counters() -> None:
    counters = {
        "POSIX_OPENS": 2, "POSIX_READS": 0, "POSIX_WRITES": 10, "POSIX_BYTES_WRITTEN": 2**40,
        "POSIX_SIZE_WRITE_100K_1M": 10, "POSIX_ACCESS1_ACCESS": 1 << 20, "POSIX_ACCESS1_COUNT": 10,
        "POSIX_FSYNCS": -1, "POSIX_FDSYNCS": 3, "POSIX_MEM_ALIGNMENT": 8,
    }  # fmt: skip
    times = {"POSIX_F_WRITE_START_TIMESTAMP": 0.0, "POSIX_F_WRITE_END_TIMESTAMP": 2.0}
    layer = posix([Record(FILE, 0, counters, times), Record(FILE, 1, counters, times)])
    assert layer["opens"] == 4
    assert layer["syncs"] == 6  # -1 is: not counted
    assert layer["writes"]["bytes"] == 2**41
    assert layer["writes"]["sizes"] == [{"from_bytes": 102401, "below_bytes": 1048577, "calls": 20}]
    assert layer["writes"]["frequent"] == [{"bytes": 1 << 20, "calls": 20}]
    assert layer["writes"]["active"] == {"start_s": 0.0, "end_s": 2.0}
    assert "active" not in layer["reads"]
    assert "seeks" not in layer


def test_a_communicator_is_known_of_files_opened_by_all() -> None:
    shared = Record(1, -1, {"MPIIO_COLL_OPENS": 8, "MPIIO_INDEP_READS": 0}, {})
    assert mpiio([shared], 8)["communicator_size"] == 8
    single = Record(1, 3, {"MPIIO_COLL_OPENS": 1, "MPIIO_INDEP_READS": 0}, {})
    assert "communicator_size" not in mpiio([single], 8)


def test_a_trace_tells_the_order() -> None:
    def segments(*offsets: int) -> list[Json]:
        return [{"offset": at, "length": 10, "start_time": k, "end_time": k}
                for k, at in enumerate(offsets)]  # fmt: skip

    trace = Trace()
    trace.add([
        {"id": 1, "rank": 0, "hostname": "n0", "read_segments": [],
         "write_segments": segments(0, 10, 20, 100, 180, 260, 260, 5)},
        {"id": 1, "rank": 1, "hostname": "n1", "read_segments": [], "write_segments": []},
    ])  # fmt: skip
    assert trace.order(1, "write") == {
        "sequential": 2, "strided": 3, "random": 1, "repeated": 1, "step": [80]
    }  # fmt: skip
    assert trace.order(1, "read") is None
    assert trace.hosts == {0: "n0", 1: "n1"}


def test_timelines_are_summed_and_folded() -> None:
    records = [{"id": 7, "nbins": 600, "bin_width_seconds": 0.5,
                "read_bins": [0] * 600, "write_bins": [1] * 600}] * 2  # fmt: skip
    (line,) = timelines(records, {7: "heatmap:POSIX"})
    assert line["layer"] == "posix"
    assert line["bin_s"] == 2.0
    assert sum(line["written_bytes"]) == 1200
    assert len(line["written_bytes"]) == 150
    assert line["read_bytes"] == []


def test_numbers() -> None:
    assert process_text([3, 1, 2, 7, 7]) == "1-3,7"
    assert process_text([]) == ""
    assert sizes([], "POSIX_SIZE_READ") == []
