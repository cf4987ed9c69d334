# SPDX-License-Identifier: Apache-2.0
"""Programs that write whole chunks themselves, under a plan that changes chunks or filters."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from plans import Json, applied, entry, setting, write_plan
from test_apply import ASK, told

CHUNK = setting("18", "chunk", [50, 60], "layout")
FILTERS = [setting("30", "shuffle", True, "opt_in"), setting("30", "deflate", 1, "opt_in")]

# Writes a dataset chunk by chunk, as the program knows its chunks, and tells which calls failed.
CHUNKS = """
import zlib
values = np.arange(95 * 100, dtype="i4").reshape(95, 100)
def pieces():
    for row in range(0, 95, 10):
        for column in range(0, 100, 20):
            piece = np.zeros((10, 20), "i4")
            part = values[row:row + 10, column:column + 20]
            piece[:part.shape[0]] = part
            yield (row, column), piece.tobytes()
def write(d, skip=0, packed=False):
    failed = 0
    for place, data in pieces():
        try:
            d.id.write_direct_chunk(place, zlib.compress(data) if packed else data, skip)
        except Exception: failed += 1
    return failed
def make(f, name, **options):
    return f.create_dataset(name, (95, 100), options.pop("dtype", "i4"), **options)
"""


def plan_of(folder: Path, *settings: Json) -> Path:
    return write_plan(folder, entry("out.h5", *settings, dataset="*", when="create"))


def test_plain_chunks_are_written_as_elements(tmp_path: Path) -> None:
    """Also where the dataset was closed in between, and at the edge, where chunks stand over."""
    text = """
with h5py.File("out.h5", "w") as f:
    d = make(f, "d", chunks=(10, 20)); first = write(d); chunks = d.chunks
    make(f, "later", chunks=(10, 20))
with h5py.File("out.h5", "a") as f:
    tell(first=first, later=write(f["later"]), chunks=chunks)
    assert (f["d"][...] == values).all() and (f["later"][...] == values).all()
    try: f["d"].id.write_direct_chunk((5, 0), bytes(800))
    except Exception: pass
    else: raise SystemExit("a place that is none was taken")
"""
    ran, _ = applied(tmp_path, plan_of(tmp_path, CHUNK), ASK + CHUNKS + text)
    ran.expect(0)
    assert told(tmp_path) == {"first": 0, "later": 0, "chunks": [50, 60]}
    with h5py.File(tmp_path / "out.h5") as f:
        assert f["later"].chunks == (50, 60)
        assert np.array_equal(f["d"][...], np.arange(9500).reshape(95, 100))


def test_filters_of_the_plan_are_left_out_of_them(tmp_path: Path) -> None:
    text = """
with h5py.File("out.h5", "w") as f:
    d = make(f, "d", chunks=(10, 20)); failed = write(d)
    e = make(f, "e", chunks=(10, 20)); e[...] = values
    tell(failed=failed, filters=of_dataset(d)["filters"], stored=e.id.get_storage_size())
    assert (d[...] == values).all()
"""
    applied(tmp_path, plan_of(tmp_path, *FILTERS), ASK + CHUNKS + text)[0].expect(0)
    found = told(tmp_path)
    assert (found["failed"], found["filters"]) == (0, [2, 1])
    assert found["stored"] < 95 * 100 * 4
    with h5py.File(tmp_path / "out.h5") as f:
        assert np.array_equal(f["d"][...], np.arange(9500).reshape(95, 100))
        assert np.array_equal(f["e"][...], np.arange(9500).reshape(95, 100))


def test_chunks_over_those_that_went_through_filters_of_the_plan(tmp_path: Path) -> None:
    """HDF5 keeps which filters the chunk lacks that it has looked up last, and would read raw bytes
    through them: its elements are written. Where they cannot be, the call fails."""
    text = """
