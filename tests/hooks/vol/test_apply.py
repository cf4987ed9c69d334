# SPDX-License-Identifier: Apache-2.0
"""Settings of a plan in scripts with h5py: they arrive, or say why not, and content stays."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from plans import applied, compiled, entry, setting, write_plan
from profiled import script
from tailrace_cli import tailrace

from tailrace.intent import apply as applying
from tailrace.intent import plugin

# What h5py does not know how to ask for, asked from its own library.
ASK = """
import ctypes, h5py, json, os, sys
import numpy as np
def library():
    h5py.h5.get_config()
    for line in open("/proc/self/maps"):
        path = line.split()[-1]
        if "libhdf5" in path and "_hl" not in path and path.endswith(tuple("0123456789o")):
            return ctypes.CDLL(path)
def number(list_id, function, kind=ctypes.c_uint64):
    value = kind()
    call = getattr(library(), function)
    call.argtypes = [ctypes.c_int64, ctypes.c_void_p]
    assert call(list_id, ctypes.byref(value)) >= 0, function
    return value.value
def of_file(f):
    a, c = f.id.get_access_plist(), f.id.get_create_plist()
    mdc = a.get_mdc_config()
    return {
        "alignment": a.get_alignment(), "meta_block": a.get_meta_block_size(),
        "small_data": number(a.id, "H5Pget_small_data_block_size"),
        "sieve": a.get_sieve_buf_size(), "libver": a.get_libver_bounds(),
        "mdc": [mdc.initial_size, mdc.max_size, bool(mdc.evictions_enabled)],
        "locking": a.get_file_locking()[0], "page_buffer": a.get_page_buffer_size()[0],
        "strategy": c.get_file_space_strategy()[0], "page": c.get_file_space_page_size(),
    }
# Whether a contiguous dataset stays as it was when the bytes in the file change.
def in_memory(f, name="x"):
    before, at = bytes(f[name][()]), f[name].id.get_offset()
    with open(f.filename, "r+b") as file:
        file.seek(at); own = file.read(8)
        file.seek(at); file.write(bytes(255 - byte for byte in own)); file.flush()
        same = bytes(f[name][()]) == before
        file.seek(at); file.write(own)
    return same
def of_dataset(d):
    c = d.id.get_create_plist()
    return {
        "chunks": d.chunks, "layout": c.get_layout(), "alloc": c.get_alloc_time(),
        "fill": c.get_fill_time(), "filters": [c.get_filter(i)[0] for i in range(c.get_nfilters())],
        "cache": d.id.get_access_plist().get_chunk_cache(),
    }
def tell(**found):
    with open("told.json", "w") as out: json.dump(found, out, default=float)
"""
WRITE = """
with h5py.File("out.h5", "w") as f:
    tell(file=of_file(f))
    f["x"] = np.arange(1000)
