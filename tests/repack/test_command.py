# SPDX-License-Identifier: Apache-2.0
"""`tailrace repack`: plans and options, what is said, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
from repacking import contents, plan, rows, setting, untouched
from tailrace_cli import called, tailrace

from tailrace.errors import ExitCode, TailraceError
from tailrace.repack import Memory, Options, repack


def test_a_plan(tmp_path: Path) -> None:
    """Chunks by a function, settings of the file; what no file keeps is said."""
    file = tmp_path / "rows.h5"
    values = rows(file)
    made = plan(file, chunk=(400, 64), chunk_cache_bytes=1 << 20)
    about_file = [setting("alignment_bytes", 4096), setting("alignment_threshold_bytes", 4096),
                  setting("libver_low", "v110"), setting("libver_high", "v110")]  # fmt: skip
    made["entries"].append(
        {"file": "rows.h?", "dataset": "", "when": "any", "settings": about_file}
    )
    (tmp_path / "plan.json").write_text(json.dumps(made))
    file.chmod(0o640)
    run = tailrace("repack", file, "--plan", tmp_path / "plan.json", "--json")
    assert run.code == 0, run.err
    assert "not settings of a file" in run.err and "chunk_cache_bytes" in run.err
    found = run.json
    assert found["done"] and found["verified"]["ok"] and found["verified"]["objects"] == 3
    (changed,) = found["datasets"]
    assert changed["path"] == "/rows" and changed["why"] == ["rule 17"]
    assert changed["from"]["chunk"] == [1, 1000] and changed["to"]["chunk"] == [400, 64]
    assert changed["from"]["filters"] == changed["to"]["filters"]
    assert file.stat().st_mode & 0o777 == 0o640 and file.read_bytes()[8] == 3
    assert found["bytes_after"] == file.stat().st_size
    with h5py.File(file) as new:
        assert new["rows"].chunks == (400, 64) and new["rows"].compression_opts == 1
        assert np.array_equal(new["rows"][:], values) and new["rows"].attrs["units"] == "K"
        assert all(new["rows"].id.get_chunk_info(i).byte_offset % 4096 == 0 for i in range(16))
    assert sorted(contents(tmp_path)) == ["plan.json", "rows.h5"]
    again = called("repack", file, "--chunk", "rows=400x64", "--filters", "rows=deflate=1")
    assert again.code == 0 and "nothing to do" in again.out


def test_the_price_first(tmp_path: Path) -> None:
    """A dry run changes nothing; columns of compressed rows gain, and rows lose."""
    file = tmp_path / "rows.h5"
    rows(file, (1000, 2000))
    before = contents(tmp_path)
    words = ("repack", file, "--chunk", "rows=1000x50", "--dry-run")
    run = called(*words, "--read", "/rows=1000x1", "--json")
    assert run.code == 0 and untouched(tmp_path, before), run.err
    price = run.json["price"]
    (one,) = price["datasets"]
    assert one["piece"] == [1000, 1] and one["pieces"] == 2000
    assert one["piece_now_s"] > 2 * one["piece_after_s"] > 0
    assert one["saved_s_per_read"] == pytest.approx(one["piece_now_s"] - one["piece_after_s"])
    assert price["passes_to_pay"] == 1 and 0 < price["repack_s"] < 60
    assert 1 << 20 < price["need_bytes"] < 4 * file.stat().st_size
    plain = called(*words, "--read", "/rows=1000x1")
    assert "estimates" in plain.out and " of free disk" in plain.out
    assert re.search(r"  it pays after (\d+ such reads?: |all of it was read 1 time )", plain.out)
    worse = called(*words, "--read", "/rows=1x2000")
    assert "such reads become no faster" in worse.out and untouched(tmp_path, before)


def test_the_price_is_near_the_truth(tmp_path: Path) -> None:
    """Loosely: it is an estimate, on a machine that does other things too."""
    file = tmp_path / "rows.h5"
    rows(file, (2000, 2000))
    report = repack(file, None, tmp_path / "out.h5", Options(chunks=["rows=2000x50"]))
    assert report.price is not None
    took = report.copy_s + report.verify_s
    assert took / 8 < report.price.repack_s < took * 8
    assert 0.5 < report.price.need_bytes / (report.bytes_after or 0) < 2


@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        ((), "nothing is said about the new layout", 2),
        (("--chunk", "rows"), "does not say what for which dataset", 2),
        (("--chunk", "rowz=1x2"), 'Did you mean "/rows"?', 2),
        (("--chunk", "rows=10"), "it has 2 dimensions, and chunk 10 1", 2),
        (("--chunk", "rows=10xlong"), "has no extents", 2),
        (("--chunk", "rows=0x5"), "has no extents", 2),
        (("--chunk", "rows=400x20", "--memory", "1M"), "are too little", 2),
        (("--chunk", "rows=contiguous", "--filters", "rows=deflate"), "filters are for", 2),
        (("--chunk", "rows=compact"), "do not fit a header", 2),
        (("--filters", "rows=defalte=4"), 'Did you mean "deflate"?', 2),
        (("--filters", "rows=deflate=12"), "is no filter", 2),
        (("--filters", "plain=deflate=4"), "filters are for datasets in chunks", 2),
        (("--chunk", "rows=400x20", "--read", "plain=1x1"), "/plain does not change", 2),
        (("--chunk", "rows=400x20", "--read", "rows=1"), "has not the dimensions", 2),
        (("--chunk", "rows=400x20", "-o", "rows.h5.d/x"), "there is no such folder", 2),
    ],
)
def test_what_cannot_be(tmp_path: Path, words: tuple[str, ...], says: str, code: int) -> None:
    file = tmp_path / "rows.h5"
    rows(file)
    before = contents(tmp_path)
    run = called("repack", file, *words)
    assert run.code == code and says in run.err, run.err + run.out
    assert untouched(tmp_path, before)


def test_chunks_that_do_not_fit(tmp_path: Path) -> None:
    """Clamped to what the dataset can be, and said; one beyond the memory is refused."""
    file = tmp_path / "rows.h5"
    with h5py.File(file, "w") as new:
        new["x"] = np.arange(24.0).reshape(4, 6)
        new.create_dataset("grows", (4, 6), "f8", maxshape=(None, 6), chunks=(1, 6))
        new.create_dataset("wide", (5000, 2000), "f8", chunks=(10, 2000))
    run = called("repack", file, "--chunk", "x=9x3", "--chunk", "grows=9x9")
    assert run.code == 0, run.err
    assert "/x: chunk 9 x 3 is larger than the dataset can be; 4 x 3 is used" in run.err
    assert "9 x 6 is used" in run.err
    with h5py.File(file) as new:
        assert new["x"].chunks == (4, 3) and new["grows"].chunks == (9, 6)
    run = called("repack", file, "--chunk", "wide=5000x2000")
    assert run.code == 2 and "fit the limit of memory" in run.err
    assert "raise --memory" in run.err


def test_filters_and_layouts(tmp_path: Path) -> None:
    file = tmp_path / "rows.h5"
    values = rows(file)
    steps = [
        (("--filters", "rows=none"), lambda d: d.compression is None and d.chunks == (1, 1000)),
        (("--filters", "rows=shuffle,deflate=9,fletcher32"),
         lambda d: d.shuffle and d.compression_opts == 9 and d.fletcher32),
        (("--chunk", "rows=contiguous"), lambda d: d.chunks is None and d.compression is None),
        (("--chunk", "rows=100x100", "--filters", "rows=deflate"),
         lambda d: d.chunks == (100, 100) and d.compression_opts == 4 and not d.shuffle),
    ]  # fmt: skip
    for words, holds in steps:
        run = called("repack", file, *words, "--quiet")
        assert run.code == 0 and not run.out, run.err
        with h5py.File(file) as new:
            assert holds(new["rows"]) and np.array_equal(new["rows"][:], values), words
    with h5py.File(file, "a") as new:
        new["small"] = np.arange(5)
    called("repack", file, "--chunk", "small=compact").expect(0)
    with h5py.File(file) as new:
        assert new["small"].id.get_create_plist().get_layout() == h5py.h5d.COMPACT
        assert list(new["small"]) == [0, 1, 2, 3, 4]


def test_a_plan_compresses_what_is_not(tmp_path: Path) -> None:
    """And leaves what a program compressed in its own way; compact comes from plans too."""
    file = tmp_path / "rows.h5"
    rows(file)
    with h5py.File(file, "a") as new:
        new.create_dataset("scaled", data=np.arange(1000), chunks=(100,), scaleoffset=0)
        new["tiny"] = [1, 2]
    made = plan(file, "/plain", chunk=[20, 100], deflate=3, shuffle=True)
    made["entries"] += plan(file, "/scaled", deflate=3)["entries"]
    made["entries"] += plan(file, "/t*", layout="compact")["entries"]
    made["entries"] += plan(file, "/rows", deflate=3)["entries"]
    report = repack(file, made)
    assert any(note == "/scaled: it has another compression, and keeps it" for note in report.notes)
    with h5py.File(file) as new:
        assert new["plain"].compression_opts == 3 and new["plain"].shuffle
        assert new["scaled"].scaleoffset is not None and new["scaled"].compression is None
        assert new["tiny"].id.get_create_plist().get_layout() == h5py.h5d.COMPACT
        assert new["rows"].compression_opts == 3


def test_a_plan_for_another_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.h5"
    rows(file)
    other = plan("/scratch/run/rows.h5", chunk=[400, 50])
    before = contents(tmp_path)
    with pytest.raises(TailraceError) as error:
        repack(file, other)
    assert (
        "the nearest is /scratch/run/rows.h5" in error.value.what
        and "--plan-path" in error.value.hint
    )
    with pytest.raises(TailraceError) as error:
        repack(file, plan(file, "/row", chunk=[400, 50]))
    assert "the nearest to /row is /rows" in error.value.what
    with pytest.raises(TailraceError) as error:
        repack(file, {**other, "entriez": []})
    assert 'unknown key "entriez"' in error.value.what
    with pytest.raises(TailraceError) as error:
        repack(file, plan(file, chunc=[400, 50]))
    assert "chunc" in error.value.what
    assert untouched(tmp_path, before)
    report = repack(file, other, options=Options(name="/scratch/run/rows.h5"))
    assert report.done
    with h5py.File(file) as new:
        assert new["rows"].chunks == (400, 50)


def test_settings_that_do_not_fit_here(tmp_path: Path) -> None:
    """A plan's are said and left out; a cache alone is nothing to repack for."""
    file = tmp_path / "rows.h5"
    rows(file)
    report = repack(file, plan(file, chunk=[5, 5, 5]))
    assert report.nothing_to_do and "another number of dimensions" in report.notes[0]
    report = repack(file, plan(file, chunk=[4000, 5]), tmp_path / "out.h5")
    assert report.changes[0].new.chunk == (400, 5)
    assert "chunk 4000 x 5 is larger than the dataset can be" in report.notes[0]
    report = repack(file, plan(file, chunk_cache_bytes=1 << 20))
    assert report.nothing_to_do and "chunk_cache_bytes" in report.notes[0]


