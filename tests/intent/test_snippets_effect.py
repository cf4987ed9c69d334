# SPDX-License-Identifier: Apache-2.0
"""Each kind of lines changes what a program does: counted bytes, calls and sizes, with and without.

The programs say "stack.h5", as people do; the plan has the whole path, as `tailrace advise` does.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
from own_namespace import not_run
from snippet_plans import Json, plan_of
from tailrace_cli import called
from test_snippets_compiled import H5PCC, HERE, mpi_fortran

from tailrace.intent.snippets import snippet

FILE = "stack.h5"
ROW_BYTES, ROWS_OF_CHUNK = 8192, 64
# `moved("rchar")`: what this process has read so far; its system calls are syscr, syscw.
HEAD = """
from pathlib import Path
import h5py, netCDF4, numpy, xarray
def moved(name):
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)[name])
"""
# Without the lines: the same names, with nothing in them.
NOTHING = """
from collections import defaultdict
file_arguments = dataset_arguments = variable_arguments = defaultdict(dict)
chunk_caches = open_arguments = defaultdict(dict)
def encoding(data, path, group="/", own=None): return own or {}
"""


def ran(folder: Path, program: str, lines: str) -> int:
    """The number that it prints."""
    (folder / "program.py").write_text(f"{lines}\n{HEAD}\n{program}")
    words = [sys.executable, "-W", "error:no settings", "program.py"]
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def with_and_without(
    folder: Path, kind: str, program: str, of_file: Json, of_dataset: Json | None = None
) -> tuple[int, int]:
    plan = plan_of(of_file, of_dataset, str(folder.resolve() / FILE), "/x")
    return ran(folder, program, snippet(kind, plan)), ran(folder, program, NOTHING)


def stacked(folder: Path) -> int:
    """Rows in chunks that no cache of a library holds all of; bytes."""
    rows = netCDF4.get_chunk_cache()[0] * 3 // 2 // ROW_BYTES // ROWS_OF_CHUNK * ROWS_OF_CHUNK
    with h5py.File(folder / FILE, "w") as file:
        shape, chunk = (rows, ROW_BYTES // 8), (ROWS_OF_CHUNK, ROW_BYTES // 8)
        made = file.create_dataset("x", shape, "f8", chunks=chunk, fillvalue=0)
        for row in range(0, rows, ROWS_OF_CHUNK):
            made[row : row + ROWS_OF_CHUNK] = 1.0
    return rows * ROW_BYTES


COLUMNS = {
    "h5py": """
with h5py.File("stack.h5", **file_arguments["stack.h5"]) as file:
    before = moved("rchar")
    x = file["x"]
    for column in range(0, 1024, 256): x[:, column]
    print(moved("rchar") - before)
""",
    "netcdf4": """
with netCDF4.Dataset("stack.h5") as file:
    x = file["x"]
    x.set_var_chunk_cache(*chunk_caches["stack.h5", "x"])
    before = moved("rchar")
    for column in range(0, 1024, 256): x[:, column]
    print(moved("rchar") - before)
""",
    "xarray": """
netCDF4.set_chunk_cache(*chunk_caches["stack.h5"])
with xarray.open_dataset("stack.h5", engine="netcdf4", cache=False) as file:
    before = moved("rchar")
    for column in range(0, 1024, 256): file.x[:, column].values
    print(moved("rchar") - before)