pair = np.dtype([("a", "i2"), ("b", "i2")])
with h5py.File("out.h5", "w") as f:
    d = make(f, "d", chunks=(10, 20)); d[...] = 7
    later = make(f, "later", chunks=(10, 20)); later[...] = 7
    pairs = make(f, "pairs", chunks=(10, 20), dtype=pair); pairs[...] = np.ones((), pair)
    failed = [write(d), write(d), write(pairs)]
    assert (d[...] == values).all() and (pairs[...]["a"] == 1).all()
    own = make(f, "own", chunks=(10, 20)); failed += [write(own), write(own)]
    one = make(f, "one", chunks=(10, 20))
    one.id.write_direct_chunk((0, 0), next(pieces())[1])
    assert (one[:10, :20] == values[:10, :20]).all()
    near = make(f, "near", chunks=(10, 20)); near[10:20, :20] = 7
    small = f.create_dataset("small", (10, 20), "i4", chunks=(10, 20))
    for d in (near, small):
        for (row, column), data in pieces():
            if row + column == 0 or (row, column) == (10, 0) and d is near:
                d.id.write_direct_chunk((row, column), data)
                assert (d[row:row + 10, :20] == values[row:row + 10, :20]).all()
with h5py.File("out.h5", "a") as f:
    tell(failed=[*failed, write(f["later"])])
"""
    ran, _ = applied(tmp_path, plan_of(tmp_path, *FILTERS), ASK + CHUNKS + text)
    ran.expect(0)
    assert told(tmp_path) == {"failed": [0, 0, 50, 0, 0, 0]}
    assert 'take the setting "deflate" out of the plan' in ran.err
    with h5py.File(tmp_path / "out.h5") as f:
        assert np.array_equal(f["small"][...], np.arange(9500).reshape(95, 100)[:10, :20])
        for name in ("d", "later", "own"):
            assert np.array_equal(f[name][...], np.arange(9500).reshape(95, 100)), name
        assert (f["pairs"][...]["b"] == 1).all()


def test_filtered_chunks_of_another_shape_fail_and_it_is_said(tmp_path: Path) -> None:
    """Nobody can take them apart here; with its filter skipped a chunk is plain, and is written."""
    text = """
with h5py.File("out.h5", "w") as f:
    d = make(f, "d", chunks=(10, 20), compression=1)
    before = write(d, packed=True)
    after = write(d, skip=1)
    pairs = f.create_dataset("pairs", (95, 100), np.dtype([("a", "i2"), ("b", "i2")]),
                             chunks=(10, 20))
    tell(before=before, after=after, pairs=write(pairs))
    assert (d[...] == values).all()
    assert (pairs[...]["a"] == 0).all()
"""
    plan = plan_of(tmp_path, CHUNK)
    ran, _ = applied(tmp_path, plan, ASK + CHUNKS + text)
    ran.expect(0)
    assert told(tmp_path) == {"before": 50, "after": 0, "pairs": 50}
    assert 'take the setting "chunk" out of the plan' in ran.err
    (line,) = (line for line in ran.json["lines"] if line["became"] == "failed")
    assert (line["rule"], line["setting"], line["count"]) == ("18", "chunk", 100)
    assert "of another shape" in line["reason"]
    assert [place.rsplit(":", 1)[-1] for place in line["places"]] == ["/d", "/pairs"]


def test_what_the_plan_left_alone_is_the_programs(tmp_path: Path) -> None:
    text = """
with h5py.File("out.h5", "w") as f:
    d = make(f, "d", chunks=(10, 20), compression=1)
    tell(failed=write(d, packed=True), chunks=d.chunks)
    assert (d[...] == values).all()
"""
    plan = write_plan(tmp_path, entry("out.h5", CHUNK, dataset="/other", when="create"))
    applied(tmp_path, plan, ASK + CHUNKS + text)[0].expect(0)
    assert told(tmp_path) == {"failed": 0, "chunks": [10, 20]}


def test_a_copy_lies_where_something_changed_was(tmp_path: Path) -> None:
    """In a file made anew, and under a name that was another's: none of it is the plan's."""
    text = """
packed = [zlib.compress(data) for _, data in pieces()]
with h5py.File("template.h5", "w") as f:
    make(f, "t", chunks=(10, 20), compression=1)
    places = [place for place, _ in pieces()]
