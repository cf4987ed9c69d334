# SPDX-License-Identifier: Apache-2.0
"""Chunks that ranks encode by themselves, subfiles made into one file, file space in pages: seen by
an HDF5 of its own (h5py), by exit codes and in the Records."""

import re

import h5py
import hdf5plugin
import numpy as np
import pytest
from seism_tool import good, position_values, run, seen

GRID, DOMAIN, STEPS = (2, 1, 1), (15, 8, 8), 2
RUN = ["processor=2x1x1", "domain=15x8x8", "time=2", "fill=position"]
PLUGINS = {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}


def values_of(path):
    with h5py.File(path) as file:
        return file["chunked"][...]


def settings(result):
    return result.records[-1]["file"]["settings"]


def test_ranks_encode_through_a_plugin_and_another_library_reads(tmp_path):
    # 30 cells in chunks of 10: the middle one has parts of both ranks.
    result = good(
        tmp_path, 2, *RUN, "chunk=10x8x8", "encode=ranks", "shuffle", "zstd=3", "fletcher32",
        "verify", "read_back", "collective_write", env=PLUGINS,
    )  # fmt: skip
    assert np.array_equal(
        values_of(tmp_path / "seism-test.h5"), position_values(GRID, DOMAIN, STEPS)
    )
    with h5py.File(tmp_path / "seism-test.h5") as file:
        filters = file["chunked"].id.get_create_plist()
        numbers = [filters.get_filter(at)[0] for at in range(filters.get_nfilters())]
        assert numbers == [2, 32015, 3]
        assert filters.get_filter(1)[2] == (3,)
    assert settings(result)["chunks_encoded"] == "6"
    assert settings(result)["chunks_put_together"] == "2"
    assert "0 wrong" in result.out
    assert "collective_write, with encode ranks, has no effect" in result.err
    record = result.records[-1]
    ratio = float(re.search(r"^Compression: +(\S+) \(bytes logical by", result.out, re.M)[1])
    sizes = record["bytes"]
    assert ratio == pytest.approx(sizes["logical"] / sizes["stored"], rel=1e-3)
    assert record["transfers"]["collective_actual"] is False
    assert {"encode", "exchange", "allocate", "write"} <= set(record["phases"])
    assert all(w["by_phase"]["write"]["bytes_done"] > 0 for w in record["writers"]["list"])
    # A checksum that nobody looks at is none: one flipped byte, and h5py refuses the chunk.
    with h5py.File(tmp_path / "seism-test.h5") as file:
        place = file["chunked"].id.get_chunk_info(1)
    with (tmp_path / "seism-test.h5").open("r+b") as file:
        file.seek(place.byte_offset + place.size // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(OSError):
        values_of(tmp_path / "seism-test.h5")


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (["encode=ranks"], ["chunk"]),
        (["encode=ranks", "chunk=5x8x8", "hint=a=b"], ["hint has no effect"]),
        (["encode=ranks", "subfile=1"], ["encode ranks", "subfile"]),
        (["encode=rank"], ["ranks"]),
        (["chunk=5x8x8", "shuffle"], ["shuffle needs collective writes", "encode ranks"]),
        (["reassemble"], ["reassemble without subfile"]),
        (["page_allocation=100"], ["512"]),
    ],
)
def test_what_contradicts_is_told(tmp_path, words, texts):
    result = run(tmp_path, 0, "processor=1x1x1", *RUN[1:], *words)
    assert result.codes == [2], result.err
    assert len(result.errors) == 1
    for text in texts:
        assert text in result.err
    assert seen(tmp_path) == []


SUBFILES = ["processor=4x1x1", "domain=16x16x16", "time=5", "fill=position", "subfile=3"]
STRIPE = {"H5FD_SUBFILING_STRIPE_SIZE": "10000"}  # neither a block nor a page


def test_the_copy_of_the_subfiles_is_a_part_of_the_close(tmp_path):
    fault = "op=write,phase=reassemble,rank=1,times=1,delay_ms=1500"
    words = (*SUBFILES, "reassemble")
    record = good(tmp_path, 4, *words, env={**STRIPE, "TAILRACE_FAULT": fault}).records[-1]
    elapsed = record["elapsed"]
    assert record["phases"]["reassemble"]["max_s"] >= 1.5
    assert elapsed["write_s"] < 1.5 <= elapsed["aggregate_s"] <= elapsed["durable_s"]


def test_one_plain_file_of_the_subfiles(tmp_path):
    result = good(tmp_path, 4, *SUBFILES, "reassemble", "verify", env=STRIPE)
    assert seen(tmp_path) == ["results.jsonl", "seism-test.h5"]
    assert np.array_equal(
        values_of(tmp_path / "seism-test.h5"), position_values((4, 1, 1), (16, 16, 16), 5)
    )
    record = result.records[-1]
    assert settings(result)["reassembled_subfiles"] == "3"
    assert record["phases"]["reassemble"]["max_s"] > 0
    assert record["bytes"]["stored"] == (tmp_path / "seism-test.h5").stat().st_size
    assert record["file"]["durable"]
    assert "0 wrong" in result.out
    # Space for the copy is set aside too, long after the file was open.
    opened = next(line for line in result.out.splitlines() if line.startswith("Create/open:"))
    assert float(opened.split()[1]) > 0


def test_subfiles_stay_where_they_cannot_be_put_together(tmp_path):
    fault = {"TAILRACE_FAULT": "op=write,path=*.h5.part,rank=1,errno=ENOSPC", **STRIPE}
    result = run(tmp_path, 4, *SUBFILES, "reassemble", env=fault)
    assert result.codes == [1] * 4, result.err
    assert len(result.errors) == 1
    assert "could not be made into one file" in result.err and "stay" in result.err
    left = [name for name in seen(tmp_path) if name != "results.jsonl"]
    assert len([n for n in left if ".subfile_" in n and n.endswith("_of_3")]) == 3
    assert "seism-test.h5.manifest" in left and "seism-test.h5" in left
    assert not [n for n in left if ".part" in n]


def test_space_for_the_copy_of_subfiles(tmp_path):
    """Data are written by then, so too little of it is no usage error (2)."""
    none = {"TAILRACE_FAULT": "op=fallocate,path=*.h5.part,errno=ENOSPC", **STRIPE}
    result = run(tmp_path, 4, *SUBFILES, "reassemble", env=none)
    assert result.codes == [1] * 4 and "the subfiles are complete and stay" in result.err
    good(tmp_path, 4, *SUBFILES, "reassemble", "reserve=off", env=none)


def test_file_space_in_pages(tmp_path):
    words = ["collective_write", "chunk=15x8x8", "page_allocation=4096"]
    result = good(tmp_path, 2, *RUN, *words, "collective_metadata_write")
    assert settings(result)["page_bytes"] == "4096"
    assert settings(result)["collective_metadata_write"] == "1"
    with h5py.File(tmp_path / "seism-test.h5") as file:
        plan = file.id.get_create_plist()
        assert plan.get_file_space_strategy()[0] == h5py.h5f.FSPACE_STRATEGY_PAGE
        assert plan.get_file_space_page_size() == 4096
        chunks = file["chunked"].id
        places = [chunks.get_chunk_info(at).byte_offset for at in range(chunks.get_num_chunks())]
        # Allocated at once, and larger than a page: it begins at one.
        assert min(places) % 4096 == 0
        assert np.array_equal(file["chunked"][...], position_values(GRID, DOMAIN, STEPS))
