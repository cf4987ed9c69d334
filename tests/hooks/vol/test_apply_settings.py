# SPDX-License-Identifier: Apache-2.0
"""Every setting that a plan can have is seen to arrive by some test, and to be held back by some;
here those of serial programs that test_apply.py leaves out."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import h5py
from plans import Json, applied, entry, prove, setting, write_plan
from profiled import script
from test_apply import ASK, told

from tailrace.native import core

HERE = Path(__file__).parent
FILES, DATASETS = "test_settings_of_files_arrive", "test_settings_of_datasets_arrive"
PAGES = "test_pages_and_their_buffer_and_what_they_exclude"
OWN, OWN_TOO = "test_what_the_program_set_itself_wins", "test_what_the_program_set_itself_stays"
SUBFILES = "test_a_file_becomes_subfiles_and_is_read_back"
MPI_IO = "test_transfers_and_metadata_go_as_the_plan_says"
CORE = "test_the_core_driver_is_for_reading"
SERIAL, RANKS = "test_guards_of_serial_files", "test_guards_of_files_of_several_ranks"
# Of each setting: the test that saw it where it belongs, and one where a guard held it back.
TESTS = {
    "hint.NAME": ("test_settings_arrive_on_all_ranks", SERIAL),
    "file_space_strategy": (PAGES, RANKS),
    "page_bytes": (PAGES, RANKS),
    "alignment_threshold_bytes": (FILES, OWN),
    "alignment_bytes": (FILES, PAGES),
    "meta_block_bytes": (FILES, OWN),
    "small_data_block_bytes": (FILES, OWN_TOO),
    "sieve_buffer_bytes": (FILES, RANKS),
    "collective_metadata_writes": (MPI_IO, SERIAL),
    "collective_metadata_reads": (MPI_IO, SERIAL),
    "metadata_cache_initial_bytes": (FILES, OWN),
    "metadata_cache_max_bytes": (FILES, OWN),
    "metadata_cache_evictions": (FILES, OWN),
    "metadata_cache_image": ("test_the_metadata_cache_is_kept_in_the_file", RANKS),
    "page_buffer_bytes": (PAGES, "test_settings_arrive_on_all_ranks"),
    "libver_low": ("test_versions_of_the_format", OWN),
    "libver_high": ("test_versions_of_the_format", OWN_TOO),
    "evict_on_close": ("test_metadata_leaves_with_its_object", RANKS),
    "file_locking": ("test_a_lock_is_left_out_for_readers_alone",) * 2,
    "driver": (CORE, RANKS),
    "core_increment_bytes": (CORE, "test_other_drivers"),
    "core_backing_store": (CORE, CORE),
    "subfiling_stripe_bytes": (SUBFILES, "test_other_drivers"),
    "subfiling_concentrators_per_node": (SUBFILES, "test_other_drivers"),
    "layout": (DATASETS, RANKS),
    "chunk": (DATASETS, OWN),
    "allocation_time": (DATASETS, RANKS),
    "fill_time": ("test_what_is_written_whole_is_written_once", DATASETS),
    "shuffle": (DATASETS, RANKS),
    "deflate": (DATASETS, RANKS),
    "chunk_cache_bytes": (DATASETS, OWN_TOO),
    "chunk_cache_slots": (DATASETS, OWN_TOO),
    "chunk_cache_preemption": (DATASETS, OWN_TOO),
    "write_mode": (MPI_IO, SERIAL),
    "read_mode": (MPI_IO, SERIAL),
    "collective_io": (MPI_IO, SERIAL),
    "chunk_io": (MPI_IO, RANKS),
    "chunk_io_chunks": (MPI_IO, SERIAL),
    "chunk_io_percent": (MPI_IO, SERIAL),
    "conversion_buffer_bytes": ("test_the_buffer_of_conversions", OWN_TOO),
}


def test_every_setting_has_its_tests() -> None:
    module = core()
    assert module is not None
    keys = {one["key"] for one in json.loads(module.rule_table([]))["settings"]}
    assert keys == set(TESTS)
    texts = [file.read_text() for file in HERE.glob("test_*.py")]
    for name in {name for pair in TESTS.values() for name in pair}:
        assert any(f"def {name}(" in text for text in texts), name


MANY = """
def left(name):
    with h5py.File(name, "w") as f:
        for k in range(200): f.create_dataset(f"d{k}", (4,), "i4")
        return f.id.get_mdc_size()[3]
