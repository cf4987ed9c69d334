# SPDX-License-Identifier: Apache-2.0
"""What a plan does not change for the program, however unusual what it does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import h5py
from own_namespace import unshare
from plans import applied, entry, for_files, setting, write_plan
from tailrace_cli import environment
from test_apply import ASK, told


def test_a_closed_standard_error_is_a_file_of_the_program(tmp_path: Path) -> None:
    """The next file that is opened has its number then; what is said would stand in that."""
    plan = write_plan(
        tmp_path,
        entry("*.h5", setting("23", "layout", "compact", "layout"),
              setting("21", "allocation_time", "late", "layout"), dataset="/x", when="create"),
    )  # fmt: skip
    text = """
with h5py.File("a.h5", "w") as f: f["y"] = [1, 2, 3]
os.close(2)
with h5py.File("a.h5", "r+") as f:
    same = os.path.samestat(os.stat("a.h5"), os.fstat(2))
    f.create_dataset("x", (10,), "i4")[...] = 5
tell(same=same)
"""
    ran, lines = applied(tmp_path, plan, ASK + text)
    ran.expect(0)
    assert lines["23", "layout"]["became"] == "refused"
    assert told(tmp_path)["same"]
    with h5py.File(tmp_path / "a.h5") as f:
        assert f["y"][...].tolist() == [1, 2, 3]
        assert f["x"][...].tolist() == [5] * 10


def test_a_dataset_without_chunks_keeps_its_extent(tmp_path: Path) -> None:
    """What HDF5 refuses for want of chunks it refuses with those of a plan too."""
    plan = write_plan(
        tmp_path,
        entry("*.h5", setting("17", "chunk", [4, 4], "layout"), dataset="/*", when="create"),
    )
    text = """
def refuses(call):
    try: call()
    except Exception: return True
    return False
with h5py.File("a.h5", "w") as f:
    f.create_dataset("x", data=np.ones((8, 8)))
    grows = h5py.h5s.create_simple((8, 8), (16, 16))
    tell(chunk=f["x"].chunks, extent=refuses(lambda: f["x"].id.set_extent((2, 2))),
         grows=refuses(lambda: h5py.h5d.create(f.id, b"y", h5py.h5t.NATIVE_INT, grows)),
         shape=f["x"].shape, names=list(f))
"""
    ran, lines = applied(tmp_path, plan, ASK + text)
    ran.expect(0)
    assert told(tmp_path) == {
        "chunk": [4, 4], "extent": True, "grows": True, "shape": [8, 8], "names": ["x"]
    }  # fmt: skip
    assert lines["17", "chunk"]["became"] == "applied"


def test_one_dataset_twice_in_a_call(tmp_path: Path) -> None:
    """HDF5 takes that of a dataset without chunks, and not of one that has some."""
    plan = write_plan(
        tmp_path,
        entry("*.h5", setting("17", "chunk", [4], "layout"), dataset="/*", when="create"),
    )
    text = """
Ids = ctypes.c_int64 * 2
with h5py.File("a.h5", "w") as f:
    x = f.create_dataset("x", (8,), "f8").id
    half = h5py.h5s.create_simple((4,))
    low, high = x.get_space(), x.get_space()
    low.select_hyperslab((0,), (4,)); high.select_hyperslab((4,), (4,))
    given = np.arange(8.0)
    got = np.zeros(8)
    double = h5py.h5t.NATIVE_DOUBLE.id
    answers = []
    for name, data in (("H5Dwrite_multi", given), ("H5Dread_multi", got)):
        call = getattr(library(), name)
        call.argtypes = [ctypes.c_size_t, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_void_p]
        parts = (ctypes.c_void_p * 2)(data.ctypes.data, data.ctypes.data + 32)
        answers.append(call(2, Ids(x.id, x.id), Ids(double, double), Ids(half.id, half.id),
                            Ids(low.id, high.id), 0, parts))
    tell(answers=answers, got=got.tolist(), chunk=f["x"].chunks)
"""
    ran, _ = applied(tmp_path, plan, ASK + text)
    ran.expect(0)
    wanted = [float(n) for n in range(8)]
    assert told(tmp_path) == {"answers": [0, 0], "got": wanted, "chunk": [4]}
    with h5py.File(tmp_path / "a.h5") as f:
        assert f["x"][...].tolist() == wanted


def test_what_others_read_while_it_is_written(tmp_path: Path) -> None:
    """What H5Fstart_swmr_write refuses, or readers of such a file cannot do with, is left out."""
    plan = write_plan(
        tmp_path,
        entry("*.h5", setting("9", "file_space_strategy", "page", "opt_in"),
              setting("9", "page_buffer_bytes", 1 << 20, "opt_in"),
              setting("40", "metadata_cache_image", True, "opt_in"), when="create"),
        entry("*.h5", setting("9", "page_buffer_bytes", 1 << 20, "opt_in"), when="open"),
    )  # fmt: skip
    text = """
import subprocess
with h5py.File("a.h5", "w", libver="latest") as f:
    d = f.create_dataset("x", (0,), "i4", maxshape=(None,), chunks=(16,))
    f.swmr_mode = True
    d.resize((32,)); d[...] = 7; d.flush()
    read = 'import h5py; print(h5py.File("a.h5", swmr=True)["x"][...].sum())'
    tell(read=subprocess.run([sys.executable, "-c", read], capture_output=True, text=True).stdout)
"""
    ran, lines = applied(tmp_path, plan, ASK + text)
    ran.expect(0)
    assert told(tmp_path)["read"].strip() == str(32 * 7)
    assert lines["9", "file_space_strategy"]["became"] == "applied"
    buffer = lines["9", "page_buffer_bytes"]
    assert (buffer["became"], buffer["count"]) == ("held", 2)
    assert lines["40", "metadata_cache_image"]["became"] == "held"


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A program that only reads may be run where it reads."""
    plan = write_plan(tmp_path, for_files("*", 64))
    folder = tmp_path / "read_only"
    folder.mkdir()
    with h5py.File(folder / "a.h5", "w") as f:
        f["x"] = [1, 2, 3]
    there = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" && shift && "$@"'
    read = "import h5py; print(h5py.File('a.h5')['x'][...].sum())"
    tailrace = [sys.executable, "-m", "tailrace", "apply", plan, "--", sys.executable, "-c", read]
    ran = subprocess.run(
        [*unshare("-m"), "--", "sh", "-c", there, "sh", folder, *tailrace],
        env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "6\n")
    assert "sieve_buffer_bytes = 1048576: applied 1 time" in ran.stderr
    assert "tailrace:" not in ran.stderr
