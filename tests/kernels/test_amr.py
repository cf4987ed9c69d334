# SPDX-License-Identifier: Apache-2.0
"""tailrace-amr: every element in each layout by readers that share nothing with us, AMReX's inputs,
the lines of the original, what is replaced and what is refused."""

import json
import subprocess

import amr_reader
import jsonschema
import pytest
from seism_tool import BUILD, ROMIO, SOURCE, good, run, seen

AMR = BUILD / "bin/tailrace-amr"
SEED = ["ncells=16", "max_grid_size=8", "nlevs=1", "ncomp=2", "nppc=0"]
ROMIO_TOO = [()] + ([("--mca", "io", ROMIO)] if ROMIO else [])
READERS = {"pnetcdf": amr_reader.netcdf, "netcdf4": amr_reader.netcdf, "hdf5": amr_reader.hdf5}


def amr(folder, ranks, *arguments, **more):
    return good(folder, ranks, *arguments, program=AMR, **more)


def refused(folder, ranks, *arguments, code=2, **more):
    result = run(folder, ranks, *arguments, program=AMR, **more)
    assert result.code == code and len(result.errors) == 1, result.err + result.out
    assert result.codes == [code] * ranks
    return result


# name of the mesh: ranks, inputs that differ from SEED
MESHES = {
    "one box": (3, ["max_grid_size=16"]),
    "boxes": (4, []),
    "uneven": (5, ["ncells=17", "ncomp=1"]),
    "cells": (2, ["ncells=3", "max_grid_size=1", "ncomp=3"]),
    "not a cube": (3, ["ncells=24 8 5"]),
    "two levels": (4, ["nlevs=2", "ncells=24"]),
    "three levels": (6, ["nlevs=3", "max_grid_size=16 8 8", "distribution=knapsack"]),
    "ratio 4": (2, ["nlevs=2", "ref_ratio=4", "boxes=current", "distribution=roundrobin"]),
    "refined": (3, ["nlevs=2", "refine=0 2 2 2 5 5 5 0 8 8 8 11 11 11", "blocking_factor=4"]),
}  # fmt: skip


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("form", READERS)
def test_each_element_of_each_layout(tmp_path, mesh, form):
    ranks, words = MESHES[mesh]
    result = amr(tmp_path, ranks, *SEED, *words, f"format={form}", "verify=1")
    name = "plt00000.h5" if form == "hdf5" else "plt00000.nc"
    assert seen(tmp_path) == ["plt00000", name, "results.jsonl"]
    shared = amr_reader.check(READERS[form](tmp_path / name))
    folder = amr_reader.check(amr_reader.native(tmp_path / "plt00000"))
    assert shared.domains == folder.domains
    for one, other in zip(shared.levels, folder.levels, strict=True):
        assert {box.lo for box in one} == {box.lo for box in other}
    assert [one["verification"]["status"] for one in result.records] == ["passed"] * 2
    formats = [one["configuration"]["format"] for one in result.records]
    assert formats == [form, "native"]


@pytest.mark.parametrize("mpi", ROMIO_TOO, ids=["default", "romio"][: len(ROMIO_TOO)])
@pytest.mark.parametrize(
    "words",
    [
        ["format=pnetcdf", "collective_write=0"],
        ["format=pnetcdf", "put=aggregated"],
        ["format=hdf5", "collective_write=0"],
        ["format=hdf5", "deflate=1"],
        ["format=hdf5", "deflate=1", "encode=ranks"],
        ["format=netcdf4", "deflate=1"],
    ],
    ids=" ".join,
)
def test_ways_to_write(tmp_path, mpi, words):
    mesh = ["nlevs=2", "outputs=shared", "verify=1"]
    result = amr(tmp_path, 3, *SEED, *mesh, *words, mpi=mpi)
    form = words[0].partition("=")[2]
    name = "plt00000.h5" if form == "hdf5" else "plt00000.nc"
    amr_reader.check(READERS[form](tmp_path / name))
    collective = result.records[0]["transfers"]["collective_requested"]
    assert collective is ("collective_write=0" not in words)


@pytest.mark.parametrize("form", ["mpiio", "posix", "posix-per-rank"])
def test_raw_formats(tmp_path, form):
    result = amr(tmp_path, 3, *SEED, "nlevs=2", f"format={form}", "outputs=shared", "verify=1")
    assert result.records[0]["verification"]["elements"] > 16**3 * 2
    assert "plt00000.bin" in seen(tmp_path)