""",
}  # fmt: skip


@pytest.mark.parametrize("kind", list(COLUMNS))
def test_a_chunk_cache_is_one(tmp_path: Path, kind: str) -> None:
    """Four columns, each of which goes through all chunks: read four times, or once."""
    size = stacked(tmp_path)
    cache = {"chunk_cache_bytes": 2 * size, "chunk_cache_slots": 20011}
    tuned, plain = with_and_without(tmp_path, kind, COLUMNS[kind], {}, cache)
    assert plain >= 4 * size
    assert size <= tuned < size * 1.1


def test_a_program_that_follows_is_not_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """netCDF opens a variable with its default cache, and once more with the one that is set."""
    size = stacked(tmp_path)
    monkeypatch.chdir(tmp_path)
    plan = plan_of({}, {"chunk_cache_bytes": 2 * size, "chunk_cache_slots": 20011},
                   str(tmp_path.resolve() / FILE), "/x")  # fmt: skip
    rules = {}
    for name, lines in (("follows", snippet("netcdf4", plan)), ("as it is", "")):
        text = COLUMNS["netcdf4"] if lines else COLUMNS["netcdf4"].replace("    x.set_var", "    #")
        (tmp_path / "program.py").write_text(f"{lines}\n{HEAD}\n{text}")
        called("profile", "-o", "profile.json", "--", sys.executable, "program.py").expect(0)
        (file,) = json.loads((tmp_path / "profile.json").read_text())["files"]
        (x,) = file["datasets"]
        rules[name] = x["settings_of_program"]["chunk_cache_bytes"]
        called("advise", "profile.json", "-o", "plan.json").expect(0)
        advised = json.loads((tmp_path / "plan.json").read_text()).get("entries", [])
        found = [one["key"] for entry in advised for one in entry["settings"]]
        assert ("chunk_cache_bytes" in found) == (name == "as it is")
    assert rules == {"follows": 2 * size, "as it is": netCDF4.get_chunk_cache()[0]}


def opened_for_each_call(path: str, **settings: Any) -> Json:
    """The plan for a dataset that is."""
    plan = plan_of({}, settings, path, "/x")
    for one in plan["entries"][0]["settings"]:
        one["because"] |= {"evidence": [{"name": "dataset.opens", "value": 4}], "effect": "less"}
    return plan


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("h5py", "open it once: x = file['/x'] (it is opened 4 times"),
        ("c", """open it once: x = H5Dopen2(file, "/x", dapl) (it"""),
        ("fortran", "open it once: call h5dopen_f(file, '/x', x, error, dapl) (it"),
    ],
)
def test_a_cache_ends_with_the_last_handle(tmp_path: Path, kind: str, how: str) -> None:
    """By itself it does nothing for `file["x"][i]`, which opens it for each access."""
    path = str(tmp_path.resolve() / FILE)
    lines = snippet(kind, opened_for_each_call(path, chunk_cache_bytes=1 << 30))
    assert how in lines and "expected, if it is opened once: less" in lines
    lines = snippet(kind, opened_for_each_call(path, chunk=[64, 64]))
    assert "open it once" not in lines and "expected: less" in lines
    if kind == "h5py":
        size = stacked(tmp_path)
        plan = opened_for_each_call(path, chunk_cache_bytes=2 * size, chunk_cache_slots=20011)
        each = COLUMNS["h5py"].replace("x[:, column]", 'file["x"][:, column]')
        each = each.replace('x = file["x"]', "")
        assert ran(tmp_path, each, snippet(kind, plan)) >= 4 * size


REPLACED = {
    "h5py": (
        "take chunks= out",
        """
with h5py.File("stack.h5", "w") as file:
    x = file.create_dataset("x", (512, 512), "f8", %s **dataset_arguments["stack.h5", "x"])
    print(x.chunks[0])
""",
        "chunks=(512, 1),",
    ),
    "netcdf4": (
        "take chunksizes= out",
        """
with netCDF4.Dataset("stack.h5", "w") as file:
    for name in "ab": file.createDimension(name, 512)
    x = file.createVariable("x", "f8", ("a", "b"), %s **variable_arguments["stack.h5", "x"])
    print(x.chunking()[0])
""",
        "chunksizes=(512, 1),",
    ),
    "xarray": (
        "but for chunks",
        """
data = xarray.Dataset({"x": (("a", "b"), numpy.ones((512, 512)))})
own = {"x": {%s "dtype": "f4"}}
data.to_netcdf("stack.h5", engine="netcdf4", encoding=encoding(data, "stack.h5", "/", own))
with h5py.File("stack.h5") as file: print(file["x"].chunks[0])
""",
        '"chunksizes": (512, 1),',
    ),
}


@pytest.mark.parametrize("kind", list(REPLACED))
def test_an_advised_chunk_replaces_the_program_s_own(tmp_path: Path, kind: str) -> None:
    """Of two arguments of one name Python takes none: the comment says which has to go."""
    said, program, own = REPLACED[kind]
    path = str(tmp_path.resolve() / FILE)
    because = {"rule": "72", "text": "", "evidence": [], "effect": ""}
    one = {"file": path, "dataset": "/x", "chunk": [64, 128], "because": because}
    lines = snippet(kind, {"entries": [], "advice": [one]})
    assert said in lines
    assert ran(tmp_path, program % (own if kind == "xarray" else ""), lines) == 64
    by_the_plan = snippet(kind, plan_of({}, {"chunk": [64, 128]}, path, "/x"))
    assert kind == "xarray" or said not in by_the_plan


def test_a_chunk_cache_of_h5py_is_there_when_a_dataset_is_made(tmp_path: Path) -> None:
    """The handle of create_dataset is the first, and its cache is that of all others."""
    program = """
with h5py.File("stack.h5", "w", **file_arguments["stack.h5"]) as file:
    x = file.create_dataset("x", (4096, 512), "f8", chunks=(64, 512))
    for column in range(0, 512, 64): x[:, column] = column
print(moved("wchar"))
"""
    cache = {"chunk_cache_bytes": 32 << 20, "chunk_cache_slots": 20011}
    tuned, plain = with_and_without(tmp_path, "h5py", program, {}, cache)
    assert plain >= 8 * (16 << 20)
    assert tuned < 2 * (16 << 20)


def test_arguments_of_a_file_are_taken(tmp_path: Path) -> None:
    """In memory until it is closed: one write instead of one for each call."""
    program = """
with h5py.File("stack.h5", "w", **file_arguments["stack.h5"]) as file:
    x = file.create_dataset("x", (400, 32768), "f8")
    before = moved("syscw")
    for row in range(0, 400, 4): x[row] = row
print(moved("syscw") - before)
"""
    tuned, plain = with_and_without(
        tmp_path, "h5py", program, {"driver": "core", "core_increment_bytes": 1 << 27}
    )
    assert plain >= 100
    assert tuned <= 10


WRITERS = {
    "h5py": """
with h5py.File("stack.h5", "w") as file:
    file.create_dataset("x", (512, 512), "f8", **dataset_arguments["stack.h5", "x"])[...] = 1
""",
    "netcdf4": """
with netCDF4.Dataset("stack.h5", "w") as file:
    for name in "ab": file.createDimension(name, 512)
    x = file.createVariable("x", "f8", ("a", "b"), **variable_arguments["stack.h5", "x"])
    x[:] = 1
""",
    "xarray": """
data = xarray.Dataset({"x": (("a", "b"), numpy.ones((512, 512)))})
data.to_netcdf("stack.h5", engine="netcdf4", encoding=encoding(data, "stack.h5", "/"))
""",
}  # fmt: skip


@pytest.mark.parametrize("kind", list(WRITERS))
def test_a_layout_is_that_of_the_file(tmp_path: Path, kind: str) -> None:
    """Chunks and a filter: its size, by the program itself, on the disk."""
    program = WRITERS[kind] + 'print(Path("stack.h5").stat().st_size)'
    tuned, plain = with_and_without(tmp_path, kind, program, {}, {"chunk": [64, 128], "deflate": 1})
    assert plain >= 512 * 512 * 8
    assert tuned < plain / 20


PACKED = """
made = xarray.Dataset(
    {"x": (("t", "b"), 100 + numpy.arange(64.0).reshape(8, 8)), "y": ("t", numpy.arange(8.0))},
    {"t": ("t", numpy.arange(8) * numpy.timedelta64(1, "h") + numpy.datetime64("2020-01-01"))},
)
packed = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 100.0, "_FillValue": -9, "zlib": True}
hours = {"dtype": "i4", "units": "hours since 1990-01-01", "calendar": "standard"}
made.to_netcdf("from.nc", encoding={"x": packed, "t": hours})
with xarray.open_dataset("from.nc") as data:
    for engine in ("netcdf4", "h5netcdf"):
        %s
        with h5py.File("stack.h5") as file:
            x, t = file["x"], file["t"]
            assert (x.dtype, x.compression) == ("i2", "gzip"), x
            assert t.dtype == "i4" and "hours since 1990" in str(t.attrs["units"]), t
            assert (file["y"].dtype, file["y"][7]) == ("f8", 7), file["y"]
            chunks = 10 * x.chunks[0] + (t.chunks or (8,))[0]
        with xarray.open_dataset("stack.h5") as back: assert back.equals(data)