def write_packed(d):
    for place, data in zip(places, packed): d.id.write_direct_chunk(place, data)
with h5py.File("out.h5", "w") as f:
    make(f, "c", chunks=(10, 20)); make(f, "e", chunks=(10, 20))
with h5py.File("template.h5") as old, h5py.File("out.h5", "w") as f:
    for name in ("t", "c"): old.copy("t", f, name); write_packed(f[name])
    make(f, "x", chunks=(10, 20)); del f["x"]
    old.copy("t", f, "x"); write_packed(f["x"])
    make(f, "g/one", chunks=(10, 20)); f.move("g/one", "h/two"); f.copy("h", "k")
    f.move("k/two", "y"); f["link"] = f["h"]
    tell(failed=[write(f["y"]), write(f["link/two"])])
"""
    plan = write_plan(tmp_path, entry("out.h5", *FILTERS, dataset="*", when="create"))
    applied(tmp_path, plan, ASK + CHUNKS + text)[0].expect(0)
    assert told(tmp_path) == {"failed": [0, 0]}
    with h5py.File(tmp_path / "out.h5") as f:
        for name in ("t", "c", "x", "y", "h/two"):
            assert np.array_equal(f[name][...], np.arange(9500).reshape(95, 100)), name


def test_a_copied_group_in_a_file_that_is_made_anew(tmp_path: Path) -> None:
    text = """
with h5py.File("template.h5", "w") as f:
    make(f, "before", chunks=(10, 20)); make(f, "g/one", chunks=(10, 20), compression=1)
with h5py.File("out.h5", "w") as f:
    make(f, "g/one", chunks=(10, 20))
with h5py.File("template.h5") as old, h5py.File("out.h5", "w") as f:
    old.copy("g", f, "g")
    tell(failed=write(f["g/one"], packed=True))
"""
    plan = write_plan(tmp_path, entry("out.h5", *FILTERS, dataset="*", when="create"))
    applied(tmp_path, plan, ASK + CHUNKS + text)[0].expect(0)
    assert told(tmp_path) == {"failed": 0}
    with h5py.File(tmp_path / "out.h5") as f:
        assert np.array_equal(f["g/one"][...], np.arange(9500).reshape(95, 100))


# Each dataset gets another name before its chunks are written; some in a second open of the file.
OTHER_NAMES = """
names = ("copy", "move", "hard", "soft", "deep")
with h5py.File("out.h5", "w") as f:
    for name in names:
        make(f, name, chunks=(10, 20))
    make(f, "group/inner", chunks=(10, 20))
    f.copy("copy", "copy_2"); f.move("move", "move_2")
    f["hard_2"] = f["hard"]; f["soft_2"] = h5py.SoftLink("/soft")
    f.copy("group", "group/again"); f["alias"] = f["group"]
    failed = [write(f[name + "_2"]) for name in names[:4]]
    failed += [write(f["group/again/inner"]), write(f["alias/inner"])]
with h5py.File("out.h5", "a") as f:
    f.move("deep", "somewhere/else"); f.copy("somewhere/else", "deep")
    failed += [write(f["somewhere/else"]), write(f["deep"])]
tell(failed=failed)
"""


@pytest.mark.parametrize("settings", [[CHUNK], FILTERS], ids=["shape", "filters"])
def test_datasets_by_other_names(tmp_path: Path, settings: list[Json]) -> None:
    applied(tmp_path, plan_of(tmp_path, *settings), ASK + CHUNKS + OTHER_NAMES)[0].expect(0)
    assert told(tmp_path) == {"failed": [0] * 8}
    with h5py.File(tmp_path / "out.h5") as f:
        for name in ("copy_2", "move_2", "hard", "soft", "group/inner", "group/again/inner",
                     "somewhere/else", "deep"):  # fmt: skip
            assert np.array_equal(f[name][...], np.arange(9500).reshape(95, 100)), name
            assert (f[name].chunks == (50, 60)) is (settings == [CHUNK]), name


def test_names_and_places_that_others_have_now(tmp_path: Path) -> None:
    """What the plan changed is deleted or moved, and the program makes another dataset of that name
    or in that place, to which the plan has nothing to say."""
    text = """
