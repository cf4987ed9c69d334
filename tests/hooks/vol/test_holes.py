# SPDX-License-Identifier: Apache-2.0
"""Datasets without fill values by plan: what the program leaves out gets them all the same."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
from plans import applied, entry, setting, write_plan
from profiled import script
from test_apply import told

NEVER = setting("20", "fill_time", "never", "opt_in")
FILLED = "left out by the program, and filled"

START = """
import json, os
import h5py, numpy as np
def tell(**found):
    with open("told.json", "w") as out: json.dump(found, out, default=int)
def written():
    return int(open("/proc/self/io").read().split("wchar:")[1].split()[0])
def make(name, shape=(60, 70), dtype="i4", fillvalue=-7, **more):
    return f.create_dataset(name, shape, dtype, fillvalue=fillvalue, **more)
values = np.arange(4200, dtype="i4").reshape(60, 70)
"""
ONE = START + 'f = h5py.File("out.h5", "w")\n'


def plan_of(folder: Path) -> Path:
    return write_plan(folder, entry("*.h5", NEVER, dataset="*", when="create"))


def contents(file: Path) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    with h5py.File(file) as f:
        f.visititems(
            lambda name, one: found.update({name: one[()]}) if hasattr(one, "dtype") else None
        )
    return found


def both_ways(folder: Path, ways: dict[str, str], datasets: int) -> dict[str, np.ndarray]:
    """Each way writes a file of its own: it holds the same without a plan and with it, and so many
    datasets of each were counted, found to have holes, and filled."""
    text = (
        START
        + f"ways = {ways!r}\n"
        + """
for number, way in enumerate(ways.values()):
    f = h5py.File(f"out{number}.h5", "w")
    exec(way)
    d = e = inner = None
    if f: f.close()
"""
    )
    (native := folder / "native").mkdir()
    subprocess.run(list(map(str, script(native, text))), cwd=native, check=True)
    ran, _ = applied(folder, plan_of(folder), text)
    ran.expect(0)
    last = {}
    for number, way in enumerate(ways):
        name = f"out{number}.h5"
        expected, last[way] = contents(native / name), contents(folder / name)
        assert list(expected) == list(last[way]) and expected, way
        for path, array in expected.items():
            np.testing.assert_array_equal(last[way][path], array, f"{way}: {path}")
    of_fill = [line for line in ran.json["outcomes"] if line.get("setting") == "fill_time"]
    became = [line for line in of_fill if line["dataset"] != "/v"]  # a virtual one, never counted
    assert all(line["became"] == "applied" for line in became), became
    filled = [Path(line["file"]).name for line in became if line.get("reason") == FILLED]
    assert sorted(filled) == sorted([f"out{n}.h5" for n in range(len(ways))] * datasets), became
    return last


def test_what_is_written_whole_is_written_once(tmp_path: Path) -> None:
    """Counted: with the library's fill values twice the bytes go out."""
    text = """
before = written()
d = make("d", (1024, 1024), "f8", fillvalue=3.5)
rows = np.arange(1024)[:, None] + np.zeros(1024)
for row in range(0, 1024, 128): d[row:row + 128] = rows[row:row + 128]
fill = d.id.get_create_plist().get_fill_time()
f.close()
tell(bytes=written() - before, fill=fill)
"""
    (native := tmp_path / "native").mkdir()
    subprocess.run(list(map(str, script(native, ONE + text))), cwd=native, check=True)
    ran, lines = applied(tmp_path, plan_of(tmp_path), ONE + text)
    ran.expect(0)
    assert lines["20", "fill_time"]["became"] == "applied"
    whole = 8 << 20
    assert told(native)["bytes"] >= 2 * whole
    assert whole <= told(tmp_path)["bytes"] < 1.1 * whole
    assert told(tmp_path)["fill"] == h5py.h5d.FILL_TIME_NEVER
    with h5py.File(tmp_path / "out.h5") as f:
        assert np.array_equal(f["d"][...], np.arange(1024.0)[:, None] + np.zeros(1024))


WAYS = {
    "nothing": "",
    "one element": "d[3, 4] = 5",
    "rows": "d[10:20] = values[10:20]; d[50:] = values[50:]",
    "all but the last": "d[:59] = values[:59]; d[59, :69] = values[59, :69]",
    "columns": "d[:, 3:9] = values[:, 3:9]",
    "in steps": "d[::2, 1::3] = values[::2, 1::3]",
    "points": "d[values % 5 == 0] = 3",
    "irregular": "d[[1, 5, 6], :] = values[[1, 5, 6]]",
    "a selection that is moved": """
s = h5py.h5s.create_simple((60, 70)); s.select_hyperslab((0, 0), (10, 70)); s.offset_simple((20, 0))
d.id.write(h5py.h5s.create_simple((10, 70)), s, np.ascontiguousarray(values[:10]))
""",
    "a selection of nothing": """
s = h5py.h5s.create_simple((60, 70)); s.select_none(); m = s.copy()
d.id.write(m, s, values)
""",
    "a write that fails": """
s = h5py.h5s.create_simple((60, 70)); s.select_hyperslab((55, 0), (10, 70))
try: d.id.write(h5py.h5s.create_simple((10, 70)), s, np.ascontiguousarray(values[:10]))
except Exception: d[1] = 1
else: raise SystemExit("it was taken")
""",
}


