# SPDX-License-Identifier: Apache-2.0
"""What stands in the files of the server, by format, as readers that are not ours see it."""

import os
import re
import subprocess

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import pytest
from mpi_programs import BUILD, MPIEXEC, mpi_components
from own_namespace import small_disk

SCRIPT = BUILD / "tests/bin/tailrace_server_script"
PLUGINS = {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}
ENVIRONMENT = {**os.environ, **mpi_components()[0][1], **PLUGINS}
FORMATS = ("netcdf4", "cdf5", "hdf5")
every_format = pytest.mark.parametrize("form", FORMATS)
servers = pytest.mark.parametrize("servers", [0, 1], ids=lambda n: f"servers{n}")
NUMPY = {"int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "real32": "f4", "real64": "f8"}


def play(folder, script, servers=0, before=lambda _rank: ()):
    """What failed: {line or "finalize": text}; blank lines count. Each rank may begin with words
    of its own."""
    file = folder / "script"
    file.write_text(script)
    options = ["--npes_output_server", str(servers)] if servers else []
    command = []
    for rank in range(2 + servers):
        command += [":", "-n", "1", *before(rank), SCRIPT, file, *options]
    done = subprocess.run(
        [*MPIEXEC, *command[1:]],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return dict(re.findall(r"^(\d+|finalize|start): ((?:.|\n +)*)", done.stdout, re.MULTILINE))


def contents(file):
    """{name: array} by h5py if it is plain HDF5, else by netCDF."""
    if h5py.is_hdf5(file):
        with h5py.File(file) as data:
            if "_NCProperties" in data.attrs:
                return of_netcdf(file)
            return {name: data[name][...] for name in data if data[name].dtype.kind in "if"}
    return of_netcdf(file)


def of_netcdf(file):
    with netCDF4.Dataset(file) as data:
        data.set_auto_mask(False)
        return {name: variable[...] for name, variable in data.variables.items()}


FIELDS = """
dim time 0
dim y 3
dim x 4
var time real64 time
text time units days_since_2000-01-01
var lat real32 y
constant lat real32 -1 0 1
var T real32 time y x
var n int64 time
var level real64
text - title test
numbers T range int64 1 5000000000
"""


@servers
@every_format
def test_each_format_holds_each_element_and_attribute(form, servers, tmp_path):
    steps = "".join(
        f"put f T real32 -1 {100 * step} 0 3 0 4\nput f n int64 -1 {5000000000 + step}\n"
        f"step {step + 0.5}\n"
        for step in range(3)
    )
    script = f"{FIELDS}collection all format={form}\nput f level real64 0 7\n{steps}"
    assert play(tmp_path, script, servers) == {}
    data = contents(tmp_path / "f")
    assert np.array_equal(data["time"], [0.5, 1.5, 2.5])
    assert np.array_equal(data["lat"], [-1, 0, 1])
    assert np.array_equal(data["T"].ravel(), [100 * s + i for s in range(3) for i in range(12)])
    assert np.array_equal(data["n"], 5000000000 + np.arange(3))
    assert data["level"] == 7
    if form == "hdf5":
        with h5py.File(tmp_path / "f") as file:
            assert file["T"].maxshape == (None, 3, 4)
            assert list(file["T"].attrs["range"]) == [1, 5000000000]
        return
    with netCDF4.Dataset(tmp_path / "f") as file:
        assert file.data_model == {"netcdf4": "NETCDF4", "cdf5": "NETCDF3_64BIT_DATA"}[form]
        assert file["T"].dimensions == ("time", "y", "x")
        assert file.dimensions["time"].isunlimited()
        assert (file.title, file["time"].units) == ("test", "days_since_2000-01-01")
        assert list(file["T"].range) == [1, 5000000000]


CHARACTERS = """
dim time 0
dim station 2
dim length 4
var code char station length
constant code char 75 73 69 76 66 79 78 78
var mark char time length
fill mark char 42
var gap char time length
var single char
collection all format={form}{more}
"""


@servers
@every_format
def test_characters_are_text_for_any_reader(form, servers, tmp_path):
    """Constants, parts of records, gaps, fill values, and records behind others."""
    script = CHARACTERS.format(form=form, more="")
    steps = (
        "put f single char 0 90\nput f mark char 0 97 0 3\nstep\nput f gap char 1 98 1 2\nstep\n"
    )
    assert play(tmp_path, script + steps, servers) == {}
    check_characters(tmp_path / "f", [b"abc*", b"****"], [b"", b"\0bc"])
    again = CHARACTERS.format(form=form, more=";existing=append")
    assert play(tmp_path, again + "put f mark char 0 65 0 4\nstep\n", servers) == {}
    check_characters(tmp_path / "f", [b"abc*", b"****", b"ABCD"], [b"", b"\0bc", b""])
    numbers = again.replace("mark char", "mark int8")
    failed = play(tmp_path, numbers + "put f mark int8 0 1 0 4\nstep\n", servers)
    why = "/mark: nothing can be appended to it: it is of type char there, not i8"
    assert why in failed["finalize"]


def check_characters(file, marks, gaps):
    def texts(array):
        assert array.dtype == "S1"
        return [row.tobytes().rstrip(b"\0") for row in array]

    if h5py.is_hdf5(file):
        with h5py.File(file) as data:
            if "_NCProperties" not in data.attrs:
                assert texts(data["code"][...]) == [b"KIEL", b"BONN"]
                assert (texts(data["mark"][...]), texts(data["gap"][...])) == (marks, gaps)
                assert data["single"][()] == b"Z"
                return
    with netCDF4.Dataset(file) as data:
        data.set_auto_mask(False)
        data.set_auto_chartostring(False)
        assert texts(data["code"][:]) == [b"KIEL", b"BONN"]
        assert texts(data["mark"][:]) == marks
        assert texts(data["gap"][:]) == gaps
        assert data["single"][...] == b"Z"
        assert data["mark"].getncattr("_FillValue") in (b"*", "*")  # by its version


def test_cdf5_has_the_header_of_netcdf(tmp_path):
    """Its magic number, and no byte more than the data."""
    script = "dim x 4\nvar v int32 x\ncollection a format=cdf5\nput f v int32 0 1 0 4\nstep\n"
    assert play(tmp_path, script) == {}
    written = (tmp_path / "f").read_bytes()
    assert written.startswith(b"CDF\5")
    assert np.array_equal(np.frombuffer(written[-16:], ">i4"), [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("storage", "words"),
    [("chunks=1x2x2", "chunks"), ("deflate=1", "filters"), ("zstd=1", "filters"),
     ("shuffle=1", "filters"), ("quantize=bit_groom;digits=2", "filters")],
)  # fmt: skip
def test_what_cdf5_cannot_hold_is_refused_at_once(storage, words, tmp_path):
    script = f"{FIELDS}storage T {storage}\ncollection all format=cdf5\n"
    (text,) = play(tmp_path, script).values()
    for part in ("/T", f"CDF-5 has no {words}", "format netcdf4"):
        assert part in text
    assert [path.name for path in tmp_path.iterdir()] == ["script"]


def steps(first, count):
    """Records whose values say which they are."""
    return "".join(
        f"put f T real32 -1 {100 * step} 0 3 0 4\nput f n int64 -1 {step}\nstep {step}\n"
        for step in range(first, first + count)
    )


def records(form, first, count, fields=FIELDS):
    return f"{fields}collection all format={form};existing=append\n{steps(first, count)}"


def check_records(file, count):
    data = contents(file)
    assert np.array_equal(data["time"], np.arange(count))
    assert np.array_equal(data["n"], np.arange(count))
    assert np.array_equal(data["T"].ravel(), [100 * s + i for s in range(count) for i in range(12)])
    assert np.array_equal(data["lat"], [-1, 0, 1])


@servers
@every_format
def test_records_go_behind_those_of_the_file(form, servers, tmp_path):
    """In three runs, the first of which finds none; and within a run, after flush."""
    assert play(tmp_path, records(form, 0, 2), servers) == {}
    (tmp_path / "f").chmod(0o640)
    script = records(form, 2, 3) + "flush\n" + steps(5, 1)
    assert play(tmp_path, script, servers) == {}
    check_records(tmp_path / "f", 6)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "script"]


@every_format
def test_a_record_that_is_named_counts_from_the_first_that_is_appended(form, tmp_path):
    assert play(tmp_path, records(form, 0, 2)) == {}
    later = "put f n int64 1 3\nput f n int64 0 2\nstep\n"
    assert play(tmp_path, records(form, 0, 0) + later) == {}
    data = contents(tmp_path / "f")
    assert list(data["n"]) == [0, 1, 2, 3]
    fill = netCDF4.default_fillvals
    assert (data["T"][2:] == np.float32(fill["f4"])).all()
    assert (data["time"][2:] == fill["f8"]).all()
    assert data["T"].shape == (4, 3, 4)


DIFFERENT = {
    "type": ("var n int64 time", "var n int32 time", ["/n", "i64", "i32"]),
    "rank": ("var n int64 time", "var n int64", ["/n", "dimensions", "not 0"]),
    "size": ("dim y 3", "dim y 6", ["/", "dimension", "is 3 there, not 6"]),
    "growth": ("var lat real32 y", "var lat real32 time", ["/lat", "dimension 1 is 3 there"]),
    "absent": ("var level real64", "var level real64\nvar more int8", ["/more", "not in the file"]),
    "more": ("var level real64\n", "", ["/level", "not in the metadata"]),
    "units": ("days_since_2000", "days_since_2001", ["/time", "attribute units", "another value"]),
    "longer": ("days_since_2000", "days_since_20001", ["/time", "units has another value"]),
    "numbers": ("range int64 1 5", "range int64 2 5", ["/T", "attribute range"]),
    "number type": ("range int64 1 5000000000", "range int32 1 5", ["/T", "attribute range"]),
    "attribute": ("text - title", "text n long_name", ["/n", "attribute long_name is not there"]),
    "constant": ("real32 -1 0 1", "real32 -1 0 2", ["/lat", "constant", "other values"]),
    "fill": ("var level real64", "var level real64\nfill T real32 -9", ["/T", "fill value"]),
}  # fmt: skip


@every_format
@pytest.mark.parametrize("case", DIFFERENT)
def test_what_differs_from_the_file_is_named_and_nothing_is_harmed(form, case, tmp_path):
    before, after, parts = DIFFERENT[case]
    assert play(tmp_path, records(form, 0, 2)) == {}
    whole = (tmp_path / "f").read_bytes()
    assert before in FIELDS
    changed = FIELDS.replace(before, after)
    if case == "size":  # of the constant too
        changed = changed.replace("real32 -1 0 1", "real32 -1 0 1 2 3 4")
    if case in ("growth",):
        changed = changed.replace("constant lat real32 -1 0 1\n", "")
    text = play(tmp_path, records(form, 2, 1, fields=changed))["finalize"]
    for part in ("f: /", "nothing can be appended to it", *parts, "define what is in the file"):
        assert part in text
    assert (tmp_path / "f").read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "script"]


@every_format
def test_a_fill_value_stays_when_records_are_appended(form, tmp_path):
    fields = FIELDS.replace("var level", "fill T real32 nan\nfill n int64 -9\nvar level")
    assert play(tmp_path, records(form, 0, 2, fields=fields)) == {}
    assert play(tmp_path, records(form, 2, 1, fields=fields)) == {}
    check_records(tmp_path / "f", 3)
    other = fields.replace("int64 -9", "int64 -8")
    assert "/n: nothing can" in play(tmp_path, records(form, 2, 1, fields=other))["finalize"]


@every_format
def test_what_is_no_file_of_the_format_is_left_alone(form, tmp_path):
    (tmp_path / "f").write_text("a text")
    text = play(tmp_path, records(form, 0, 1))["finalize"]
    assert "f" in text
    assert (tmp_path / "f").read_text() == "a text"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "script"]