def test_a_series(tmp_path):
    """Each step is a file; names count on, and values differ."""
    amr(tmp_path, 3, *SEED, "steps=3", "filename=plt00009.nc", "compute=0.01", "verify=1")
    names = ["plt00009", "plt00010", "plt00011"]
    assert seen(tmp_path) == sorted([*names, *(f"{n}.nc" for n in names), "results.jsonl"])
    for step, name in enumerate(names):
        one = amr_reader.check(amr_reader.netcdf(tmp_path / f"{name}.nc"), step)
        assert one.time == step
        assert amr_reader.check(amr_reader.native(tmp_path / name), step).time == step
    record = json.loads((tmp_path / "results.jsonl").read_text().splitlines()[0])
    assert len(record["steps"]) == 3
    assert record["bytes"]["logical"] == 3 * (16**3 * 2 * 8 + 8 * (4 + 24 + 8) + 8)
    assert [name.rpartition("/")[2] for name in record["file"]["parts"]] == [
        "plt00009.nc", "plt00010.nc", "plt00011.nc"
    ]  # fmt: skip


def test_names_without_digits(tmp_path):
    amr(tmp_path, 2, *SEED, "steps=2", "filename=out.nc", "outputs=shared")
    assert seen(tmp_path) == ["out00000.nc", "out00001.nc", "results.jsonl"]


def test_files_of_a_level(tmp_path):
    amr(tmp_path, 4, *SEED, "nfiles=2", "format=native", "verify=1")
    amr_reader.check(amr_reader.native(tmp_path / "plt00000"))
    assert sorted(p.name for p in (tmp_path / "plt00000/Level_0").iterdir()) == [
        "Cell_D_00000", "Cell_D_00001", "Cell_H"
    ]  # fmt: skip


def test_boxes_from_files(tmp_path):
    """The original's grids: a level with a hole, and boxes of unlike size."""
    grids = tmp_path / "grids"
    grids.mkdir()
    (grids / "Level_0").write_text(
        "((0,0,0) (15,15,15) (0,0,0))\n(2 0\n((0,0,0) (15,15,3) (0,0,0))\n"
        "((0,0,4) (15,15,15) (0,0,0))\n)\n"
    )
    amr(tmp_path, 2, *SEED, "grids_from_file=1", "verify=1")
    plot = amr_reader.check(amr_reader.netcdf(tmp_path / "plt00000.nc"))
    assert [box.hi for box in plot.levels[0]] in ([(15, 15, 3), (15, 15, 15)],
                                                  [(15, 15, 15), (15, 15, 3)])  # fmt: skip
    (grids / "Level_0").unlink()
    result = refused(tmp_path, 2, *SEED, "grids_from_file=1")
    assert "grids_from_file" in result.err and "grids/Level_0" in result.err


@pytest.mark.parametrize("form", ["pnetcdf", "hdf5", "native"])
def test_reads(tmp_path, form):
    """Patterns of all kernels, a level alone, a plane, a region; from a cold cache if it can be."""
    words = [f"format={form}", "nlevs=2", "cold_cache=1", "read_region=0.1 0.1 0.1 0.6 0.3 0.2"]
    patterns = ["same", "other", "plane", "points", "shuffled", "level", "region"]
    outputs = "native" if form == "native" else "shared"
    result = amr(tmp_path, 3, *SEED, *words, f"outputs={outputs}", "read=" + " ".join(patterns))
    reads = {one["pattern"]: one for one in result.records[0]["reads"]}
    assert list(reads) == patterns
    assert all(one["wrong"] == 0 and one["elements"] > 0 for one in reads.values())
    width = 8
    per_element = 1 if form != "native" else width
    assert reads["level"]["bytes"] == width * 2 * 16**3  # the middle half, twice as fine
    assert reads["plane"]["elements"] == per_element * 2 * (16**2 + 16**2)
    # cells 1 to 9, 1 to 4, 1 to 3 of level 0; of level 1 those from 8 on along all axes
    assert reads["region"]["elements"] == per_element * 2 * 9 * 4 * 3
    assert reads["other"]["elements"] >= reads["same"]["elements"]


def test_repetitions_and_resume(tmp_path):
    words = [*SEED, "nppc=1", "repeat=2"]
    first = amr(tmp_path, 2, *words)
    assert [(r["configuration"]["format"], r["repetition"]) for r in first.records] == [
        (form, n) for n in range(3) for form in ("pnetcdf", "native")
    ]
    assert len({r["run_id"] for r in first.records}) == 1
    kept = [r for r in first.records if r["repetition"] < 2]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(r) + "\n" for r in kept))
    again = amr(tmp_path, 2, *words, "--resume")
    assert [r["repetition"] for r in again.records[4:]] == [0, 0, 2, 2]
    last = amr(tmp_path, 2, *words, "--resume")
    assert len(last.records) == 8 and "nothing to do" in last.out