def test_what_is_left_out_is_filled_at_the_close(tmp_path: Path) -> None:
    ways = {name: f"d = make('d')\n{text}" for name, text in WAYS.items()}
    for way, found in both_ways(tmp_path, ways, 1).items():
        assert (found["d"] == -7).any(), way


SEEN = {
    "read": "assert (d[20:] == -7).all()",
    "flushed": """f.flush(); at = d.id.get_offset()
assert np.memmap(f.filename, "i4", "r", at, (60, 70))[30, 0] == -7
""",
    "flushed alone": "d.flush()",
    "read through a virtual dataset": """
layout = h5py.VirtualLayout((60, 70), "i4"); layout[:] = h5py.VirtualSource(d)
v = f.create_virtual_dataset("v", layout); assert (v[20:] == -7).all()
""",
    "copied": "f.copy('d', 'e')",
    "copied with its group": "f.copy('g', 'h')",
    "closed elsewhere": "e = f['d']; e[5] = 9; del e",
    "written elsewhere": "e = f['other']; e[20:30] = values[20:30]; del d; del e",
    "by reference": "e = f[d.ref]; e[20:30] = values[20:30]; del d; del e",
    "file closed first": "f.close()",
    "image": "assert len(f.id.get_file_image()) > 60 * 70 * 4",
}


def test_what_is_left_out_is_filled_before_it_is_seen(tmp_path: Path) -> None:
    start = """
d = make("d"); f["other"] = d; f.create_group("g"); inner = make("g/inner")
d[:20] = values[:20]; inner[:, 0] = 1
"""
    both_ways(tmp_path, {name: start + text for name, text in SEEN.items()}, 2)


def test_random_writes_of_many_shapes(tmp_path: Path) -> None:
    """Against an array beside it, in the program and afterwards."""
    text = """
rng = np.random.default_rng(5)
for number in range(40):
    shape = tuple(rng.integers(1, 12, rng.integers(1, 5)))
    dtype, fill = [("i1", 3), ("f8", np.nan), ("S5", b"none"), ("u2", 9), (">i8", -2)][number % 5]
    d = make(f"d{number}", shape, dtype, fillvalue=fill)
    mirror = np.full(shape, fill, dtype)
    for step in range(rng.integers(0, 6)):
        where = tuple(slice(a, rng.integers(a, n) + 1, rng.integers(1, 4))
                      for n in shape for a in [rng.integers(0, n)])
        mirror[where] = d[where] = rng.integers(1, 100)
    if number % 3 == 0: assert np.array_equal(d[...], mirror, equal_nan=number % 5 == 1)
    np.save(f"d{number}.npy", mirror)
    del d
f.close()
"""
    ran, _ = applied(tmp_path, plan_of(tmp_path), ONE + text)
    ran.expect(0)
    found = contents(tmp_path / "out.h5")
    assert len(found) == 40
    for name, array in found.items():
        np.testing.assert_array_equal(array, np.load(tmp_path / f"{name}.npy"), name)


def test_a_large_dataset_with_a_hole_in_every_row(tmp_path: Path) -> None:
    """More than one buffer; what is beside the holes is read and written back."""
    text = """
d = make("d", (3000, 1000), "i4")
d[:, :999] = np.arange(3000 * 999, dtype="i4").reshape(3000, 999)
del d
f.close()
"""
    applied(tmp_path, plan_of(tmp_path), ONE + text)[0].expect(0)
    found = contents(tmp_path / "out.h5")["d"]
    assert (found[:, 999] == -7).all()
    assert np.array_equal(found[:, :999].ravel(), np.arange(3000 * 999))


HELD = {
    "chunks": ('make("d", chunks=(10, 10))', "contiguous"),
    "growing": ('make("d", maxshape=(None, 70))', "contiguous"),
    "pairs": ('f.create_dataset("d", 9, np.dtype([("a", "i4"), ("b", "f8")]))', "plain"),
    "text": ('f.create_dataset("d", 9, h5py.string_dtype())', "plain"),
    "empty": ('make("d", (0, 4))', "empty"),
    "zeros": ('make("d", fillvalue=None)', "writes none"),
    "zeros at once": ('early("d")', "writes none"),
    "outside": ('make("d", (9,), external=[("raw", 0, 36)])', "contiguous"),
}