def test_a_file_that_others_have_made_gets_records(tmp_path):
    """By netCDF4, with chunks and filters of its own, which stay."""
    with netCDF4.Dataset(tmp_path / "f", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        variable = file.createVariable("v", "f4", ("time", "x"), zlib=True, chunksizes=(2, 3))
        variable.units = "m"
        variable[:] = np.arange(12).reshape(3, 4)
        file.history = "made elsewhere"
    script = (
        "dim time 0\ndim x 4\nvar v real32 time x\ntext v units m\ntext - history other\n"
        "collection a existing=append\nput f v real32 -1 12 0 4\nstep\n"
    )
    assert play(tmp_path, script) == {}
    with netCDF4.Dataset(tmp_path / "f") as file:
        assert np.array_equal(file["v"][:].ravel(), np.arange(16))
        assert file["v"].chunking() == [2, 3]
        assert file["v"].filters()["zlib"]
        assert file.history == "made elsewhere"


@servers
@every_format
def test_holes_hold_the_fill_value(form, servers, tmp_path):
    """Parts of records, records left out, variables that nobody puts, with and without a value of
    their own; the value is also given as an attribute."""
    script = (
        "dim time 0\ndim y 3\ndim x 4\n"
        + "".join(
            f"var {kind}_{name} {kind} {dims}\n"
            + (f"numbers {kind}_{name} _FillValue {kind} 77\n" if name[0] == "o" else "")
            for kind in NUMPY
            for name, dims in FILLED.items()
        )
        + f"collection a format={form}\n"
        + "".join(f"put f {kind}_{name} {kind} 2 5 1 1 1 2\n"
                  for kind in NUMPY for name in ("own", "part"))
        + "step\n"
    )  # fmt: skip
    assert play(tmp_path, script, servers) == {}
    data = contents(tmp_path / "f")
    for kind, code in NUMPY.items():
        for name, dims in FILLED.items():
            fill = 77 if name[0] == "o" else netCDF4.default_fillvals[code]
            shape = (3, 3, 4) if "time" in dims else (3, 4)
            expected = np.full(shape, fill, code)
            if name in ("own", "part"):
                expected[2, 1, 1:3] = [5, 6]
            np.testing.assert_array_equal(data[f"{kind}_{name}"], expected, name)
            assert data[f"{kind}_{name}"].dtype == code


FILLED = {"own": "time y x", "part": "time y x", "never": "time y x", "only": "time y x",
          "fixed": "y x", "other": "y x"}  # fmt: skip


def test_a_fill_value_that_does_not_fit_is_refused(tmp_path):
    wrong = {
        "numbers T _FillValue real64 1": ["variable T", "real32", "real64"],
        "numbers T _FillValue real32 1 2": ["variable T", "2 numbers", "give one"],
        "text T _FillValue none": ["variable T", "real32", "type text"],
        "numbers - _FillValue real32 1": ["a file has no _FillValue", "give it to a variable"],
        "fill T int32 1": ["variable T", "real32", "int32", "pass values of the type"],
    }
    failed = play(tmp_path, FIELDS + "\n".join(wrong) + "\n")
    assert len(failed) == len(wrong)
    for text, parts in zip(failed.values(), wrong.values(), strict=True):
        assert all(part in text for part in ("2 ", *parts)), text


@servers
@every_format
def test_a_file_that_nothing_is_put_to_is_made(form, servers, tmp_path):
    """By a step of its date, or of the name that puts of nothing give; a date alone makes none."""
    script = (
        f"{FIELDS}collection a format={form};file=%Y.nc\ndate 2000 1 1\nstep\ndate 2001 1 1\n"
        "nothing - n int64 -1\nstep\nclose\ndate 2002 1 1\nclose\nflush\n"
    )
    (text,) = play(tmp_path, script, servers).values()
    assert "collection a: no file is open" in text
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["2000.nc", "2001.nc", "script"]
    for name in files[:-1]:
        data = contents(tmp_path / name)
        assert data["T"].shape == (0, 3, 4)
        assert data["level"] == netCDF4.default_fillvals["f8"]
        assert np.array_equal(data["lat"], [-1, 0, 1])


STORED = {
    "chunks=1x2x2": {"chunks": [1, 2, 2]},
    "deflate=3;shuffle=1": {"zlib": True, "shuffle": True, "complevel": 3},
    "zstd=4": {},
    "quantize=bit_groom;digits=3;deflate=1": {"BitGroom": 3},
    "quantize=granular_bit_round;digits=3;deflate=1": {"GranularBitRound": 3},
    "quantize=bit_round;digits=9;deflate=1": {"BitRound": 9},
}


@pytest.mark.parametrize("storage", STORED)
def test_storage_of_a_variable_is_as_it_was_asked_for(storage, tmp_path):
    """Numbers that every way of it keeps, and holes."""
    script = (
        f"{FIELDS}storage T {storage}\ncollection a -\nput f T real32 1 1 0 3 0 4\nstep\n"
        "put f T real32 2 1 1 1 1 2\nstep\n"
    )
    assert play(tmp_path, script) == {}
    if "zstd" in storage:  # a filter that netCDF4-python may lack
        with h5py.File(tmp_path / "f") as file:
            assert file["T"]._filters == {"32015": (4,)}
            assert np.array_equal(file["T"][1].ravel(), np.arange(12) + 1)
        return
    with netCDF4.Dataset(tmp_path / "f") as file:
        file.set_auto_mask(False)
        variable = file["T"]
        for key, value in STORED[storage].items():
            found = {"chunks": variable.chunking(), **variable.filters()}
            names = {name: variable.getncattr(name) for name in variable.ncattrs()}
            (got,) = [held for name, held in (found | names).items() if key in name]
            assert got == value
        fill = np.float32(netCDF4.default_fillvals["f4"])
        assert (variable[0] == fill).all()
        rounded = 1e-3 if "quantize" in storage else 0
        np.testing.assert_allclose(variable[1].ravel(), np.arange(12) + 1, rounded)
        expected = np.array([fill] * 5 + [1, 2] + [fill] * 5)
        np.testing.assert_allclose(variable[2].ravel(), expected, rounded)
        assert np.array_equal(variable[2] == fill, (expected == fill).reshape(3, 4))


NO_PLUGINS = ("env", "HDF5_PLUGIN_PATH=/nowhere")
no_zstd = pytest.mark.parametrize("form", ["netcdf4", "hdf5"])


@no_zstd
def test_a_filter_that_is_missing_is_told_when_it_is_asked_for(form, tmp_path):
    """With the collection, and in a later file, whose metadata ask for it."""
    script = FIELDS + f"storage T zstd=3\ncollection all format={form}\n"
    (text,) = play(tmp_path, script, before=lambda _rank: NO_PLUGINS).values()
    for part in ("collection all, /T, zstd", "32015", "/nowhere", "install its plugin"):
        assert part in text
    script = (
        f"{FIELDS}collection all format={form}\nput f n int64 -1 1\nstep\nclose\nedit\n"
        "storage T zstd=3\nput g n int64 -1 1\nstorage T shuffle=1\nput g n int64 -1 1\nstep\n"
    )
    (text,) = play(tmp_path, script, before=lambda _rank: NO_PLUGINS).values()
    assert "g, /T, zstd" in text
    assert contents(tmp_path / "g")["n"] == [1]


@no_zstd
@pytest.mark.parametrize(("servers", "writer"), [(1, 2), (0, 0)])
def test_a_filter_is_asked_of_who_writes(form, servers, writer, tmp_path):
    script = FIELDS + f"storage T zstd=3\ncollection all format={form}\nput f n int64 -1 1\nstep\n"
    (tmp_path / "with").mkdir()
    lacks = {True: NO_PLUGINS, False: ()}
    failed = play(tmp_path, script, servers, lambda rank: lacks[rank == writer])
    text = next(iter(failed.values()))
    for part in ("collection all, /T, zstd", "32015", "/nowhere", "install its plugin"):
        assert part in text
    assert f"rank {writer} of {2 + servers}" in text
    others = tmp_path / "with"
    assert play(others, script, servers, lambda rank: lacks[rank != writer]) == {}
    with h5py.File(others / "f") as data:
        assert list(data["n"]) == [1]


@every_format
def test_a_run_that_is_killed_while_it_appends_leaves_the_file(form, tmp_path):
    """And the next run goes on behind it."""
    assert play(tmp_path, records(form, 0, 2)) == {}
    whole = (tmp_path / "f").read_bytes()
    (tmp_path / "script").write_text(records(form, 2, 4) + "die\n")
    done = subprocess.run(
        [SCRIPT, "script"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == -9
    assert (tmp_path / "f.part").stat().st_size >= len(whole)
    assert (tmp_path / "f").read_bytes() == whole
    assert play(tmp_path, records(form, 2, 1)) == {}
    check_records(tmp_path / "f", 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "script"]


@pytest.mark.parametrize("room", [20 << 10, 45 << 10], ids=["for the records", "for the copy"])
@every_format
def test_a_disk_that_is_full_while_records_are_appended(form, room, tmp_path):
    """`room` more bytes than the file has already."""
    disk = tmp_path / "disk"
    disk.mkdir()
    assert play(tmp_path, records(form, 0, 2)) == {}
    more = "".join(f"put f T real32 -1 {100 * step} 0 3 0 4\nstep\n" for step in range(2, 3000))
    (tmp_path / "script").write_text(records(form, 0, 0) + more)
    size = (tmp_path / "f").stat().st_size + room
    script = f"cd {disk} && cp ../f . && {SCRIPT} ../script; cp f ../left; ls -A > ../names"
    done = subprocess.run(
        [*small_disk(disk, size), "sh", "-c", script],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert re.search("No space left|free space", done.stdout)  # netCDF tells no more at times
    assert (tmp_path / "left").read_bytes() == (tmp_path / "f").read_bytes()
    assert (tmp_path / "names").read_text() == "f\n"


@servers
@pytest.mark.parametrize("form", ["netcdf4", "hdf5"])
def test_a_disk_that_is_full_within_a_chunk_ends_without_words_of_hdf5(form, servers, tmp_path):
    """HDF5 keeps the memory of a chunk that it could not write."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = "dim time 0\ndim y 512\ndim x 512\n"
    for name in "abc":
        script += f"var {name} real64 time y x\nstorage {name} chunks=1x300x300\n"
    script += f"collection all format={form}\n"
    for _ in range(5):
        script += "".join(f"put f {name} real64 -1 1 0 512 0 512\n" for name in "abc") + "step\n"
    (tmp_path / "script").write_text(script)
    command = [*MPIEXEC, "-n", str(1 + servers), SCRIPT, "../script"]
    command += ["--npes_output_server", "1"] if servers else []
    done = subprocess.run(
        [*small_disk(disk, 20 << 20), "env", f"--chdir={disk}", *command],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.search("f[:,].*/[abc], record [345].*No space left", done.stdout)


def test_server_toml_gives_each_collection_its_format_and_filters(tmp_path):
    """Of the whole server, and of one collection; what the program says counts less."""
    (tmp_path / "server.toml").write_text(
        'format = "hdf5"\n'
        '[collections.classic]\nformat = "cdf5"\nexisting = "append"\n'
        '[collections.small]\nformat = "netcdf4"\ndeflate = 2\nshuffle = true\n'
    )
    script = FIELDS
    for name in ("classic", "small", "plain"):
        script += f"collection {name} format=netcdf4\nput {name} T real32 -1 0 0 3 0 4\nstep 0\n"
    assert play(tmp_path, script, 1) == {}
    assert play(tmp_path, script.split("collection small")[0]) == {}
    with netCDF4.Dataset(tmp_path / "classic") as file:
        assert file.data_model == "NETCDF3_64BIT_DATA"
        assert file["T"].shape == (2, 3, 4)
    with netCDF4.Dataset(tmp_path / "small") as file:
        assert file.data_model == "NETCDF4"
        assert file["T"].filters()["complevel"] == 2 and file["T"].filters()["shuffle"]
        assert not file["level"].filters()["zlib"]
    with h5py.File(tmp_path / "plain") as file:
        assert "_NCProperties" not in file.attrs
        assert file["T"].shape == (1, 3, 4)


@every_format
def test_metadata_are_others_in_the_next_file(form, tmp_path):
    """A variable is replaced, one is gone, one is new, and time has other units."""
    script = (
        f"{FIELDS}collection a format={form}\nput f n int64 -1 1\nstep 0\n"
        "close\nedit\nvar n real32 time x\ndrop level\nvar more int8 x\ntext time units late\n"
        "put g n real32 -1 1 0 4\nput g more int8 0 1 0 4\nstep 0\n"
    )
    assert play(tmp_path, script) == {}
    first, second = contents(tmp_path / "f"), contents(tmp_path / "g")
    assert first["n"].dtype == "i8" and list(first["n"]) == [1]
    assert np.array_equal(second["n"], np.float32([[1, 2, 3, 4]])) and second["n"].dtype == "f4"
    assert list(second["more"]) == [1, 2, 3, 4]
    assert set(first) - set(second) == {"level"}
    units = [unit_of_time(tmp_path / name) for name in "fg"]
    assert units == ["days_since_2000-01-01", "late"]


def unit_of_time(file):
    if h5py.is_hdf5(file):
        with h5py.File(file) as data:
            return data["time"].attrs["units"].decode()
    with netCDF4.Dataset(file) as data:
        return data["time"].units


@servers
@every_format
def test_parts_of_a_record_may_come_in_several_steps(form, servers, tmp_path):
    """Also in a later run, for a variable without records; holes stay holes."""
    script = (
        f"{FIELDS}var mask int16 y x\ncollection a format={form};existing=append\n"
        "put f T real32 0 10 0 1 0 4\nput f mask int16 -1 10 0 1 0 4\nstep\n"
        "put f T real32 0 30 2 1 1 2\nput f mask int16 -1 30 2 1 1 2\nstep\n"
    )
    assert play(tmp_path, script, servers) == {}
    expected = np.full((3, 4), netCDF4.default_fillvals["f4"], "f4")
    expected[0], expected[2, 1:3] = [10, 11, 12, 13], [30, 31]
    assert np.array_equal(contents(tmp_path / "f")["T"], [expected])
    later = script[: script.index("put f")] + "put f mask int16 -1 20 1 1 0 2\nstep\n"
    assert play(tmp_path, later, servers) == {}
    data = contents(tmp_path / "f")
    assert np.array_equal(data["T"], [expected])
    mask = np.where(expected > 100, netCDF4.default_fillvals["i2"], expected)
    mask[1, :2] = [20, 21]
    assert np.array_equal(data["mask"], mask)


@servers
def test_a_collection_does_not_write_the_file_of_another(servers, tmp_path):
    script = (
        f"{FIELDS}collection a existing=replace\nput f n int64 -1 1\nstep\nclose\n"
        "collection b existing=replace\nput ./f n int64 -1 2\nput g n int64 -1 3\nstep\n"
    )
    (text,) = play(tmp_path, script, servers).values()
    assert "./f: collection a of this run writes it" in text
    assert contents(tmp_path / "f")["n"] == [1]
    assert contents(tmp_path / "g")["n"] == [3]


@every_format
def test_the_time_goes_with_the_record_and_the_date_of_its_step(form, tmp_path):
    script = (
        f"{FIELDS}collection a format={form};file=%Y.nc\ndate 2000 1 1\nput - n int64 2 7\nstep 5\n"
        "date 2001 1 1\nstep 6\n"
    )
    assert play(tmp_path, script) == {}
    first = contents(tmp_path / "2000.nc")
    assert (first["n"][2], first["time"][2]) == (7, 5)
    assert first["time"][0] == netCDF4.default_fillvals["f8"]
    assert contents(tmp_path / "2001.nc")["time"] == [6]


@pytest.mark.parametrize("time", ["0.5", "3.9e9"])
def test_a_time_that_its_type_cannot_hold_is_refused(time, tmp_path):
    script = "dim time 0\nvar time int32 time\nvar n int32 time\ncollection a -\n"
    (text,) = play(tmp_path, f"{script}put f n int32 -1 1\nstep {time}\nstep 2\n").values()
    assert "variable time of collection a: the time" in text
    assert contents(tmp_path / "f")["time"] == [2]


def test_a_variable_with_the_name_of_a_dimension_is_along_that_alone(tmp_path):
    script = "dim y 3\ndim x 4\nvar y real32 y x\ncollection a -\n"
    assert "is named like a dimension" in play(tmp_path, script)["4"]
    assert play(tmp_path, script.replace("a -", "a format=hdf5")) == {}


def test_a_time_that_is_refused_leaves_a_step_that_can_be_ended(tmp_path):
    script = (
        "dim time 0\nvar time int32 time\nvar n int32 time\n"
        "collection a file=%Y.nc\ndate 2000 1 1\nstep 0.5\nstep 2\n"
    )
    (text,) = play(tmp_path, script).values()
    assert "the time 0.5" in text
    assert contents(tmp_path / "2000.nc")["time"] == [2]


def test_a_file_that_fails_is_no_wrong_argument(tmp_path):
    """Of the step's status: the call was done, and is not to be repeated."""
    script = "dim x 4\nvar v int32 x\ncollection a -\nput f v int32 0 1 0 4\nstep\n"
    assert play(tmp_path, script) == {}
    failed = play(tmp_path, script)
    assert failed and all(text.startswith("1 ") for text in failed.values()), failed


def test_ranks_that_are_left_over_are_named(tmp_path):
    (tmp_path / "script").write_text("dim x 4\n")
    command = [*MPIEXEC, "-n", "3", SCRIPT, "script", "--npes_model", "2"]
    ran = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True,
                         timeout=60, check=True)  # fmt: skip
    assert "left over, neither computing nor serving: 1 rank (2)" in ran.stderr