tell(out=left("out.h5"), plain=left("plain.h5"))
"""


def test_metadata_leaves_with_its_object(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, entry("out.h5", setting("35", "evict_on_close", True)))
    _, lines = applied(tmp_path, plan, ASK + MANY)
    assert lines["35", "evict_on_close"]["became"] == "applied"
    entries = told(tmp_path)
    assert entries["plain"] > 200  # a header per dataset, and more
    assert entries["out"] < 100


IMAGE = """
import netCDF4
def made(name):
    with netCDF4.Dataset(name, "w") as f:
        f.createDimension("x", 4)
        for k in range(50): f.createVariable(f"d{k}", "i4", ("x",))[:] = k
made("out.nc"); made("plain.nc")
with h5py.File("old.h5", "w") as f: f.create_dataset("x", (4,), "i4")
tell(version=netCDF4.__hdf5libversion__)
"""
READ = """
import netCDF4
with netCDF4.Dataset("out.nc") as f: assert len(f.variables) == 50 and (f["d7"][:] == 7).all()
"""
# In a process of its own, which has one HDF5.
SIZES = """
at, size, sizes = ctypes.c_uint64(), ctypes.c_uint64(), {}
ask = library().H5Fget_mdc_image_info
ask.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
for name in ("out.nc", "plain.nc", "old.h5"):
    opened = h5py.h5f.open(name.encode(), h5py.h5f.ACC_RDONLY)
    assert ask(opened.id, ctypes.byref(at), ctypes.byref(size)) >= 0
    sizes[name] = size.value
tell(**sizes)
"""


def test_the_metadata_cache_is_kept_in_the_file(tmp_path: Path) -> None:
    """Where HDF5 can: the wheel of netCDF4 brings a newer one than that of h5py, which could not
    read it back."""
    image = setting("40", "metadata_cache_image", True, "opt_in")
    plan = write_plan(tmp_path, entry("o*", image, when="create"))
    ran, _ = applied(tmp_path, plan, ASK + IMAGE)
    ran.expect(0)
    newer = tuple(map(int, told(tmp_path)["version"].split(".")[:2])) >= (2, 2)
    became = {Path(place).name: (line["became"], line["reason"])
              for line in ran.json["lines"] for place in line["places"]}  # fmt: skip
    too_old = ("held", "HDF5 before 2.2 has been seen unable to read it back")
    oldest = ("held", "HDF5 keeps none in files of the oldest format (libver_low)")
    assert became["old.h5"] == (oldest if h5py.version.hdf5_version_tuple >= (2, 2, 0) else too_old)
    assert became["out.nc"] == (("applied", "") if newer else too_old)
    for text in (READ, ASK + SIZES):
        subprocess.run([*map(str, script(tmp_path, text))], cwd=tmp_path, check=True, timeout=60)
    sizes = told(tmp_path)
    assert sizes["plain.nc"] == sizes["old.h5"] == 0
    assert (sizes["out.nc"] > 1000) == newer


VERSIONS = """
found = {}
for name in ("a", "b", "c"):
    # h5py.File sets a version itself.
    opened = h5py.h5f.create((name + ".h5").encode())
    with h5py.File(opened) as f: found[name] = of_file(f)["libver"]
tell(**found)
"""


def bounds(name: str, low: str, high: str) -> Json:
    return entry(name, setting("24", "libver_low", low, "opt_in"),
                 setting("24", "libver_high", high, "opt_in"))  # fmt: skip


def test_versions_of_the_format(tmp_path: Path) -> None:
    """The third pair is none that a library takes: the file gets its own, and it is said."""
    plan = write_plan(tmp_path, bounds("a.h5", "v110", "v114"), bounds("b.h5", "latest", "latest"),
                      bounds("c.h5", "v114", "v110"))  # fmt: skip
    ran, _ = applied(tmp_path, plan, ASK + VERSIONS)
    found = told(tmp_path)
    newest = h5py.h5f.LIBVER_LATEST
    assert found["a"] == [h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V114]
    assert found["b"] == [newest, newest]
    assert found["c"][1] == newest
    assert "HDF5-DIAG" not in ran.err
    refused = [line for line in ran.json["lines"] if line["became"] == "refused"]
    assert {line["setting"] for line in refused} == {"libver_low", "libver_high"}
    assert all(line["places"] == [str(tmp_path / "c.h5")] for line in refused)


CORE_MODES = """
modes = {}
for mode in ("w", "a", "r+", "r"):
    with h5py.File("out.h5", mode) as f:
        if mode == "w": f["x"] = np.arange(1000)
        f.flush()
        modes[mode] = in_memory(f)
        assert f["x"][999] == 999