def test_what_cannot_be_counted_keeps_its_fill_values(tmp_path: Path) -> None:
    text = (
        f"creates = {[create for create, _ in HELD.values()]!r}"
        + """
def early(name):
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple((60, 70))
    return h5py.Dataset(h5py.h5d.create(f.id, name.encode(), h5py.h5t.STD_I32LE, space, creation))
found = []
for number, create in enumerate(creates):
    d = eval(create.replace('"d"', f'"{number}"'))
    found.append(d.id.get_create_plist().get_fill_time())
tell(fill=found)
f.close()
"""
    )
    ran, _ = applied(tmp_path, plan_of(tmp_path), ONE + text)
    ran.expect(0)
    lines = {line["dataset"]: line for line in ran.json["outcomes"] if line.get("dataset")}
    for number, (what, (_, reason)) in enumerate(HELD.items()):
        line = lines[f"/{number}"]
        assert line["became"] == "held" and reason in line["reason"], line
        # HDF5 itself always fills what has elements of variable length.
        usual = h5py.h5d.FILL_TIME_ALLOC if what == "text" else h5py.h5d.FILL_TIME_IFSET
        assert told(tmp_path)["fill"][number] == usual, what


def test_no_more_is_written_than_the_library_would_write(tmp_path: Path) -> None:
    """The default fill value stays a hole in the file, unless the program wants it written."""
    text = """
def made(name, when):
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_fill_time(when)
    space = h5py.h5s.create_simple((16 << 20,))
    return h5py.Dataset(h5py.h5d.create(f.id, name.encode(), h5py.h5t.STD_I32LE, space, creation))
found = []
def counted(create):
    before = written()
    d = create(); d[5:7] = 1
    f.flush()
    del d
    found.append(written() - before)
counted(lambda: make("unset", (16 << 20,), fillvalue=None))
counted(lambda: made("always", h5py.h5d.FILL_TIME_ALLOC))
counted(lambda: make("set", (16 << 20,)))
f.close()
tell(bytes=found)
"""
    ran, _ = applied(tmp_path, plan_of(tmp_path), ONE + text)
    ran.expect(0)
    became = {line["dataset"]: line for line in ran.json["outcomes"]
              if line.get("setting") == "fill_time" and line.get("reason") != FILLED}  # fmt: skip
    assert [became[name]["became"] for name in ("/unset", "/always", "/set")] == [
        "held", "kept", "applied"
    ]  # fmt: skip
    unset, always, as_set = told(tmp_path)["bytes"]
    assert unset < 1 << 20
    assert all(64 << 20 <= one < 65 << 20 for one in (always, as_set))
    found = contents(tmp_path / "out.h5")
    for name, fill in (("unset", 0), ("always", 0), ("set", -7)):
        assert (found[name][5:7] == 1).all() and (found[name][7:] == fill).all()


def test_no_room_for_the_fill_values_is_an_error(tmp_path: Path) -> None:
    """As it is natively at the first write; the program hears of it when it reads a virtual dataset
    that may have them, and when it flushes. (What it may do after that is little: h5py crashes when
    it closes a file on a full disk, with us or not.)"""
    assert shutil.which("unshare"), "unshare (util-linux) is needed to fill a disk"
    text = """
d = make("d", (4 << 20,), "i4")
d[-1] = 1
with h5py.File("v.h5", "w") as v:
    layout = h5py.VirtualLayout((4 << 20,), "i4"); layout[:] = h5py.VirtualSource(d)
    v.create_virtual_dataset("v", layout)
failed = []
def try_to(call):
    try: call()
    except Exception as problem: failed.append(str(problem))
with h5py.File("v.h5", "r") as v: try_to(lambda: v["v"][0])
try_to(d.flush)
tell(failed=failed)
os._exit(0)
"""
    (small := tmp_path / "small").mkdir()
    (tmp_path / "script.py").write_text(ONE.replace('"out.h5"', '"small/out.h5"') + text)
    plan = write_plan(tmp_path, entry("*.h5", NEVER, dataset="*", when="create"))
    inside = f'mount -t tmpfs -o size=1m small "{small}" && "$@"'
    command = [sys.executable, "-m", "tailrace", "apply", str(plan), "--", sys.executable,
               "script.py"]  # fmt: skip
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-c", inside, "sh", *command],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "/d: elements that the program left out could not get their fill value" in ran.stderr
    assert len(told(tmp_path)["failed"]) == 2
