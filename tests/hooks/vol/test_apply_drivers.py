# SPDX-License-Identifier: Apache-2.0
"""A file that the plan has in memory (rule 32) is for the program the file that it was without:
shared with what else is open, refused where HDF5 refuses it, and alone in memory."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from plans import Json, applied, entry, setting, write_plan
from test_apply import ASK, told

OPEN_OTHERWISE = "this process has the file open already, with another driver"
LEADS = "it may have external links or virtual datasets: what they lead to would be in memory too"

CORE = [
    setting("32", "driver", "core", "opt_in"),
    setting("32", "core_increment_bytes", 1 << 20, "opt_in"),
    setting("32", "core_backing_store", False, "opt_in"),
]
# Locks of HDF5 keep a second driver away by themselves.
UNLOCKED = setting("37", "file_locking", False, "opt_in")


def run(folder: Path, code: str, *more: Json, **changes: str) -> dict[str, set[str]]:
    """How often the driver was applied to each file, or why not."""
    plan = write_plan(folder, entry("*.h5", *CORE, *more, when="open"))
    ran, _ = applied(folder, plan, ASK + code, **changes)
    ran.expect(0)
    became: dict[str, set[str]] = {}
    for one in ran.json["outcomes"]:
        if one.get("setting") == "driver":
            what = "applied" if one["became"] == "applied" else one["reason"]
            became.setdefault(Path(one["file"]).name, set()).add(what)
    return became


def make(path: Path, **datasets: object) -> Path:
    with h5py.File(path, "w") as file:
        for name, content in datasets.items():
            file[name] = content
    return path


OPEN_TO_WRITE = """
with h5py.File("out.h5", "w") as w:
    a = w.create_dataset("a", data=np.ones((100, 100)), chunks=(10, 10))
    z = w.create_dataset("z", data=np.ones(10))
    w.flush()
    a[...] = z[...] = 7
    w["made"] = [1]
    with h5py.File("out.h5", "r") as r:
        tell(chunk=r["a"][0, 0], plain=r["z"][0], names=list(r), same=r == w)
"""


@pytest.mark.parametrize("how", ["environment", "plan"])
def test_what_is_being_written_is_read_as_it_is(tmp_path: Path, how: str) -> None:
    changes = {"HDF5_USE_FILE_LOCKING": "FALSE"} if how == "environment" else {}
    became = run(tmp_path, OPEN_TO_WRITE, *([UNLOCKED] if how == "plan" else []), **changes)
    assert told(tmp_path) == {"chunk": 7, "plain": 7, "names": ["a", "made", "z"], "same": True}
    assert became == {"out.h5": {OPEN_OTHERWISE}}


THROUGH_A_LINK = """
with h5py.File("parent.h5", "r+") as parent:
    parent["there/x"][...] = 7
    held = parent["there/x"]
    with h5py.File("child.h5", "r") as r: tell(x=r["x"][0])
"""


def test_what_is_being_written_through_a_link_is_read_as_it_is(tmp_path: Path) -> None:
    make(tmp_path / "child.h5", x=np.ones(10))
    make(tmp_path / "parent.h5", there=h5py.ExternalLink("child.h5", "/"))
    became = run(tmp_path, THROUGH_A_LINK, HDF5_USE_FILE_LOCKING="FALSE")
    assert told(tmp_path) == {"x": 7}
    assert became["child.h5"] == {OPEN_OTHERWISE}


OPEN_TO_READ = """
found = {}
os.symlink("in.h5", "other.name")
def refused(name, mode):
    try:
        with h5py.File(name, mode): return ""
    except OSError as error: return str(error)
with h5py.File("in.h5", "r") as r:
    found["in_memory"] = in_memory(r)
    for name in ("in.h5", "other.name"):
        for mode in ("r+", "a", "w", "x"): found[name + " " + mode] = refused(name, mode)
    with h5py.File("other.name", "r") as again: found["same"] = again == r
    size = os.path.getsize("in.h5")