def test_a_paged_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.h5"
    values = rows(file)
    made = plan(file, "", file_space_strategy="page", page_bytes=16384)
    report = repack(file, made, tmp_path / "paged.h5")
    assert report.done and not report.changes
    with h5py.File(tmp_path / "paged.h5", page_buf_size=65536) as new:
        creation = new.id.get_create_plist()
        assert creation.get_file_space_strategy()[0] == h5py.h5f.FSPACE_STRATEGY_PAGE
        assert creation.get_file_space_page_size() == 16384
        assert np.array_equal(new["rows"][:], values)


@pytest.mark.parametrize(
    ("kind", "says", "code"),
    [
        ("missing", "No such file", 2),
        ("folder", "is a folder", 2),
        ("text", "neither HDF5", 3),
        ("empty", "empty (0 bytes)", 3),
        ("classic", "is classic netCDF, which has no chunks", 2),
        ("cut", "truncated", 3),
    ],
)
def test_foreign_files(tmp_path: Path, kind: str, says: str, code: int) -> None:
    file = tmp_path / "file"
    if kind == "folder":
        file.mkdir()
    elif kind in {"text", "empty"}:
        file.write_text("no file of ours, for sure\n" * (kind == "text"))
    elif kind == "classic":
        with netCDF4.Dataset(file, "w", format="NETCDF3_CLASSIC") as new:
            new.createDimension("x", 4)
    elif kind == "cut":
        rows(file)
        file.write_bytes(file.read_bytes()[:5000])
    run = called("repack", file, "--chunk", "x=4")
    assert run.code == code and says in run.err, run.err
    assert "Traceback" not in run.err and "defect" not in run.err