tell(**modes)
"""


def test_the_core_driver_is_for_reading(tmp_path: Path) -> None:
    """What is written would be in memory alone until the close, however much it is."""
    plan = write_plan(
        tmp_path,
        entry("*.h5", setting("32", "driver", "core", "opt_in"),
              setting("32", "core_increment_bytes", 1 << 20, "opt_in"),
              setting("32", "core_backing_store", True, "opt_in")),
    )  # fmt: skip
    ran, _ = applied(tmp_path, plan, ASK + CORE_MODES)
    ran.expect(0)
    assert told(tmp_path) == {"w": False, "a": False, "r+": False, "r": True}
    held = "its data would be in memory alone until the close"
    assert {(line["setting"], line["became"], line["reason"], line["count"])
            for line in ran.json["lines"]} == {
        (key, *how) for key in ("driver", "core_increment_bytes", "core_backing_store")
        for how in (("held", held, 3), ("applied", "", 1))
    }  # fmt: skip
    with h5py.File(tmp_path / "out.h5") as f:
        assert f["x"][999] == 999


def test_blocks_of_the_file_system_are_asked_for_where_the_file_lies(tmp_path: Path) -> None:
    """Rules 1 and 2: the function, not a number."""
    blocks = {
        "name": "fs_blocks",
        "numbers": {"count": 3, "low_bytes": 4096, "high_bytes": 1 << 24},
    }
    aligned = setting("1", "alignment_bytes", 0, "layout") | {"function": blocks}
    del aligned["value"]
    plan = write_plan(
        tmp_path,
        entry("out.h5", setting("1", "alignment_threshold_bytes", 65536, "layout"), aligned),
    )
    text = 'with h5py.File("out.h5", "w") as f: tell(alignment=of_file(f)["alignment"])\n'
    _, lines = applied(tmp_path, plan, ASK + text)
    expected = max(3 * os.statvfs(tmp_path).f_bsize, 4096)
    assert told(tmp_path)["alignment"] == [65536, expected]
    assert lines["1", "alignment_bytes"]["value"] == str(expected)


BEYOND_MEMORY = """
import os
with h5py.File("in.h5", "w") as f: f["x"] = np.arange(10)
os.truncate("in.h5", os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))  # sparse
with h5py.File("in.h5") as f: tell(driver=in_memory(f), last=int(f["x"][9]))
"""


def test_a_file_that_memory_does_not_hold_is_not_read_into_it(tmp_path: Path) -> None:
    plan = write_plan(
        tmp_path, entry("in.h5", setting("32", "driver", "core", "opt_in"), when="open")
    )
    ran, lines = applied(tmp_path, plan, ASK + BEYOND_MEMORY)
    ran.expect(0)
    assert told(tmp_path) == {"driver": False, "last": 9}
    assert "larger than a process may hold" in lines["32", "driver"]["reason"]


DRIVERS = """
has = hasattr(library(), "H5Pset_fapl_direct")
for name in ("direct", "subfiling", "none"):
    with h5py.File(name + ".h5", "w") as f: f["x"] = [1, 2]
tell(direct=has)
"""


def test_other_drivers(tmp_path: Path) -> None:
    """Subfiles are for MPI-IO only; the direct driver is there where HDF5 was built with it."""
    plan = write_plan(
        tmp_path,
        entry("direct.h5", setting("33", "driver", "direct", "opt_in")),
        entry("subfiling.h5", setting("34", "driver", "subfiling", "opt_in"),
              setting("34", "subfiling_stripe_bytes", 32 << 20, "opt_in"),
              setting("34", "subfiling_concentrators_per_node", 1, "opt_in")),
        entry("none.h5", setting("32", "core_increment_bytes", 1 << 20, "opt_in")),
    )  # fmt: skip
    _, lines = applied(tmp_path, plan, ASK + DRIVERS)
    direct = lines["33", "driver"]
    if not told(tmp_path)["direct"]:
        assert direct["reason"] == "this HDF5 was built without the direct driver"
    assert (direct["became"] == "unavailable") != told(tmp_path)["direct"]
    for key in ("driver", "subfiling_stripe_bytes", "subfiling_concentrators_per_node"):
        assert lines["34", key]["became"] == "held"
        assert "only for files opened with MPI-IO" in lines["34", key]["reason"]
    assert lines["32", "core_increment_bytes"]["reason"] == "the plan does not change the driver"


# A conversion of the program's own is told which list is in force, and how much it gets at once.
CONVERT = """
seen = {}
def convert(src, dst, data, count, stride, _, buffer, __, transfer):
    if ctypes.cast(data, ctypes.POINTER(ctypes.c_int))[0] == 1:
        H = library(); H.H5Pget_buffer.restype = ctypes.c_size_t
        H.H5Pget_buffer.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
        seen["buffer"] = H.H5Pget_buffer(transfer, None, None)
        seen["most"] = max(seen.get("most", 0), count)
        np.ctypeslib.as_array(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_int32)),
                              (count,)).byteswap(inplace=True)
    return 0