def test_repetitions_of_a_series(tmp_path):
    """Each begins with fresh files and folders; pages are counted once."""
    words = ["nppc=1", "steps=2", "repeat=2", "cold_cache=1", "read=same"]
    result = amr(tmp_path, 2, *(w for w in SEED if w != "nppc=0"), *words)
    assert len(result.records) == 6
    size = sum((tmp_path / f"plt0000{n}.nc").stat().st_size for n in range(2))
    evidence = result.records[-2]["reads"][0]["cache_evidence"]
    pages = int(evidence.split(" of ")[1].split()[0])
    assert size / 4096 <= pages <= size / 4096 + 2
    for step in range(2):
        amr_reader.check(amr_reader.native(tmp_path / f"plt0000{step}"), step)


def test_records_and_figures(tmp_path):
    """Each output has its own Record and bytes; the folder is in no figure of the file."""
    schema = json.loads((SOURCE / "schemas/record-1.schema.json").read_text())
    result = amr(tmp_path, 3, *SEED, "nppc=2", "limit=1")
    shared, folder = result.records
    for record in result.records:
        jsonschema.validate(record, schema)
        assert record["kernel"] == "amr" and record["status"] == "ok"
        assert record["limit"]["arms"]
    tables = 8 * (4 + 24) + 9 * 8
    assert shared["bytes"]["logical"] == 16**3 * 2 * 8 + tables
    # the data of the cells, and of two particles with 12 + 3 reals and 6 integers in each
    assert folder["bytes"]["logical"] > 16**3 * (2 * 8 + 2 * 144)
    written = sum(w["bytes_done"] for w in shared["writers"]["list"])
    assert written < shared["bytes"]["logical"] + 8192
    assert folder["file"]["path"] == "plt00000" and folder["file"]["durable"] is True


