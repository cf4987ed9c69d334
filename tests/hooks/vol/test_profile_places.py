# SPDX-License-Identifier: Apache-2.0
"""Which elements were touched, where it is not plain to see: moved selections, datasets that are
made anew, files that others change."""

from __future__ import annotations

import json
from pathlib import Path

from profiled import dataset_of, file_of, profiled, script
from tailrace_cli import tailrace

MOVED = """
import h5py, numpy as np
with h5py.File("m.h5", "w") as f:
    d = f.create_dataset("d", (60,), dtype="i4")
    one = f.create_dataset("one", (60,), dtype="i4")
    s, row = h5py.h5s.create_simple((60,)), h5py.h5s.create_simple((10,))
    s.select_hyperslab((0,), (10,))
    for n in range(6):
        s.offset_simple((10 * n,))
        d.id.write(row, s, np.arange(10, dtype="i4"))
    s.offset_simple((20,))
    one.id.write(row, s, np.arange(10, dtype="i4"))
    s.offset_simple((0,))
    one.id.read(row, s, np.empty(10, dtype="i4"))
"""


def test_a_selection_that_is_moved(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, MOVED))
    writes = dataset_of(profile, "m.h5", "/d")["writes"]
    assert writes["coverage"]["full"] is True
    assert (writes["order"]["sequential"], writes["order"]["repeated"]) == (5, 0)
    one = dataset_of(profile, "m.h5", "/one")
    assert one["writes"]["coverage"]["boxes"] == [{"start": [20], "count": [10]}]
    assert one["read_after_write"]["any"] is False


CHUNKS = """
import h5py, numpy as np
with h5py.File("c.h5", "w") as f:
    d = f.create_dataset("d", (10, 10), dtype="i4", chunks=(4, 10))
    d[:8] = 1
    d.id.write_direct_chunk((8, 0), np.ones((4, 10), "i4").tobytes())
    e = f.create_dataset("e", (8,), dtype="i4", chunks=(4,))
    e.id.write_direct_chunk((4,), np.ones(4, "i4").tobytes())
    e[5:6]
"""


def test_chunks_that_are_written_as_they_lie(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, CHUNKS))
    assert dataset_of(profile, "c.h5", "/d")["writes"]["coverage"]["full"] is True
    assert dataset_of(profile, "c.h5", "/e")["read_after_write"]["any"] is True


LIVES = """
import h5py, numpy as np
for half in (slice(0, 5), slice(5, 10)):
    with h5py.File("l.h5", "w") as f:
        f.create_dataset("truncated", (10,), dtype="i4")[half] = 1
        f.create_dataset("whole", (10,), dtype="i4")[:] = 1
        d = f.create_dataset("deleted", (10,), dtype="i4")
        d[:] = 1
        del f["deleted"], d
        f.create_dataset("deleted", (10,), dtype="i4")[5:]
        g = f.create_dataset("shrunk", (10,), maxshape=(None,), dtype="i4")
        g[:] = 1
        g.resize((5,))
        g.resize((10,))
"""


def test_datasets_that_are_made_anew(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, LIVES))
    covered = {}
    for name in ("truncated", "whole", "deleted", "shrunk"):
        writes = dataset_of(profile, "l.h5", f"/{name}")["writes"]
        covered[name] = writes["coverage"].get("full")
    assert covered["truncated"] is False
    assert covered["whole"] is True
    assert covered["deleted"] is not True
    assert covered["shrunk"] is False
    deleted = dataset_of(profile, "l.h5", "/deleted")
    assert deleted["read_after_write"]["any"] is False


# What others do to a file: processes that nobody records.
OTHERS = """
import os, subprocess, sys, time
import h5py, numpy as np
def other(text):
    ours = ("HDF5_", "TAILRACE_", "LD_PRELOAD")
    rest = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    time.sleep(0.05)
    subprocess.run([sys.executable, "-c", "import h5py, os\\n" + text], env=rest, check=True)
"""