print(chunks)
"""
ONCE = 'data.to_netcdf("stack.h5", engine=engine, encoding=encoding(data, "stack.h5"))'
TWICE = """
        for mode, one in (("w", data[["y", "t"]]), ("a", data[["x"]])):
            one.to_netcdf("stack.h5", mode, engine=engine, encoding=encoding(one, "stack.h5"))
"""


@pytest.mark.parametrize("calls", [ONCE, TWICE])
def test_xarray_keeps_what_a_variable_brings_along(tmp_path: Path, calls: str) -> None:
    """Its type, scale and units, and its filters; a call may have some of the variables."""
    path = str(tmp_path.resolve() / FILE)
    plan = plan_of({}, {"chunk": [3, 8]}, path, "/x")
    plan["entries"] += plan_of({}, {"chunk": [5]}, path, "/t")["entries"]
    assert ran(tmp_path, PACKED % calls, snippet("xarray", plan)) == 35
    assert ran(tmp_path, PACKED % calls, NOTHING) == 88


def test_xarray_opens_what_another_has_locked(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("HDF5_USE_FILE_LOCKING", raising=False)
    with h5py.File(tmp_path / FILE, "w") as file:
        file["x"] = np.ones(4)
    program = """
try:
    file = xarray.open_dataset(
        "stack.h5", engine="h5netcdf", phony_dims="sort", **open_arguments["stack.h5"]
    )
    print(int(file.x.sum()))