i, p, z = ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t
callback = ctypes.CFUNCTYPE(ctypes.c_int, i, i, p, z, z, z, p, p, i)(convert)
H = library()
H.H5Tregister.argtypes = [ctypes.c_int, ctypes.c_char_p, i, i, p]
assert H.H5Tregister(0, b"own", h5py.h5t.STD_I32LE.id, h5py.h5t.STD_I32BE.id, callback) >= 0
def write(f, name, transfer=None):
    seen.clear()
    space = h5py.h5s.create_simple((1500000,))
    d = h5py.h5d.create(f.id, name.encode(), h5py.h5t.STD_I32BE, space)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(1500000, dtype="<i4"), dxpl=transfer)
    assert f[name][1499999] == 1499999
    return [seen["buffer"], seen["most"]]
"""
BUFFERS = """
with h5py.File("out.h5", "w") as f:
    transfer = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    other = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    H.H5Pset_buffer.argtypes = [i, z, p, p]
    assert H.H5Pset_buffer(other.id, 262144, None, None) >= 0
    tell(x=write(f, "x"), again=write(f, "y", transfer), own=write(f, "z", other),
         plain=write(f, "plain"))
H.H5Tunregister.argtypes = [ctypes.c_int, ctypes.c_char_p, i, i, p]
assert H.H5Tunregister(0, b"own", -1, -1, callback) >= 0  # at the end Python is gone first
"""


def test_the_buffer_of_conversions(tmp_path: Path) -> None:
    buffer = setting("38", "conversion_buffer_bytes", 4 << 20)
    plan = write_plan(tmp_path, entry("out.h5", buffer, dataset="/[xyz]"))
    ran, _ = applied(tmp_path, plan, ASK + CONVERT + BUFFERS)
    ran.expect(0)
    found = told(tmp_path)
    assert found["x"] == found["again"] == [4 << 20, 1 << 20]
    assert found["own"] == [262144, 65536]
    assert found["plain"] == [1 << 20, 1 << 18]
    became = {(line["became"], place.rsplit(":", 1)[-1])
              for line in ran.json["lines"] for place in line["places"]}  # fmt: skip
    # What is read of it comes with another list.
    assert became == {("applied", f"/{name}") for name in "xyz"} | {("kept", "/z")}


LARGE = """
item = h5py.h5t.array_create(h5py.h5t.STD_I32BE, (20000,))
own = h5py.h5t.array_create(h5py.h5t.NATIVE_INT32, (20000,))
with h5py.File("out.h5", "w") as f:
    for name in (b"x", b"y"):
        d = h5py.h5d.create(f.id, name, item, h5py.h5s.create_simple((3,)))
        values = np.arange(60000, dtype="i4").reshape(3, 20000)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, values, mtype=own)
        assert (f[name][...] == values).all()
"""


def test_a_refused_transfer_is_made_again_and_said_once(tmp_path: Path) -> None:
    """A buffer that is too small for one element of 80000 bytes."""
    buffer = setting("38", "conversion_buffer_bytes", 65536)
    plan = write_plan(tmp_path, entry("out.h5", buffer, dataset="*"))
    ran, lines = applied(tmp_path, plan, ASK + LARGE)
    ran.expect(0)
    assert ran.err.count("a transfer failed with settings of the plan") == 1
    assert "HDF5-DIAG" not in ran.err
    assert lines["", "transfer"]["became"] == "refused"
    assert len(lines["", "transfer"]["places"]) == 2


def test_guards_of_serial_files(tmp_path: Path) -> None:
    of_ranks = {"hint.cb_nodes": "2", "collective_metadata_writes": True,
                "collective_metadata_reads": True}  # fmt: skip
    transfers = {"write_mode": "collective", "read_mode": "collective", "collective_io":
                 "individual", "chunk_io": "one_io", "chunk_io_chunks": 2,
                 "chunk_io_percent": 50}  # fmt: skip
    plan = write_plan(
        tmp_path,
        entry("out.h5", *(setting("a", *one, "collective") for one in of_ranks.items())),
        entry("out.h5", *(setting("a", *one, "collective") for one in transfers.items()),
              dataset="/x"),
    )  # fmt: skip
    text = """