def test_another_process_extends_a_dataset(tmp_path: Path) -> None:
    text = f"""{OTHERS}
with h5py.File("x.h5", "w") as f:
    f.create_dataset("x", (10,), maxshape=(None,), dtype="i4")[:] = 1
    f.create_dataset("y", (10,), dtype="i4")[:] = 1
other("with h5py.File('x.h5', 'a') as f: f['x'].resize((50,))")
with h5py.File("x.h5", "a") as f:
    f["x"][...] = 2
    f["y"][...] = 2
"""
    _, profile = profiled(tmp_path, *script(tmp_path, text))
    x = dataset_of(profile, "x.h5", "/x")
    assert x["dims"] == [50]
    assert (x["writes"]["bytes"], x["writes"]["elements"]) == (240, 60)
    assert x["writes"]["coverage"]["full"] is True
    assert x["writes"]["whole"] == 2
    assert dataset_of(profile, "x.h5", "/y")["writes"]["coverage"]["full"] is True


def test_a_file_that_is_replaced(tmp_path: Path) -> None:
    text = f"""{OTHERS}
with h5py.File("out.h5", "w") as f:
    f["a"] = np.arange(10)
with h5py.File("out.h5") as f:
    f["a"][...]
other('''
with h5py.File("tmp.h5", "w") as f:
    f["b"] = list(range(10))
    f["a"] = list(range(20))
os.replace("tmp.h5", "out.h5")
''')
with h5py.File("out.h5", "a") as f:
    assert f["b"][...].sum() == 45
    f["a"][:10] = 5
"""
    _, profile = profiled(tmp_path, *script(tmp_path, text))
    assert [one["path"] for one in file_of(profile, "out.h5")["datasets"]] == ["/a", "/b"]
    a, b = (dataset_of(profile, "out.h5", path) for path in ("/a", "/b"))
    assert not a.get("names") and not b.get("names")
    assert (a["dims"], a["reads"]["calls"], b["reads"]["calls"]) == ([20], 1, 1)
    assert a["writes"]["coverage"]["full"] is False


def test_a_file_that_is_replaced_while_it_is_open(tmp_path: Path) -> None:
    text = """
import h5py, os, numpy as np
with h5py.File("o.h5", "w") as f:
    f["a"] = np.arange(10)
    f.flush()
    with h5py.File("new.h5", "w") as g:
        g["b"] = np.arange(10)
    os.replace("new.h5", "o.h5")
with h5py.File("o.h5") as f:
    f["b"][...]
"""
    _, profile = profiled(tmp_path, *script(tmp_path, text))
    assert [one["path"] for one in file_of(profile, "o.h5")["datasets"]] == ["/a", "/b"]


def test_a_file_that_nobody_else_changes(tmp_path: Path) -> None:
    """A dataset is one under its two names, however often its file is opened again."""
    text = """
import h5py, numpy as np
for n in range(4):
    with h5py.File("n.h5", "a" if n else "w", libver="latest") as f:
        if n == 0:
            f["d"] = np.arange(10)
            f["e"] = f["d"]
        f["de"[n % 2]][:] = n
"""
    _, profile = profiled(tmp_path, *script(tmp_path, text))
    (d,) = file_of(profile, "n.h5")["datasets"]
    assert (d["path"], d["names"], d["writes"]["calls"]) == ("/d", ["/e"], 5)


TURNS = """
import h5py, numpy as np
content = np.arange(6 * 8 * 10, dtype="i4").reshape(6, 8, 10)
with h5py.File("t.h5", "w") as f:
    for name in ("turns", "ended", "plain"):
        f.create_dataset(name, data=content, chunks=None if name == "plain" else (1, 8, 10))
with h5py.File("t.h5", "r") as f:
    for row in range(0, 8, 2):
        for step in range(6):
            assert (f["turns"][step, row:row + 2] == content[step, row:row + 2]).all()
            assert (f["plain"][step, row:row + 2] == content[step, row:row + 2]).all()
    for step in range(6):
        for row in range(0, 8, 2):
            assert (f["ended"][step, row:row + 2] == content[step, row:row + 2]).all()
"""