"""


def told(folder: Path) -> Any:
    import json

    return json.loads((folder / "told.json").read_text())


FILE = [
    ("1", "alignment_threshold_bytes", 65536, "alignment", [65536, 4096]),
    ("1", "alignment_bytes", 4096, "alignment", [65536, 4096]),
    ("3", "meta_block_bytes", 1 << 20, "meta_block", 1 << 20),
    ("4", "small_data_block_bytes", 1 << 16, "small_data", 1 << 16),
    ("11", "sieve_buffer_bytes", 1 << 20, "sieve", 1 << 20),
    ("7", "metadata_cache_initial_bytes", 16 << 20, "mdc", [16 << 20, 32 << 20, False]),
    ("8", "metadata_cache_max_bytes", 32 << 20, "mdc", [16 << 20, 32 << 20, False]),
    ("7", "metadata_cache_evictions", False, "mdc", [16 << 20, 32 << 20, False]),
]


def test_settings_of_files_arrive(tmp_path: Path) -> None:
    settings = [setting(rule, key, value) for rule, key, value, _, _ in FILE]
    settings.append(setting("35", "evict_on_close", True))  # an open file does not tell it
    plan = write_plan(tmp_path, entry("out.h5", *settings))
    ran, lines = applied(tmp_path, plan, ASK + WRITE, HDF5_USE_FILE_LOCKING=None)
    ran.expect(0)
    file = told(tmp_path)["file"]
    assert lines["35", "evict_on_close"]["became"] == "applied"
    for rule, key, value, asked, expected in FILE:
        assert file[asked] == expected, asked
        assert lines[rule, key]["became"] == "applied"
        assert lines[rule, key]["value"] == str(value).lower()
        assert lines[rule, key]["places"] == [str(tmp_path / "out.h5")]
    with h5py.File(tmp_path / "out.h5") as f:
        assert np.array_equal(f["x"][...], np.arange(1000))


def test_a_short_run_with_a_plan_that_is_not_proven_is_told(tmp_path: Path) -> None:
    command = script(tmp_path, "print('ran')")
    words = "the start of the hooks may take"
    for settings, expected in (([setting("3", "meta_block_bytes", 1 << 20)], True), ([], False)):
        plan = write_plan(tmp_path, *([entry("out.h5", *settings)] if settings else []))
        said = tailrace("apply", plan, "--", *command, cwd=tmp_path).expect(0).err
        assert (words in said and "tailrace tune -- " in said) is expected
    assert applying.note_on_short_run({}, 60, command) == ""
    assert applying.note_on_short_run({"proof": {}}, 1, command) == ""


LOCKS = """
with h5py.File("in.h5", "r") as f: read = of_file(f)["locking"]
with h5py.File("in.h5", "r+") as f: written = of_file(f)["locking"]
with h5py.File("new.h5", "w") as f: tell(read=read, written=written, created=of_file(f)["locking"])
"""


def test_a_lock_is_left_out_for_readers_alone(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "in.h5", "w") as f:
        f["x"] = 1
    plan = write_plan(tmp_path, entry("*.h5", setting("37", "file_locking", False, "opt_in")))
    ran, _ = applied(tmp_path, plan, ASK + LOCKS, HDF5_USE_FILE_LOCKING=None)
    ran.expect(0)
    assert told(tmp_path) == {"read": False, "written": True, "created": True}
    lines = {line["became"]: line for line in ran.json["lines"]}
    assert lines["applied"]["places"] == [str(tmp_path / "in.h5")]
    assert "the file is written" in lines["held"]["reason"]


def test_pages_and_their_buffer_and_what_they_exclude(tmp_path: Path) -> None:
    plan = write_plan(
        tmp_path,
        entry(
            "out.h5",
            setting("9", "file_space_strategy", "page", "layout"),
            setting("9", "page_bytes", 65536, "layout"),
            setting("9", "page_buffer_bytes", 1 << 20),
            setting("1", "alignment_bytes", 4096, "layout"),
        ),
    )
    _, lines = applied(tmp_path, plan, ASK + WRITE)
    file = told(tmp_path)["file"]
    assert (file["strategy"], file["page"], file["page_buffer"]) == (1, 65536, 0)
    assert "lose objects" in lines["9", "page_buffer_bytes"]["reason"]
    assert file["alignment"] == [1, 1]
    assert lines["1", "alignment_bytes"]["became"] == "held"
    assert "pages are aligned" in lines["1", "alignment_bytes"]["reason"]


def test_alignment_and_a_user_block(tmp_path: Path) -> None:
    """HDF5 would refuse the whole list; only what does not fit is held back."""
    settings = [
        setting("1", "alignment_bytes", 4096, "layout"), setting("3", "meta_block_bytes", 1 << 16),
    ]  # fmt: skip
    plan = write_plan(tmp_path, entry("*.h5", *settings))
    text = """
