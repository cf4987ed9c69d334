# SPDX-License-Identifier: Apache-2.0
"""A program that opens a dataset anew for each read keeps the chunk cache that the plan gave it,
in files that are only read, until it closes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
from memory_limits import memory_of_node
from plans import Json, applied, entry, setting, write_plan

rows, columns = 64, 48
content = np.arange(rows * columns, dtype="f8").reshape(rows, columns)

# A chunk that lies in the file is fetched by a system call of its own: they are counted.
READ = """
import ctypes, h5py, json, os
def fetched():
    return int(next(l for l in open("/proc/self/io") if l.startswith("syscr")).split()[1])
told = {}
def columns_of(file, name="d", count=48):
    before = fetched()
    for c in range(count):
        for r, value in enumerate(file[name][:, c]):
            assert value == r * 48 + c, (name, r, c, value)
    return fetched() - before
"""
TELL = '\njson.dump(told, open("told.json", "w"))\n'


@pytest.fixture(autouse=True)
def _input(tmp_path: Path) -> Iterator[None]:
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("d", data=content, chunks=(8, columns), compression="gzip")
        file.create_dataset("e", data=content, chunks=(8, columns), compression="gzip")
        for number in range(20):
            file.create_dataset(f"many/{number}", data=content, chunks=(8, columns))
    yield


def plan_of(folder: Path, bytes_: int = 4 << 20, dataset: str = "/*") -> Path:
    return write_plan(
        folder, entry("*.h5", setting("13", "chunk_cache_bytes", bytes_), dataset=dataset)
    )


def run(folder: Path, code: str, plan: Path | None = None) -> tuple[Json, Json]:
    """What the script told, and what `tailrace apply --json` did."""
    ran, _ = applied(folder, plan or plan_of(folder), READ + code + TELL)
    ran.expect(0)
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    return told, ran.json


def kept(told: Json) -> dict[str, int]:
    """Of each dataset that was kept: for how many opens."""
    return {one["dataset"]: one["count"] for one in told["outcomes"]
            if one.get("reason") == "kept from one open to the next"}  # fmt: skip


def test_the_cache_goes_on_at_the_next_open(tmp_path: Path) -> None:
    told, ran = run(tmp_path, """
with h5py.File("in.h5", "r") as f:
    f["d"][0, 0]
    told["first"] = columns_of(f, count=1)
    told["others"] = columns_of(f)
""")  # fmt: skip
    assert told["first"] >= 7  # its other chunks
    assert told["others"] < 8  # else 8 for each column
    assert kept(ran) == {"/d": 49}


def test_a_file_that_is_written_keeps_none(tmp_path: Path) -> None:
    """What is in a cache is written when the program closes the dataset."""
    _, ran = run(tmp_path, """
with h5py.File("in.h5", "r+") as f:
    for n in range(4):
        f["d"][n, :] = -1.0 * n
        told[str(n)] = fetched()
    data = h5py.h5d.open(f.id, b"d")
    data.read_direct_chunk((0, 0))
    f["d"][:4, :] = __import__("numpy").arange(4 * 48.0).reshape(4, 48)
with h5py.File("in.h5", "r") as f:
    columns_of(f)
""")  # fmt: skip
    assert kept(ran) == {"/d": 47}  # of the second


@pytest.mark.parametrize(
    "end", ["", "del f", "import atexit; atexit.register(f.close)", "f.close(); os._exit(0)"]
)
def test_however_the_file_ends(tmp_path: Path, end: str) -> None:
    """The program's exit code and what it has read are as ever."""
    told, _ = run(tmp_path, f"""
f = h5py.File("in.h5", "r")
told["fetched"] = columns_of(f)
json.dump(told, open("told.json", "w"))
{end}
""")  # fmt: skip
    assert told["fetched"] < 60


def test_a_closed_file_is_free(tmp_path: Path) -> None:
    """Neither is it locked, nor open, nor is a dataset kept that outlives its file."""
    told, _ = run(tmp_path, """
def open_files():
    found = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")
             if os.path.exists(f"/proc/self/fd/{n}")]
    return sum(name.endswith("in.h5") for name in found)
f = h5py.File("in.h5", "r")
columns_of(f)
f.close()
told["after"] = open_files()
a = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
a.set_fclose_degree(h5py.h5f.CLOSE_WEAK)
low = h5py.h5f.open(b"in.h5", h5py.h5f.ACC_RDONLY, fapl=a)
first, second = h5py.h5d.open(low, b"d"), h5py.h5d.open(low, b"e")
first._close()
low.close()
told["weak"] = open_files()
second._close()
told["last"] = open_files()
with h5py.File("in.h5", "r+") as f:
    f["d"][...] = f["e"][...]
    told["writable"] = True
""")  # fmt: skip
    assert told == {"after": 0, "weak": 1, "last": 0, "writable": True}