def test_chunks_that_come_in_turns(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, TURNS))
    changes = {
        name: dataset_of(profile, "t.h5", f"/{name}")["reads"]["order"]["chunk_changes"]
        for name in ("turns", "ended", "plain")
    }
    assert changes == {"turns": 4 * 6 - 1, "ended": 6 - 1, "plain": 0}


MEMBERS = """
import h5py, numpy as np
pair = np.dtype([("a", "f8"), ("b", "f4")])
padded = np.dtype([("a", "f8"), ("b", "f4")], align=True)
nested = np.dtype([("n", "i4"), ("pair", pair, (2,))])
half = np.dtype([("n", "i4"), ("pair", np.dtype([("a", "f8")]), (2,))])
with h5py.File("m.h5", "w") as f:
    def made(name, type=pair):
        return f.create_dataset(name, (1000,), type)
    made("all")[...] = np.ones(1000, pair)
    made("padded").id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ones(1000, padded))
    one = made("one")
    for at in range(0, 1000, 250):
        one[at:at + 250, "a"] = np.ones(250)
    made("one whole")[:, "a"] = np.ones(1000)
    again = made("again")
    again[...] = np.ones(1000, pair)
    again[:, "b"] = np.ones(1000)
    made("nested", nested)[...] = np.ones(1000, nested)
    inner = made("inner", nested)
    inner.id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ones(1000, half), h5py.h5t.py_create(half))
    assert inner[5]["pair"]["a"].tolist() == [1, 1] and inner[5]["pair"]["b"].tolist() == [0, 0]
"""


def test_members_that_a_write_leaves_out(tmp_path: Path) -> None:
    """An element of a compound is written by a write that has all its members."""
    _, profile = profiled(tmp_path, *script(tmp_path, MEMBERS))
    names = ("all", "padded", "one", "one whole", "again", "nested", "inner")
    writes = {name: dataset_of(profile, "m.h5", f"/{name}")["writes"] for name in names}
    full = {name: one.get("coverage", {}).get("full") for name, one in writes.items()}
    assert full == {
        "all": True, "padded": True, "one": None, "one whole": None, "again": True, "nested": True,
        "inner": None,
    }  # fmt: skip
    assert (writes["one whole"]["whole"], writes["again"]["whole"]) == (0, 1)
    assert writes["one"]["bytes"] == 12000


STALE = """
import h5py, numpy as np
pair = np.dtype([("a", "f8"), ("b", "f8")])
with h5py.File("s.h5", "w") as f:
    for name in ("part", "number"):
        f.create_dataset("junk", (1 << 17,), pair, data=np.full(1 << 17, np.array((3, 3), pair)))
        del f["junk"]
        part = name == "part"
        fill = np.array((7, 7), pair) if part else 7
        d = f.create_dataset(name, (1 << 17,), pair if part else "f8", fillvalue=fill)
        for at in range(0, 1 << 17, 1 << 15):
            where = slice(at, at + (1 << 15))
            d[(where, "a") if part else where] = np.ones(1 << 15)
"""


def test_no_fill_values_are_not_advised_for_compounds(tmp_path: Path) -> None:
    """Their other members would hold what was on the disk before."""
    profiled(tmp_path, *script(tmp_path, STALE))
    plan = json.loads(tailrace("advise", tmp_path / "profile.json", "--json", cwd=tmp_path).out)
    found = {entry["dataset"] for entry in plan["plan"]["entries"]
             if any(one["key"] == "fill_time" for one in entry["settings"])}  # fmt: skip
    held = {(one["dataset"], one["guard"]) for one in plan["plan"]["held_back"]
            if one["because"]["rule"] == "20"}  # fmt: skip
    assert (found, held) == ({"/number"}, {("/part", "type")})
    ran = tailrace("intents", tmp_path / "profile.json", "--json", cwd=tmp_path)
    (part,) = [one for name, one in json.loads(ran.out)["datasets"].items() if "part" in name]
    assert part["full_coverage"]["value"] == "not known"