with h5py.File("small.h5", "w", userblock_size=512) as f: tell(file=of_file(f))
with h5py.File("large.h5", "w", userblock_size=8192) as f: tell(file=of_file(f))
"""
    ran, _ = applied(tmp_path, plan, ASK + text)
    ran.expect(0)
    became = {(line["setting"], line["became"]): line for line in ran.json["lines"]}
    held = became["alignment_bytes", "held"]
    assert (held["reason"], [Path(place).name for place in held["places"]]) == (
        "the file has a user block that is no multiple", ["small.h5"],
    )  # fmt: skip
    assert became["alignment_bytes", "applied"]["count"] == 1
    assert became["meta_block_bytes", "applied"]["count"] == 2
    assert told(tmp_path)["file"]["alignment"] == [1, 4096]


OWN = """
a = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
a.set_alignment(512, 1024); a.set_meta_block_size(8192); a.set_sieve_buf_size(131072)
mdc = a.get_mdc_config(); mdc.initial_size = 4 << 20; a.set_mdc_config(mdc)
a.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_LATEST)
f = h5py.File(h5py.h5f.create(b"out.h5", h5py.h5f.ACC_TRUNC, fapl=a))
d = f.create_dataset("d", (1000, 1000), "f4", chunks=(100, 1000), compression=1)
dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS); dapl.set_chunk_cache(101, 3 << 20, 0.5)
e = h5py.h5d.create(f.id, b"e", h5py.h5t.NATIVE_FLOAT, d.id.get_space(),
                    dcpl=d.id.get_create_plist(), dapl=dapl)
tell(file=of_file(f), d=of_dataset(d), e=of_dataset(h5py.Dataset(e)))
"""


def test_what_the_program_set_itself_wins(tmp_path: Path) -> None:
    settings = [setting(rule, key, value) for rule, key, value, _, _ in FILE[:8]]
    settings.append(setting("24", "libver_low", "v18", "opt_in"))
    plan = write_plan(
        tmp_path,
        entry("out.h5", *settings),
        entry("out.h5", setting("30", "deflate", 4, "opt_in"),
              setting("17", "chunk", [10, 10], "layout"), dataset="/d", when="create"),
        entry("out.h5", setting("13", "chunk_cache_bytes", 1 << 25), dataset="/e"),
    )  # fmt: skip
    ran, lines = applied(tmp_path, plan, ASK + OWN)
    ran.expect(0)
    found = told(tmp_path)
    assert found["file"]["alignment"] == [512, 1024]
    assert found["file"]["meta_block"] == 8192
    assert found["file"]["mdc"][0] == 4 << 20
    assert found["d"]["chunks"] == [100, 1000]
    assert found["d"]["filters"] == [1]
    assert found["e"]["cache"] == [101, 3 << 20, 0.5]
    kept = {key for (_, key), line in lines.items() if line["became"] == "kept"}
    assert kept == {
        "alignment_threshold_bytes", "alignment_bytes", "meta_block_bytes", "sieve_buffer_bytes",
        "metadata_cache_initial_bytes", "metadata_cache_max_bytes", "metadata_cache_evictions",
        "libver_low", "deflate", "chunk", "chunk_cache_bytes",
    }  # fmt: skip
    assert all(line["reason"] == "the program set it itself" for line in lines.values()
               if line["became"] == "kept")  # fmt: skip


DATASETS = """
with h5py.File("out.h5", "w") as f:
    wide = f.create_dataset("g/wide", (600, 700), "f8")
    wide[...] = np.arange(420000.).reshape(600, 700)
    grown = f.create_dataset("grown", (0,), "i4", maxshape=(None,), chunks=(128,))
    grown.resize((100000,)); grown[...] = np.arange(100000)
    tiny = f.create_dataset("tiny", (10,), "i8"); tiny[...] = 7
    narrow = f.create_dataset("narrow", (5, 5), "f4"); narrow[...] = 1
    rows = f.create_dataset("rows", (500, 400), "f4", chunks=(10, 400)); rows[...] = 2
    once = f.create_dataset("once", (500, 400), "f4", chunks=(10, 400)); once[...] = 3
    tell(**{d.name.split("/")[-1]: of_dataset(d) for d in (wide, grown, tiny, narrow, rows, once)})
with h5py.File("out.h5") as f:
    with open("opened.json", "w") as out: json.dump(of_dataset(f["rows"])["cache"], out)
    assert f["rows"][499, 399] == 2 and f["g"]["wide"][599, 699] == 419999
