# SPDX-License-Identifier: Apache-2.0
"""Datasets without fill values by plan, beside other processes, threads and HDF5 libraries."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from plans import Json, applied, entry, write_plan
from test_apply import told
from test_holes import FILLED, NEVER, ONE, START, contents, plan_of


def filled(told: Json) -> list[str]:
    """What was left out by the program, and filled."""
    return [one["value"] for one in told["outcomes"] if one.get("reason") == FILLED]


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
    assert filled(ran.json) == [f"{30 * 40000} elements"]


THREADS = {
    # It may fork whatever the thread that works with HDF5 is doing: nothing is done in it.
    "one of them forks": ("run(fork)", 24, False),
    # All is filled when the second one comes: it holds the library's lock then.
    "both work with HDF5": ("run(write); fork()", 1016, True),
    "each has an HDF5 of its own": ("run(other); fork()", 1016, True),
    "one waits, as those of numpy do": ("threading.Thread(target=go.wait).start(); fork()", 1016,
                                        True),
}  # fmt: skip


@pytest.mark.parametrize(("forks", "rows", "seen"), THREADS.values(), ids=THREADS)
def test_a_fork_of_several_threads(tmp_path: Path, forks: str, rows: int, seen: bool) -> None:
    """Before it all is filled, but where a thread forks that does not work with HDF5."""
    text = ONE + """
import threading
import netCDF4
go = threading.Event()
def run(work):
    thread = threading.Thread(target=work); thread.start(); thread.join()
def write(): d[8:16] = 1
def other(): netCDF4.Dataset("other.nc", "w").close()
def fork():
    child = os.fork()
    if child == 0: os._exit(0 if (d[16:] == 3.5).all() else 1)
    tell(bytes=written() - before, seen=os.waitpid(child, 0)[1] == 0)
d = make("d", (1024, 1024), "f8", fillvalue=3.5)
d[:8] = 1
before = written()
""" + forks + """
d[8:1000] = 2
f.close()
go.set()
with h5py.File("out.h5") as f:
    assert (f["d"][:8] == 1).all() and (f["d"][8:1000] == 2).all() and (f["d"][1000:] == 3.5).all()
"""  # fmt: skip
    ran, _ = applied(tmp_path, plan_of(tmp_path), text)
    ran.expect(0)
    assert told(tmp_path)["seen"] == seen
    assert (told(tmp_path)["bytes"] > 7 << 20) == (rows > 1000)
    assert filled(ran.json) == [f"{rows * 1024} elements"]


def test_a_second_thread_ends_the_counting(tmp_path: Path) -> None:
    """It may do something else altogether. What is created afterwards gets its fill values from
    the library."""
    text = (
        ONE
        + """
import threading
d = make("d", (400000,), "f8", fillvalue=7.0)
d[:1000] = 1
thread = threading.Thread(target=lambda: f.attrs.__setitem__("a", 1)); thread.start(); thread.join()
child = os.fork()
if child == 0: os._exit(0 if (d[1000:] == 7).all() else 1)
seen = os.waitpid(child, 0)[1] == 0
e = make("e")
tell(seen=seen, fill=e.id.get_create_plist().get_fill_time())
f.close()
"""
    )
    ran, _ = applied(tmp_path, plan_of(tmp_path), text)
    ran.expect(0)
    assert told(tmp_path) == {"seen": True, "fill": h5py.h5d.FILL_TIME_IFSET}
    assert filled(ran.json) == ["399000 elements"]
    reasons = {one["dataset"]: one["reason"] for one in ran.json["outcomes"]
               if one["became"] == "held"}  # fmt: skip
    assert reasons == {"/e": "several threads work with HDF5"}
    found = contents(tmp_path / "out.h5")
    assert (found["d"][:1000] == 1).all() and (found["d"][1000:] == 7).all()
    assert (found["e"] == -7).all()


def test_a_failure_at_a_fork_is_heard_at_the_close(tmp_path: Path) -> None:
    """Nobody hears what fails at a fork: the close is the first call that can say so. (After a
    close that failed HDF5 2.0 crashes in the next one.)"""
    text = (
        ONE
        + """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
d = make("d", (4_000_000,), "f8", fillvalue=7.0)
d[:1000] = 1
no_limit = resource.RLIM_INFINITY
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, no_limit))
child = os.fork()
if child == 0: os._exit(0)
os.waitpid(child, 0)
try: d.id._close()
except Exception: failed = True
else: failed = False
resource.setrlimit(resource.RLIMIT_FSIZE, (no_limit, no_limit))
tell(failed=failed)
os._exit(0)
"""
    )
    ran, _ = applied(tmp_path, plan_of(tmp_path), text)
    ran.expect(0)
    assert told(tmp_path)["failed"]
    assert "/d: elements that the program left out could not get their fill value" in ran.err
    assert any(one["became"] == "failed" for one in ran.json["outcomes"])


def test_a_type_that_is_an_object_of_the_file(tmp_path: Path) -> None:
    """The library tells of it only within a call: at a fork nothing could be filled."""
    text = (
        ONE
        + """
f["T"] = np.dtype("f8")
creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE); creation.set_fill_value(np.array(7.0))
space = h5py.h5s.create_simple((400000,))
d = h5py.Dataset(h5py.h5d.create(f.id, b"d", f["T"].id, space, creation))
d[:1000] = 1
child = os.fork()
if child == 0: os._exit(0 if (d[1000:] == 7).all() else 1)
tell(seen=os.waitpid(child, 0)[1] == 0)
f.close()
"""
    )
    ran, lines = applied(tmp_path, plan_of(tmp_path), text)
    ran.expect(0)
    assert told(tmp_path)["seen"]
    line = lines["20", "fill_time"]
    assert (line["became"], line["reason"]) == ("held", "its type is an object of the file")


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
    assert filled(ran.json) == [f"{30 * 70} elements"] * 10


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
    assert filled(ran.json) == [f"{40 * 70} elements"]
    found, values = contents(tmp_path / "f.h5"), np.arange(4200).reshape(60, 70)
    for name in ("d", "e"):
        assert np.array_equal(found[name][:20], values[:20]) and (found[name][20:] == -7).all()
