# SPDX-License-Identifier: Apache-2.0
"""Datasets without fill values by plan, beside other processes, threads and HDF5 libraries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from plans import applied, entry, write_plan
from test_apply import told
from test_holes import FILLED, NEVER, ONE, START, contents, plan_of

FORKS = {
    # The child touches nothing, and closes what it has got when it ends.
    "it ends as the parent goes on": """
ours, theirs = os.pipe()
child = os.fork()
if child == 0:
    os.read(ours, 1); sys.exit(0)
d[30:] = values[30:]; f.flush()
os.write(theirs, b"x"); os.waitpid(child, 0)
""",
    "it writes, too": """
child = os.fork()
if child == 0:
    d[45:] = values[45:]; os._exit(0)
d[30:45] = values[30:45]; os.waitpid(child, 0)
""",
}


@pytest.mark.parametrize("fork", FORKS.values(), ids=FORKS)
def test_a_child_that_is_forked(tmp_path: Path, fork: str) -> None:
    """Neither fills what the other has written. The rows are longer than what HDF5 buffers."""
    text = ONE + """
import sys
values = np.arange(60 * 40000, dtype="i4").reshape(60, 40000)
d = make("d", (60, 40000))
d[:30] = values[:30]
""" + fork + """
f.close()
assert (h5py.File("out.h5")["d"][()] == values).all()
"""  # fmt: skip
    ran, _ = applied(tmp_path, plan_of(tmp_path), text)
    ran.expect(0)
    assert {one["value"] for one in ran.json["outcomes"] if one.get("reason") == FILLED} == {
        f"{30 * 40000} elements"
    }


THREADS = {
    # It may fork whatever the thread that works with HDF5 is doing: nothing is done in it.
    "one of them forks": ("run(fork)", False),
    "both work with HDF5": ("run(write); fork()", False),
    "one waits, as those of numpy do": ("threading.Thread(target=go.wait).start(); fork()", True),
}


@pytest.mark.parametrize(("forks", "fills"), THREADS.values(), ids=THREADS)
def test_a_fork_of_several_threads(tmp_path: Path, forks: str, fills: bool) -> None:
    """Before it all is filled only where no other thread can be within HDF5."""
    text = ONE + """
import threading
go = threading.Event()
def run(work):
    thread = threading.Thread(target=work); thread.start(); thread.join()
def write(): d[8:16] = 1
def fork():
    child = os.fork()
    if child == 0: os._exit(0)
    os.waitpid(child, 0)
d = make("d", (1024, 1024), "f8", fillvalue=3.5)
d[:8] = 1
before = written()
""" + forks + """
tell(bytes=written() - before)
d[8:1000] = 2
f.close()
go.set()
with h5py.File("out.h5") as f:
    assert (f["d"][:8] == 1).all() and (f["d"][8:1000] == 2).all() and (f["d"][1000:] == 3.5).all()
"""  # fmt: skip
    ran, _ = applied(tmp_path, plan_of(tmp_path), text)
    ran.expect(0)
    rows = 1016 if fills else 24
    assert (told(tmp_path)["bytes"] > 7 << 20) == fills
    assert {one["value"] for one in ran.json["outcomes"] if one.get("reason") == FILLED} == {
        f"{rows * 1024} elements"
    }


def test_two_libraries_in_one_process(tmp_path: Path) -> None:
    """The wheels of h5py and of PyTables have HDF5 in them, each its own: the files of both are
    counted from one, and what is at one place in a file of each is not the same dataset."""
    plan = write_plan(tmp_path, entry("a*.h5", NEVER, dataset="*", when="create"))
    text = START + """
import tables
def begin(name):
    global f
    f = h5py.File(name, "w")
    d = make("d"); d[:20] = 1
    return f, d
begin("b.h5")[0].close()
begun = []
for number in range(10):  # each library numbers the files that it opens, one or more for an open
    for _ in range(number % 3): h5py.File("b.h5", "r").close()
    begun.append(begin(f"a{number}.h5"))
for number in range(80):
    with tables.open_file("b.h5", "a") as t:
        t.root.d[...] = values
        assert (t.root.d[...] == values).all()
for f, d in begun:
    d[20:30] = 2
    f.close()
"""  # fmt: skip
    ran, _ = applied(tmp_path, plan, text)
    ran.expect(0)
    for number in range(10):
        d = contents(tmp_path / f"a{number}.h5")["d"]
        assert (d[:20] == 1).all() and (d[20:30] == 2).all() and (d[30:] == -7).all()
    assert np.array_equal(contents(tmp_path / "b.h5")["d"], np.arange(4200).reshape(60, 70))
    filled = [line["value"] for line in ran.json["outcomes"] if line.get("reason") == FILLED]
    assert filled == [f"{30 * 70} elements"] * 10


def test_what_one_library_looks_at_does_not_fill_the_files_of_another(tmp_path: Path) -> None:
    """Only its own can be called from within it. A virtual dataset may have sources anywhere."""
    text = START + """
import netCDF4
layout = h5py.VirtualLayout((60, 70), "i4"); layout[:] = h5py.VirtualSource("s.h5", "d", (60, 70))
with h5py.File("v.h5", "w") as v: v.create_virtual_dataset("all", layout)
with h5py.File("s.h5", "w") as s: s["d"] = values
f = h5py.File("f.h5", "w")
d = make("d"); d[:10] = values[:10]
with netCDF4.Dataset("v.h5") as v: assert (v["all"][...] == values).all()
d[10:20] = values[10:20]
f.copy("d", "e")
f.close()
"""  # fmt: skip
    ran, _ = applied(
        tmp_path, write_plan(tmp_path, entry("f.h5", NEVER, dataset="/d", when="create")), text
    )
    ran.expect(0)
    filled = [line["value"] for line in ran.json["outcomes"] if line.get("reason") == FILLED]
    assert filled == [f"{40 * 70} elements"]
    found, values = contents(tmp_path / "f.h5"), np.arange(4200).reshape(60, 70)
    for name in ("d", "e"):
        assert np.array_equal(found[name][:20], values[:20]) and (found[name][20:] == -7).all()