def test_a_list_of_its_own_gets_its_own_cache(tmp_path: Path) -> None:
    told, _ = run(tmp_path, """
def cache(data):
    return list(data.get_access_plist().get_chunk_cache())[:2]
with h5py.File("in.h5", "r") as f:
    columns_of(f)
    told["kept"] = cache(f["d"].id)
    own = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
    own.set_chunk_cache(101, 1 << 16, 0.5)
    told["own"] = cache(h5py.h5d.open(f.id, b"d", own))
""")  # fmt: skip
    assert told["kept"][1] == 4 << 20
    assert told["own"] == [101, 1 << 16]


def test_no_more_are_kept_than_there_is_room_for(tmp_path: Path) -> None:
    _, ran = run(tmp_path, """
with h5py.File("in.h5", "r") as f:
    for again in range(2):
        for n in range(20):
            columns_of(f, f"many/{n}", 2)
    columns_of(f, "d", 2)
""")  # fmt: skip
    assert kept(ran) == {
        "/d": 1, **{f"/many/{n}": 2 for n in range(20)}
    }  # fmt: skip


def test_one_that_another_file_has_is_not_kept(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "by_link.h5", "w") as file:
        file["there"] = h5py.ExternalLink("in.h5", "/d")
    _, ran = run(tmp_path, """
with h5py.File("by_link.h5", "r") as f:
    columns_of(f, "there", 4)
    with h5py.File("in.h5", "r+") as g:  # nobody has it open
        g["d"][0, 0] = 0
""")  # fmt: skip
    assert kept(ran) == {}


def test_a_close_that_closes_what_is_open_keeps_nothing(tmp_path: Path) -> None:
    """H5F_CLOSE_STRONG, once and with a second handle of the same file."""
    told, _ = run(tmp_path, """
a = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
a.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
def still_open():
    found = []
    for n in os.listdir("/proc/self/fd"):
        try: found.append(os.readlink(f"/proc/self/fd/{n}"))
        except OSError: pass
    return sum(name.endswith("in.h5") for name in found)
for again in range(3):
    low = h5py.h5f.open(b"in.h5", h5py.h5f.ACC_RDONLY, fapl=a)
    second = low.reopen() if again == 2 else None
    data = h5py.h5d.open(low, b"d")
    low._close()
    assert not data.valid
    if second is not None:
        for n in range(3):
            h5py.h5d.open(second, b"e")._close()
        second._close()
    told[str(again)] = still_open()
""")  # fmt: skip
    assert told == {"0": 0, "1": 0, "2": 0}


def test_a_file_that_is_open_for_writing_too_keeps_nothing(tmp_path: Path) -> None:
    """What is written through the one handle must not wait in a cache of the other."""
    _, ran = run(tmp_path, """
one = h5py.h5f.open(b"in.h5", h5py.h5f.ACC_RDWR)
two = h5py.h5f.open(b"in.h5", h5py.h5f.ACC_RDONLY)
for n in range(3):
    h5py.h5d.open(two, b"d")._close()
two._close()
one._close()
""")  # fmt: skip
    assert kept(ran) == {}


def test_a_refreshed_dataset_is_read_anew(tmp_path: Path) -> None:
    told, ran = run(tmp_path, """
with h5py.File("in.h5", "r") as f:
    columns_of(f, count=2)
    data = f["e"]
    data.refresh()
    assert data[63, 47] == 63 * 48 + 47
    told["fetched"] = columns_of(f, count=4)
""")  # fmt: skip
    assert told["fetched"] >= 4 * 8
    assert kept(ran) == {"/d": 1, "/e": 1} or kept(ran) == {"/d": 1}


def test_a_list_of_its_own_is_not_kept(tmp_path: Path) -> None:
    """A prefix for external files has to be that of whoever has the dataset open."""
    _, ran = run(tmp_path, """
own = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
own.set_efile_prefix(b"/nowhere")
with h5py.File("in.h5", "r") as f:
    h5py.h5d.open(f.id, b"d", own)._close()
    columns_of(f, count=1)
    h5py.h5d.open(f.id, b"d", own)._close()
""")  # fmt: skip
    assert kept(ran) == {}