"""


def dataset_plan(folder: Path) -> Path:
    cache = {"numbers": {"percent": 120, "low_bytes": 1 << 20, "high_bytes": 1 << 30},
             "name": "cache_of_selection", "extents": [0, 1]}  # fmt: skip
    slots = {"name": "slots_of_selection", "numbers": {"factor": 100}, "extents": [0, 1]}
    tile = {"name": "tile", "numbers": {"max_bytes": 1 << 20}, "extents": [200, 300]}
    rows = {"name": "rows_of_bytes", "numbers": {"bytes": 1 << 20}, "extents": []}
    create = "create"
    return write_plan(
        folder,
        entry("out.h5", setting("17", "chunk", None, "layout", function=tile), dataset="/g/*",
              when=create),
        entry("out.h5", setting("19", "chunk", None, "layout", function=rows), dataset="/grown",
              when=create),
        entry("out.h5", setting("23", "layout", "compact", "layout"), dataset="/tiny",
              when=create),
        entry("out.h5", setting("site", "chunk", [10, 10], "layout"), dataset="/narrow",
              when=create),
        entry("out.h5", setting("13", "chunk_cache_bytes", None, function=cache),
              setting("13", "chunk_cache_slots", None, function=slots),
              setting("14", "chunk_cache_preemption", 1.0), dataset="/rows"),
        entry("out.h5", setting("21", "allocation_time", "early", "layout"),
              setting("30", "shuffle", True, "opt_in"), setting("30", "deflate", 1, "opt_in"),
              setting("20", "fill_time", "never", "opt_in"), dataset="/once", when=create),
    )  # fmt: skip


def test_settings_of_datasets_arrive(tmp_path: Path) -> None:
    ran, lines = applied(tmp_path, dataset_plan(tmp_path), ASK + DATASETS)
    ran.expect(0)
    found = told(tmp_path)
    assert found["wide"]["chunks"] == [200, 300]
    assert found["grown"]["chunks"] == [262144]
    assert found["tiny"]["layout"] == h5py.h5d.COMPACT
    opened = (tmp_path / "opened.json").read_text()
    assert opened == str([5003, 1 << 20, 1.0])
    assert found["rows"]["cache"] == [5003, 1 << 20, 1.0]
    assert found["once"]["filters"] == [2, 1]
    assert found["once"]["alloc"] == h5py.h5d.ALLOC_TIME_EARLY
    assert found["once"]["fill"] == h5py.h5d.FILL_TIME_IFSET
    # Guards: a literal that does not fit, and what would leave holes.
    assert found["narrow"]["chunks"] is None
    assert lines["site", "chunk"]["became"] == "misfit"
    assert "larger than the dataset" in lines["site", "chunk"]["reason"]
    assert lines["20", "fill_time"]["became"] == "held"
    assert (lines["13", "chunk_cache_bytes"]["count"]) == 3
    with h5py.File(tmp_path / "out.h5") as f:
        assert np.array_equal(f["g/wide"][...], np.arange(420000.0).reshape(600, 700))
        assert np.array_equal(f["grown"][...], np.arange(100000))
        assert set(np.unique(f["once"][...])) == {3}


BY_REFERENCE = """
with h5py.File("in.h5", "r+") as f:
    refs = f["refs"][...]
    size = lambda ref: f[ref]["x"].id.get_access_plist().get_chunk_cache()[1]
    first = [size(ref) for ref in refs]
    f.move("g1", "other")
    moved, beside = size(refs[1]), size(refs[2])
    f.create_dataset("g3/in/x", (64,), "f4", chunks=(8,))
    tell(first=first, moved=moved, beside=beside, newer=size(f["g3/in"].ref),
         absolute=f[refs[0]]["/g2/x"].id.get_access_plist().get_chunk_cache()[1])
"""


def test_groups_that_references_lead_to_have_the_settings_of_their_names(tmp_path: Path) -> None:
    """Also where links have moved since the names were looked for, or are newer."""
    with h5py.File(tmp_path / "in.h5", "w") as f:
        groups = [f.create_group(f"g{number}") for number in range(4)]
        for group in groups:
            group.create_dataset("x", (64,), "f4", chunks=(8,))
        f["refs"] = np.array([group.ref for group in groups], dtype=h5py.ref_dtype)
    cache = setting("13", "chunk_cache_bytes", 1 << 22)
    plan = write_plan(tmp_path, entry("in.h5", cache, dataset="/g*"))
    applied(tmp_path, plan, ASK + BY_REFERENCE)[0].expect(0)
    found = told(tmp_path)
    moved = found.pop("moved")
    assert moved != 1 << 22, "/other/x is no match"
    assert found.pop("first") == 4 * [1 << 22]
    assert set(found.values()) == {1 << 22}


def test_a_refused_setting_falls_back_and_says_so_once(tmp_path: Path) -> None:
    """A buffer of pages without pages; a compact dataset that is allocated late."""
    plan = write_plan(
        tmp_path,
        entry("*.h5", setting("9", "page_buffer_bytes", 1 << 20),
              setting("1", "alignment_bytes", 4096, "layout")),
        entry("*.h5", setting("23", "layout", "compact", "layout"),
              setting("21", "allocation_time", "late", "layout"), dataset="/x", when="create"),
    )  # fmt: skip
    text = """