def test_memory_that_a_chunk_of_the_file_needs(tmp_path: Path) -> None:
    file = tmp_path / "one.h5"
    with h5py.File(file, "w") as new:
        new.create_dataset("x", (4096, 2048), "f8", chunks=(4096, 2048), compression=1)
    with pytest.raises(TailraceError) as error:
        repack(file, None, None, Options(chunks=["x=64x64"], memory=Memory(128 << 20)))
    assert "do not fit the limit" in error.value.what and "--memory 288M" in error.value.hint
    assert error.value.code == ExitCode.USAGE


def test_filters_that_do_not_fit(tmp_path: Path) -> None:
    """Elements of variable length have no check sum; scale-offset rounds floats in each layout."""
    path = tmp_path / "filters.h5"
    with h5py.File(path, "w") as file:
        words = file.create_dataset("words", (40,), h5py.string_dtype(), chunks=(10,))
        words[...] = [f"word {n}" for n in range(40)]
        file.create_dataset("x", data=np.arange(400.0), chunks=(40,))
        near = np.linspace(0, 1, 100).reshape(10, 10)
        file.create_dataset("near", data=near, chunks=(1, 10), scaleoffset=3)
        whole = np.arange(100).reshape(10, 10)
        file.create_dataset("whole", data=whole, chunks=(1, 10), scaleoffset=0)
        kept = file["near"][:]
    filters = ["words=deflate=1,fletcher32", "x=deflate=1,fletcher32"]
    report = repack(path, None, tmp_path / "new.h5", Options(filters=filters, chunks=["whole=5x5"]))
    assert any("/words" in note and "fletcher32" in note for note in report.notes)
    with h5py.File(tmp_path / "new.h5") as file:
        assert file["x"].fletcher32 and file["x"].compression == "gzip"
        assert not file["words"].fletcher32 and file["words"].compression == "gzip"
        assert file["words"].asstr()[3] == "word 3" and file["whole"].chunks == (5, 5)
    with pytest.raises(TailraceError, match="round the floats") as told:
        repack(path, None, tmp_path / "other.h5", Options(chunks=["near=5x5"]))
    assert "--filters /near=none" in told.value.hint
    options = Options(chunks=["near=5x5"], filters=["near=none"])
    assert repack(path, None, tmp_path / "other.h5", options).done
    with h5py.File(tmp_path / "other.h5") as file:
        assert np.array_equal(file["near"][:], kept) and file["near"].scaleoffset is None