@pytest.mark.parametrize("again", [1, 3])
def test_caches_of_all_open_datasets_have_a_bound(tmp_path: Path, again: int) -> None:
    """A program that holds many datasets open has memory for some of the caches: what would go
    beyond a quarter of the machine's is left out, and said; what is closed makes room."""
    third = memory_of_node() // 12 - 4096
    told, ran = run(tmp_path, f"""
def cache(data):
    return data.id.get_access_plist().get_chunk_cache()[1]
with h5py.File("in.h5", "r") as f:
    for again in range({again}):
        held = [f[f"many/{{n}}"] for n in range(5)]
        told["held"] = [cache(data) for data in held]
        del held
    told["after"] = cache(f["many/7"])
    columns_of(f, count=3)
""", plan_of(tmp_path, third))  # fmt: skip
    assert [size == third for size in told["held"]] == [True, True, True, False, False]
    assert told["after"] == third
    became = {
        one["dataset"]: (one["became"], one.get("reason", ""))
        for one in ran["outcomes"]
        if one.get("setting") == "chunk_cache_bytes" and one["dataset"] in ("/many/0", "/many/4")
    }
    assert became["/many/4"][0] == "misfit"
    assert "with the caches of the datasets that are open" in became["/many/4"][1]
    assert kept(ran)["/d"] == 2


def test_a_process_takes_no_more_than_a_quarter_of_its_own_limit(tmp_path: Path) -> None:
    limit = 3 << 30
    caches = {"/d": limit // 4, "/e": limit // 4 + 1}
    plan = write_plan(tmp_path, *(
        entry("*.h5", setting("13", "chunk_cache_bytes", most), dataset=name)
        for name, most in caches.items()
    ))  # fmt: skip
    told, ran = run(tmp_path, f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({limit}, resource.getrlimit(resource.RLIMIT_AS)[1]))
with h5py.File("in.h5", "r") as f:
    for name in ("e", "d"):
        told[name] = f[name].id.get_access_plist().get_chunk_cache()[1]
""", plan)  # fmt: skip
    assert told["d"] == limit // 4
    assert told["e"] < limit // 4
    (misfit,) = (one for one in ran["lines"] if one["became"] == "misfit")
    assert misfit["reason"] == "larger than a quarter of the memory, shared by the ranks here"


def test_the_table_of_the_slots_counts(tmp_path: Path) -> None:
    limit, most = 3 << 30, 1 << 24
    sizes = {"/d": (limit // 4 - 8 * most, most - 3), "/e": (limit // 4 - 8 * most + 64, most - 3)}
    plan = write_plan(tmp_path, *(
        entry("*.h5", setting("13", "chunk_cache_bytes", bytes_),
              setting("13", "chunk_cache_slots", slots), dataset=name)
        for name, (bytes_, slots) in sizes.items()
    ))  # fmt: skip
    told, ran = run(tmp_path, f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({limit}, resource.getrlimit(resource.RLIMIT_AS)[1]))
with h5py.File("in.h5", "r") as f:
    for name in ("e", "d"):
        told[name] = f[name].id.get_access_plist().get_chunk_cache()[:2]
""", plan)  # fmt: skip
    assert told["d"] == [sizes["/d"][1], sizes["/d"][0]]
    assert told["e"][0] < 1 << 16 and told["e"][1] == sizes["/e"][0]
    (misfit,) = (one for one in ran["lines"] if one["became"] == "misfit")
    assert misfit["setting"] == "chunk_cache_slots"
    assert "shared by the ranks here" in misfit["reason"]


def test_a_cache_counts_once_however_often_its_dataset_is_open(tmp_path: Path) -> None:
    third = memory_of_node() // 12 - 4096
    told, ran = run(tmp_path, """
def cache(data):
    return data.id.get_access_plist().get_chunk_cache()[1]
with h5py.File("in.h5", "r") as f:
    held = [f["d"] for n in range(12)] + [f["e"]]
    told["held"] = [cache(data) for data in held]
    del held
    held = [f[f"many/{n}"] for n in range(3)]
    told["others"] = [cache(data) for data in held]
""", plan_of(tmp_path, third))  # fmt: skip
    assert told["held"] == [third] * 13
    assert told["others"] == [third] * 3
    assert all(one["became"] != "misfit" for one in ran["outcomes"])