for name in ("a.h5", "b.h5"):
    with h5py.File(name, "x") as f:
        d = f.create_dataset("x", (10,), "i4"); d[...] = 5
        tell(file=of_file(f), x=of_dataset(d))
"""
    ran, lines = applied(tmp_path, plan, ASK + text)
    ran.expect(0)
    assert ran.err.count("the library refused settings of the plan") == 2  # a file, a dataset
    assert "HDF5-DIAG" not in ran.err
    found = told(tmp_path)
    assert found["file"]["alignment"] == [1, 1]
    assert found["x"]["layout"] == h5py.h5d.CONTIGUOUS
    assert lines["1", "alignment_bytes"]["became"] == "refused"
    assert lines["23", "layout"]["count"] == 2
    with h5py.File(tmp_path / "b.h5") as f:
        assert f["x"][...].tolist() == [5] * 10


PLAIN = """
import h5py, os, signal, sys
import numpy as np
def make(name):
    with h5py.File(name, "w") as f:
        f["x"] = np.arange(5000)
        f.create_dataset("y", (300, 300), "f8", chunks=(30, 30), compression=1)[...] = 4
        f["g/z"] = "text"; f["g"].attrs["a"] = [1, 2]
make("one.h5")
if "fork" in sys.argv:
    child = os.fork()
    if child == 0:
        make("two.h5")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