with h5py.File("out.h5", "w") as f:
    f.create_dataset("x", (10,), "i4")[...] = 1
    assert f["x"][9] == 1
"""
    prove(plan, *script(tmp_path, ASK + text))
    ran, lines = applied(tmp_path, plan, ASK + text, "--allow", "collective")
    ran.expect(0)
    for key in [*of_ranks, *transfers]:
        assert lines["a", key]["became"] == "held", key
        assert lines["a", key]["reason"] == "only for files opened with MPI-IO", key


def test_no_setting_of_a_file_is_left_out_without_a_word(tmp_path: Path) -> None:
    """As many as a plan may have for one: hints, and behind them what HDF5 takes."""
    hints = [setting("45", f"hint.of_site_{number}", "1") for number in range(92)]
    last = {"alignment_threshold_bytes": 2048, "alignment_bytes": 4096, "meta_block_bytes": 65536,
            "sieve_buffer_bytes": 1 << 20}  # fmt: skip
    others = [setting("1", key, value, "layout") for key, value in last.items()]
    plan = write_plan(tmp_path, entry("out.h5", *hints, *others))
    text = 'with h5py.File("out.h5", "w") as f: f["x"] = 1\n'
    ran, lines = applied(tmp_path, plan, ASK + text)
    ran.expect(0)
    became = {key: line["became"] for (_, key), line in lines.items()}
    assert became == {f"hint.of_site_{number}": "held" for number in range(92)} | dict.fromkeys(
        last, "applied"
    )  # fmt: skip


SET = """
H = library()
for name, kinds in (("H5Pset_small_data_block_size", [ctypes.c_uint64]),
                    ("H5Pset_evict_on_close", [ctypes.c_bool]),
                    ("H5Pset_buffer", [ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p])):
    getattr(H, name).argtypes = [ctypes.c_int64, *kinds]
a = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
a.set_libver_bounds(h5py.h5f.LIBVER_EARLIEST, h5py.h5f.LIBVER_V110)
a.set_file_locking(False, True)
a.set_cache(0, 1009, 2 << 20, 0.25)
assert H.H5Pset_small_data_block_size(a.id, 8192) >= 0
assert H.H5Pset_evict_on_close(a.id, True) >= 0
c = h5py.h5p.create(h5py.h5p.FILE_CREATE)
c.set_file_space_strategy(2, False, 1)
f = h5py.File(h5py.h5f.create(b"out.h5", h5py.h5f.ACC_TRUNC, fapl=a, fcpl=c))
t = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
t.set_chunk((10,)); t.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY); t.set_fill_time(0)
d = h5py.h5d.create(f.id, b"d", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((100,)), t)
own = h5py.h5p.create(h5py.h5p.DATASET_XFER)
assert H.H5Pset_buffer(own.id, 262144, None, None) >= 0
d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(100, "i4"), dxpl=own)
tell(file=of_file(f), d=of_dataset(h5py.Dataset(d)))
"""


def test_what_the_program_set_itself_stays(tmp_path: Path) -> None:
    of_file = {"small_data_block_bytes": 65536, "libver_high": "v114", "file_locking": True,
               "evict_on_close": False, "file_space_strategy": "page"}  # fmt: skip
    of_dataset = {"allocation_time": "late", "fill_time": "ifset", "chunk_cache_bytes": 1 << 23,
                  "chunk_cache_slots": 10007, "chunk_cache_preemption": 1.0,
                  "conversion_buffer_bytes": 1 << 22}  # fmt: skip
    plan = write_plan(
        tmp_path,
        entry("out.h5", *(setting("a", key, value, "layout") for key, value in of_file.items())),
        entry("out.h5", *(setting("a", key, value, "layout") for key, value in of_dataset.items()),
              dataset="/d"),
    )  # fmt: skip
    ran, lines = applied(tmp_path, plan, ASK + SET, HDF5_USE_FILE_LOCKING=None)
    ran.expect(0)
    file, dataset = told(tmp_path)["file"], told(tmp_path)["d"]
    assert (file["small_data"], file["strategy"], file["locking"]) == (8192, 2, False)
    assert file["libver"][1] == h5py.h5f.LIBVER_V110
    assert (dataset["alloc"], dataset["fill"]) == (h5py.h5d.ALLOC_TIME_EARLY, 0)
    assert dataset["cache"] == [1009, 2 << 20, 0.25]
    for key in [*of_file, *of_dataset]:
        assert lines["a", key]["became"] == "kept", key
        whole = "the program set it for the whole file" if "cache" in key else ""
        assert lines["a", key]["reason"] == (whole or "the program set it itself"), key