again = h5py.File("other.name", "r")
with h5py.File("in.h5", "r"): pass
found["outlives"] = refused("in.h5", "r+")
again.close()
with h5py.File("in.h5", "r+") as f: f["x"][0] = 9
with h5py.File("in.h5", "r") as f: found["written"] = int(f["x"][0])
tell(**found)
"""


@pytest.mark.parametrize("locking", ["TRUE", "FALSE"])
def test_what_is_being_read_is_not_written(tmp_path: Path, locking: str) -> None:
    """As without a plan; by any name, and until it is closed everywhere."""
    content = make(tmp_path / "in.h5", x=np.arange(1000)).read_bytes()
    became = run(tmp_path, OPEN_TO_READ, HDF5_USE_FILE_LOCKING=locking)
    found = told(tmp_path)
    assert found.pop("in_memory") and found.pop("same")
    assert found.pop("written") == 9
    for call, error in found.items():
        words = {"w": "truncate a file which is already open", "x": "exists"}
        assert words.get(call[-1], "already open for read-only") in error, (call, error)
    assert "applied" in became["in.h5"] and OPEN_OTHERWISE not in became["in.h5"]
    assert len((tmp_path / "in.h5").read_bytes()) == len(content)


def test_the_program_finds_its_own_driver(tmp_path: Path) -> None:
    """In the list that it asks of the file, with which it may open others, and as a descriptor."""
    make(tmp_path / "in.h5", x=np.arange(1000))
    run(tmp_path, """
f = h5py.File("in.h5", "r")
own = h5py.h5p.create(h5py.h5p.FILE_ACCESS).get_driver()
asked = f.id.get_access_plist()
assert asked.get_driver() == own and f.driver == "sec2"
out = h5py.File(h5py.h5f.create(b"out.h5", h5py.h5f.ACC_TRUNC, fapl=asked))
out["y"] = np.ones(1 << 20)
descriptor, at = f.id.get_vfd_handle(), f["x"].id.get_offset()
tell(size=os.path.getsize("out.h5"), in_memory=in_memory(f),
     there=os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")),
     read=np.frombuffer(os.pread(descriptor, 80, at), "i8").tolist())
os._exit(0)  # nothing is closed
""")  # fmt: skip
    found = told(tmp_path)
    assert found.pop("size") >= 8 << 20
    assert found == {"in_memory": True, "there": "in.h5", "read": list(range(10))}


def make_links(folder: Path, kind: str) -> None:
    """A small file in front of one of 64 MiB: what leads there lies in each place of the format."""
    with h5py.File(folder / "source.h5", "w") as file:
        file.create_dataset("x", data=np.ones(8 << 20))
    link = h5py.ExternalLink("source.h5", "/x")
    with h5py.File(folder / "in.h5", "w", libver="latest" if kind != "old" else None,
                   track_order=kind == "ordered") as file:  # fmt: skip
        file["padding"] = np.zeros(600000)  # more than is looked at in one go
        if kind == "virtual":
            layout = h5py.VirtualLayout((8 << 20,), "f8")
            layout[:] = h5py.VirtualSource("source.h5", "x", shape=(8 << 20,))
            file.create_virtual_dataset("there", layout)
        for number in range(40 if kind == "dense" else 1):
            file[f"group/{number}"] = link
        if kind != "virtual":
            file["there"] = link


@pytest.mark.parametrize("kind", ["old", "latest", "ordered", "dense", "virtual"])
def test_files_behind_are_not_in_memory_too(tmp_path: Path, kind: str) -> None:
    """HDF5 would open them with the driver of the one that leads there."""
    make_links(tmp_path, kind)
    became = run(tmp_path, """
def most(): return int(next(l for l in open("/proc/self/status") if "VmHWM" in l).split()[1])
before = most()
with h5py.File("in.h5", "r") as f: assert f["there"][5] == 1
tell(grown_mib=(most() - before) / 1024)
""")  # fmt: skip
    assert told(tmp_path)["grown_mib"] < 32
    assert became["in.h5"] == {LEADS}


def test_other_links_and_texts_are_no_reason(tmp_path: Path) -> None:
    """What is of variable length lies where the mappings of virtual datasets lie."""
    with h5py.File(tmp_path / "in.h5", "w", libver="latest") as file:
        file["x"] = np.random.default_rng(1).standard_normal(1 << 19)
        file["soft"] = h5py.SoftLink("/x")
        file["texts"] = [f"text {n}" for n in range(5000)]
        file.attrs["units"] = "m"
        lists = file.create_dataset("lists", (300,), h5py.vlen_dtype("i4"))
        for number in range(300):
            lists[number] = np.arange(number)
        for number in range(40):
            file[f"group/{number}"] = number
    became = run(tmp_path, """
with h5py.File("in.h5", "r") as f: tell(in_memory=in_memory(f))
""")  # fmt: skip
    assert told(tmp_path) == {"in_memory": True}
    assert became == {"in.h5": {"applied"}}