"""


def neutral(folder: Path) -> Path:
    return write_plan(
        folder,
        entry("*.h5", setting("11", "sieve_buffer_bytes", 1 << 20),
              setting("7", "metadata_cache_initial_bytes", 16 << 20)),
        entry("*.h5", setting("13", "chunk_cache_bytes", 1 << 24), dataset="/y"),
    )  # fmt: skip


def test_content_is_that_of_a_native_run(tmp_path: Path) -> None:
    native, tuned = tmp_path / "native", tmp_path / "tuned"
    native.mkdir()
    tuned.mkdir()
    tailrace("apply", write_plan(native), "--", *script(native, PLAIN), cwd=native).expect(0)
    _, lines = applied(tuned, neutral(tuned), PLAIN)
    assert lines["11", "sieve_buffer_bytes"]["became"] == "applied"
    digest = [hashlib.sha256((folder / "one.h5").read_bytes()).hexdigest()
              for folder in (native, tuned)]  # fmt: skip
    assert digest[0] == digest[1]


def test_forks_and_killed_processes_are_told_of(tmp_path: Path) -> None:
    command = [*script(tmp_path, PLAIN), "fork"]
    ran = tailrace("apply", "--json", neutral(tmp_path), "--", *command, cwd=tmp_path).expect(0)
    lines = {line["setting"]: line for line in ran.json["lines"]}
    assert lines["sieve_buffer_bytes"]["count"] == 2
    assert [Path(place).name for place in lines["sieve_buffer_bytes"]["places"]] == [
        "one.h5", "two.h5",
    ]  # fmt: skip
    assert lines["chunk_cache_bytes"]["count"] == 2
    assert len(ran.json["processes"]) == 2


def damaged(kind: str, good: bytes) -> bytes:
    if kind == "flipped":
        return good[:-20] + bytes([good[-20] ^ 1]) + good[-19:]
    return {
        "short": good[:-8],
        "empty": b"",
        "json": b'{"schema": "tailrace-plan/1"}',
        "version": good.replace(b"TRPLAN01", b"TRPLAN02"),
        "long": good + bytes(70000),
    }[kind]


@pytest.mark.parametrize("kind", ["flipped", "short", "empty", "json", "version", "long"])
def test_a_damaged_plan_is_off_and_said_once(tmp_path: Path, kind: str) -> None:
    plan = compiled(write_plan(tmp_path, entry("*.h5", setting("3", "meta_block_bytes", 1 << 20))))
    plan.write_bytes(damaged(kind, plan.read_bytes()))
    added = plugin.environment_to_apply(plugin.find(), plan, {})
    ran = run_alone(tmp_path, added)
    assert ran.code == 0, ran.err
    assert ran.err.count("tailrace:") == 1
    assert "the plan is not applied" in ran.err
    assert told(tmp_path)["file"]["meta_block"] == 2048


def run_alone(folder: Path, added: dict[str, str | None] | dict[str, str]) -> Any:
    import subprocess

    environment = {**os.environ, **{key: value for key, value in added.items() if value}}
    run = subprocess.run(
        [str(word) for word in script(folder, ASK + WRITE)], cwd=folder, env=environment,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    from tailrace_cli import Ran

    return Ran(run.returncode, run.stdout, run.stderr)


def test_what_env_prints_applies_the_plan_and_mode_off_switches_it_off(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, entry("*.h5", setting("3", "meta_block_bytes", 1 << 20)))
    found = tailrace("env", plan, "--json").expect(0).json["environment"]
    assert Path(found["TAILRACE_PLAN"]).name == "plan.json.compiled"
    assert run_alone(tmp_path, found).err == ""
    assert told(tmp_path)["file"]["meta_block"] == 1 << 20
    assert run_alone(tmp_path, found | {"TAILRACE_MODE": "off"}).err == ""
    assert told(tmp_path)["file"]["meta_block"] == 2048


def test_lines_for_a_person_and_what_was_not_met(tmp_path: Path) -> None:
    plan = write_plan(
        tmp_path,
        entry("*.h5", setting("3", "meta_block_bytes", 1 << 20)),
        entry("ouch.h5", setting("11", "sieve_buffer_bytes", 1 << 20)),
        entry("out.h6", setting("3", "meta_block_bytes", 1 << 22)),
        entry("*.h5", setting("13", "chunk_cache_bytes", 1 << 24), dataset="/none"),
        entry("*.h5", setting("25", "write_mode", "collective", "collective"), dataset="/x"),
    )
    ran = tailrace("apply", plan, "--", *script(tmp_path, ASK + WRITE), cwd=tmp_path).expect(0)
    at = str(tmp_path)
    *lines, last = ran.err.splitlines()
    assert "Nothing proves yet that this plan pays" in last
    assert lines == [
        "rule 25, write_mode: held back: collective: it needs --allow collective, and the very "
        "run that was proven: *.h5:/x",
        f"rule 3, meta_block_bytes = 1048576: applied 1 time: {at}/out.h5",
        "rule 11, sieve_buffer_bytes: not met: no such file was opened; the nearest was "
        f"{at}/out.h5: ouch.h5",
        f"rule 3, meta_block_bytes: not met: no such file was opened; the nearest was {at}/out.h5: "
        "out.h6",
        "rule 13, chunk_cache_bytes: not met: no such dataset was created or opened in the way "
        "that the entry is for: *.h5:/none",
    ]


def test_failures_keep_their_exit_codes(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, entry("*.h5", setting("3", "meta_block_bytes", 1 << 20)))
    fails = [sys.executable, "-c", "import sys; print('said'); sys.exit(7)"]
    ran = tailrace("apply", plan, "--json", "--", *fails, cwd=tmp_path).expect(7)
    assert ran.json["program_exit_code"] == 7
    ran = tailrace("apply", plan, "--quiet", "--", *fails, cwd=tmp_path).expect(7)
    assert ran.out == "said\n" and ran.err == "tailrace: the program ended with exit code 7\n"
    tailrace("apply", plan, "--", "no-such-program", cwd=tmp_path).expect(127)
    ran = tailrace("apply", tmp_path / "none.json", "--json", "--", "true", cwd=tmp_path)
    assert ran.expect(125).json["error"]["exit_code"] == 125
    tailrace("apply", plan, "--allow", "colective", "--", "true", cwd=tmp_path).expect(125)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["plan.json"]