with h5py.File("out.h5", "w") as f:
    make(f, "changed", chunks=(10, 20)); del f["changed"]
    failed = [write(make(f, f"own_{number}", chunks=(10, 20))) for number in range(4)]
    make(f, "changed", chunks=(10, 20)); f.move("changed", "kept"); f.move("own_0", "changed")
    failed += [write(f["kept"]), write(f["changed"])]
    make(f, "x/changed", chunks=(10, 20)); del f["x/changed"]
    f["x/changed"] = make(f, "packed", chunks=(10, 20), compression=1)
    failed += [write(f["x/changed"], packed=True)]
    other = make(f, "other", chunks=(10, 20), compression=1)  # lies elsewhere
    make(f, "y/changed", chunks=(10, 20)); del f["y/changed"]; f["y/changed"] = other
    failed += [write(f["y/changed"], packed=True)]
for _ in range(3):  # anew, with other places
    with h5py.File("again.h5", "w") as f:
        for number in range(_): make(f, f"own_{number}", chunks=(10, 20))
        d = make(f, "changed", chunks=(10, 20)); failed.append(write(d)); d = None
        failed += [write(f[f"own_{number}"]) for number in range(_)]
tell(failed=failed)
"""
    plan = write_plan(tmp_path, entry("*.h5", *FILTERS, dataset="*/changed", when="create"))
    applied(tmp_path, plan, ASK + CHUNKS + text)[0].expect(0)
    assert told(tmp_path) == {"failed": [0] * 14}
    for file, names in {
        "out.h5": ("kept", "changed", "own_1", "own_2", "own_3", "packed", "other"),
        "again.h5": ("changed", "own_0", "own_1"),
    }.items():
        with h5py.File(tmp_path / file) as f:
            for name in names:
                assert np.array_equal(f[name][...], np.arange(9500).reshape(95, 100)), name


def test_a_program_that_asks_for_the_chunks_may_write_those(tmp_path: Path) -> None:
    text = """
with h5py.File("out.h5", "w") as f:
    d = make(f, "d", chunks=(10, 20)); rows, columns = d.chunks
    for row in range(0, 95, rows):
        for column in range(0, 100, columns):
            piece = np.zeros(d.chunks, "i4")
            part = values[row:row + rows, column:column + columns]
            piece[:part.shape[0], :part.shape[1]] = part
            d.id.write_direct_chunk((row, column), piece.tobytes())
    assert (d[...] == values).all()
    again = make(f, "again", chunks=(10, 20))
    again.id.write_direct_chunk((50, 60), bytes(50 * 60 * 4))
    tell(chunks=[rows, columns], failed=write(again))
"""
    applied(tmp_path, plan_of(tmp_path, CHUNK), ASK + CHUNKS + text)[0].expect(0)
    assert told(tmp_path) == {"chunks": [50, 60], "failed": 0}
    with h5py.File(tmp_path / "out.h5") as f:
        for name in ("d", "again"):
            assert np.array_equal(f[name][...], np.arange(9500).reshape(95, 100)), name


def test_chunks_of_compounds_are_read_back_at_once(tmp_path: Path) -> None:
    """They are stored without the filters of the plan."""
    text = """
pair = np.dtype([("a", "i4")])
with h5py.File("out.h5", "w") as f:
    d = make(f, "d", chunks=(10, 20), dtype=pair)
    for (row, column), data in pieces():
        d.id.write_direct_chunk((row, column), data)
        part = values[row:row + 10, column:column + 20]
        if row == 0:
            found = d[row:row + 10, column:column + 20]["a"]
            assert (found == part).all()
    tell(filters=of_dataset(d)["filters"])
"""
    applied(tmp_path, plan_of(tmp_path, *FILTERS), ASK + CHUNKS + text)[0].expect(0)
    assert told(tmp_path) == {"filters": [2, 1]}
    with h5py.File(tmp_path / "out.h5") as f:
        assert np.array_equal(f["d"][...]["a"], np.arange(9500).reshape(95, 100))