except OSError:
    print(0)
"""
    with (tmp_path / FILE).open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        found = with_and_without(tmp_path, "xarray", program, {"file_locking": False})
    assert found == (4, 0)


C_READS = """
#include <stdio.h>
#include <string.h>
static long long moved(void) {
    char line[200];
    long long bytes = 0;
    FILE* io = fopen("/proc/self/io", "r");
    if (io == NULL || fgets(line, sizeof line, io) == NULL) return -1;
    sscanf(line, "rchar: %lld", &bytes);
    fclose(io);
    return bytes;
}
static double column[1 << 20];
int main(int argc, char** argv) {
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    (void)argv;
    if (argc > 1 && tune_1(0, 0, 0, access, 0, 0)) return 2;
    hid_t file = H5Fopen("stack.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t x = H5Dopen2(file, "x", access), space = H5Dget_space(x);
    hsize_t extents[2];
    H5Sget_simple_extent_dims(space, extents, NULL);
    hid_t memory = H5Screate_simple(1, extents, NULL);
    const long long before = moved();
    for (hsize_t at = 0; at < 4; ++at) {
        const hsize_t start[2] = {0, at}, count[2] = {extents[0], 1};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        if (H5Dread(x, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, column) < 0) return 3;
    }
    printf("%lld\\n", moved() - before);
    return 0;
}
"""
# The routine of the Fortran lines, as GNU Fortran names it; beside our module of HDF5's names.
FORTRAN_HEAD = """
#include <hdf5.h>
void __tuned_lists_MOD_tune_1(hid_t*, hid_t*, hid_t*, hid_t*, hid_t*, hid_t*, int*);
static int tune_1(hid_t a, hid_t b, hid_t c, hid_t dapl, hid_t e, hid_t f) {
    int error = -1;
    __tuned_lists_MOD_tune_1(&a, &b, &c, &dapl, &e, &f, &error);
    return error;
}
"""


def compiled(folder: Path, *words: str | Path) -> None:
    done = subprocess.run([*map(str, words)], cwd=folder, timeout=120, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["c", "fortran"])
def test_compiled_lines_give_a_cache(tmp_path: Path, kind: str) -> None:
    if not H5PCC.is_file():
        not_run(f"needs the compiler of the parallel HDF5 ({H5PCC})")
    size = stacked(tmp_path)
    cache = {"chunk_cache_bytes": 2 * size, "chunk_cache_slots": 20011}
    lines = snippet(kind, plan_of({}, cache, str(tmp_path / FILE), "/x"))
    more = []
    if kind == "fortran":
        fortran = mpi_fortran()
        (tmp_path / "lines.f90").write_text(lines)
        for source in (HERE / "hdf5_module.f90", "lines.f90"):
            compiled(tmp_path, fortran, "-c", source)
        lines, more = FORTRAN_HEAD, ["lines.o", "hdf5_module.o", "-lgfortran"]
    (tmp_path / "reads.c").write_text(lines + C_READS)
    compiled(tmp_path, H5PCC, "reads.c", *more, "-o", "reads")
    plain, tuned = (
        int(subprocess.run([tmp_path / "reads", *words], cwd=tmp_path, timeout=120,
                           capture_output=True, text=True, check=True).stdout)
        for words in ([], ["tuned"])
    )  # fmt: skip
    assert plain >= 4 * size
    assert size <= tuned < size * 1.1


@pytest.mark.parametrize("kind", ["h5py", "netcdf4", "xarray", "c", "fortran", "hints"])
def test_lines_come_with_reason_and_expected_gain(kind: str) -> None:
    of_file = {"hint.cb_nodes": "4"} if kind == "hints" else {}
    plan = plan_of(of_file, None if of_file else {"chunk": [8, 2000]})
    for entry in plan["entries"]:
        for one in entry["settings"]:
            one["because"] |= {"text": "250 calls */\nof one row", "effect": "1 chunk, not 50"}
    text = snippet(kind, plan)
    assert "why: 250 calls" in text and "of one row" in text.replace("?", " ")
    assert "expected: 1 chunk, not 50" in text
    assert not any(line.startswith("of one row") for line in text.splitlines())