def test_the_original_s_header(tmp_path):
    """ncmpidump -h, as the seed of this kernel shows it."""
    amr(tmp_path, 4, "ncells=128", "max_grid_size=32", "nlevs=1", "ncomp=2", "nppc=2",
        "outputs=shared")  # fmt: skip
    dump = subprocess.run(
        ["ncmpidump", "-h", "plt00000.nc"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [line.strip() for line in dump.stdout.splitlines() if line.strip()] == HEADER
    subprocess.run(["ncvalidator", "-q", "plt00000.nc"], cwd=tmp_path, check=True)


HEADER = """netcdf plt00000 {
// file format: CDF-5 (big variables)
dimensions:
procdataspace_0 = 64 ;
boxdataspace_0 = 64 ;
boxdataspace_1 = 6 ;
offsetdataspace_0 = 65 ;
dataspace = 4194304 ;
variables:
int level_0.Processors(procdataspace_0) ;
int level_0.boxes(boxdataspace_0, boxdataspace_1) ;
int64 level_0.data:offsets=0(offsetdataspace_0) ;
double level_0.data:datatype=0(dataspace) ;
// global attributes:
:Chombo_globalSpaceDim = 3 ;
:Chombo_globaltestReal = 0. ;
:Chombo_globaltestString = "vMString::testString" ;
:num_components = 2 ;
:num_levels = 1 ;
:component_0 = "component_0" ;
:component_1 = "component_1" ;
:filetype = "VanillaAMRFileType" ;
:testString = "vMString::testString" ;
:level_0.data_attributes.comps = 2 ;
:level_0.data_attributes.ghost = 0, 0, 0 ;
:level_0.dt = 0. ;
:level_0.dx = 0.0078125 ;
:level_0.time = 0. ;
:level_0.prob_domain = 0, 0, 0, 127, 127, 127 ;
:level_0.ref_ratio = 1 ;
}""".splitlines()

LABELS = [
    "MPI initialized with 3 MPI processes", "Write_NCHEADER_time_1_2_0 = ",
    "Write_NCATT_time_1_3 = ", "Write_NCINIT_time_1 = ", "Write_NCATT_time_2 = ",
    "Write_NCATT_time_3 = ", "Write_NCVAR_time_4 = ", "Write_NCATT_time = ",
    "::---- calling NCPUT for the grid data on level 0", "Write_NCATT_time_5 = ",
    "Write_NCVARPUT_time = ", "Write_NCVARPUT_time_since = ", "Write_NC_time_7_closing = ",
    "Write_PNETCDF_time = ", "TinyProfiler total time across processes [min...avg...max]: ",
    "NCalls  Excl. Min  Excl. Avg  Excl. Max   Max %", "WriteMultiLevelPlotfilePNETCDF ",
    "NCalls  Incl. Min  Incl. Avg  Incl. Max   Max %", "WriteMultiLevelPlotfilePNETCDF ",
    "Plot file, data:", "Native folder, open to close:", "Durable total:", "Who wrote:",
    "plt00000.nc (pnetcdf)", "plt00000 (a folder of files)",
]  # fmt: skip


def test_what_it_prints(tmp_path):
    """The seed's labels in their order, its tables, and then what all kernels print."""
    (tmp_path / "inputs").write_text(
        "  # Domain size\n  ncells = 128\nncells = 16   # the later one wins\n"
        "max_grid_size = 8 8\n 8\nnlevs = 1\nncomp = 6\nnppc = 2\n"
    )
    text = amr(tmp_path, 3, "inputs", "ncomp=2").out
    at = 0
    for label in LABELS:
        at = text.find(label, at) + 1
        assert at > 0, label
    amr_reader.check(amr_reader.netcdf(tmp_path / "plt00000.nc"))


def test_no_argument_is_a_question(tmp_path):
    result = amr(tmp_path, 2)
    assert result.out.startswith("tailrace-amr: ") and "Usage:" in result.out
    assert seen(tmp_path) == []


def test_outputs_are_replaced(tmp_path):
    amr(tmp_path, 2, *SEED, "nlevs=2")
    amr(tmp_path, 2, *SEED)
    assert not (tmp_path / "plt00000/Level_1").exists()
    amr_reader.check(amr_reader.native(tmp_path / "plt00000"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter").write_text("dear")
    result = refused(tmp_path, 2, *SEED, "filename=mine.nc")
    assert "mine" in result.err and (tmp_path / "mine/letter").read_text() == "dear"
    assert sorted(p.name for p in (tmp_path / "mine").iterdir()) == ["letter"]


@pytest.mark.parametrize("key", ["ncells", "max_grid_size", "nlevs", "ncomp", "nppc"])
def test_what_must_be_given(tmp_path, key):
    result = refused(tmp_path, 2, *(word for word in SEED if not word.startswith(key + "=")))
    assert f"missing key: {key}" in result.err and seen(tmp_path) == []


@pytest.mark.parametrize(
    ("word", "texts"),
    [
        ("ncells=0", ["ncells", '"0"', "give 1 to"]),
        ("ncells=4 4", ["ncells", "two numbers"]),
        ("max_grid_size=-1", ["max_grid_size", '"-1"']),
        ("nlevs=31", ["nlevs", "31", "30"]),
        ("ncomp=x", ["ncomp", '"x"']),
        ("ref_ratio=3", ["ref_ratio", "3"]),
        ("refine=0 1 1", ["refine", "seven"]),
        ("outputs=shared particles", ["outputs", "outputs names particles without native"]),
        ("outputs=nothing", ["outputs", '"nothing", which is none']),
        ("read=level plane wall", ["read", '"wall"', "region"]),
        ("read_region=0 0 0 0 1 1", ["read_region", "holds no cell"]),
        ("ncels=3", ["ncels", 'Did you mean "ncells"']),
        ("filename=no/plt00000.nc", ["the folder no does not exist"]),
        ("blocking_factor=3", ["blocking_factor"]),
        ("unlimited=1", ["<command line>: /level_0.", "with unlimited"]),
    ],
)
def test_wrong_values(tmp_path, word, texts):
    result = refused(
        tmp_path, 2, *(w for w in SEED if w.partition("=")[0] != word.partition("=")[0]), word
    )
    assert all(text in result.err for text in texts), result.err
    assert "hint: " in result.err and seen(tmp_path) == []


def test_levels_that_do_not_nest(tmp_path):
    """The finest level reaches beyond the one below it."""
    result = refused(tmp_path, 2, *SEED, "nlevs=3", "refine=0 4 4 4 7 7 7 1 0 0 0 15 15 15")
    assert "refine" in result.err and seen(tmp_path) == []


def test_dry_run(tmp_path):
    result = amr(tmp_path, 2, *SEED, "--dry-run")
    assert "nothing was written" in result.out and "ncells 16" in result.out
    assert seen(tmp_path) == []
