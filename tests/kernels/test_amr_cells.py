# SPDX-License-Identifier: Apache-2.0
"""tailrace-amr: cells of a table of formats, meshes and ranks, particles too, element by element;
ranks without boxes and boxes of one cell among them."""

import json

import amr_particles
import amr_raw
import amr_reader
import jsonschema
import pytest
from seism_tool import BUILD, SOURCE, good

AMR = BUILD / "bin/tailrace-amr"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((SOURCE / "schemas/record-1.schema.json").read_text())
)
READERS = {
    "pnetcdf": amr_reader.netcdf, "netcdf4": amr_reader.netcdf, "hdf5": amr_reader.hdf5,
    "mpiio": amr_raw.shared, "posix": amr_raw.shared, "posix-per-rank": amr_raw.per_rank,
}  # fmt: skip

# Ranks, format, its words; cells, most of a box, levels, components, particles; more of the mesh.
CELLS = [
    (1, "pnetcdf", "", "8", "8", 1, 1, 0, ""),
    (4, "pnetcdf", "collective_write=0", "9 12 7", "4 5 3", 3, 2, 1, ""),
    (6, "pnetcdf", "put=aggregated", "12", "8", 2, 3, 2, "nfiles=2"),
    (2, "pnetcdf", "put=buffered", "7 1 5", "3", 1, 2, 1, "boxes=current"),
    (3, "netcdf4", "", "16 8 8", "4", 2, 2, 0, "blocking_factor=2"),
    (4, "netcdf4", "collective_write=0", "8", "4", 3, 1, 1, "ref_ratio=4"),
    (5, "hdf5", "", "10 6 8", "4", 2, 2, 1, "distribution=knapsack"),
    (6, "hdf5", "collective_write=0 multi_dataset=1", "4", "1", 1, 2, 2, ""),
    (3, "hdf5", "deflate=1 shuffle=1", "12", "6", 2, 2, 0, ""),
    (4, "hdf5", "deflate=1 encode=ranks collective_write=0", "11 7 5", "4", 2, 1, 1, ""),
    (6, "mpiio", "", "8", "8", 1, 2, 1, "distribution=roundrobin"),
    (2, "mpiio", "collective_write=0", "9", "4", 3, 1, 0, ""),
    (5, "posix", "", "8 6 4", "3", 2, 2, 1, ""),
    (4, "posix-per-rank", "", "5 9 8", "4", 2, 2, 1, "nfiles=1"),
]


@pytest.mark.parametrize(
    ("ranks", "form", "how", "cells", "most", "levels", "components", "per_cell", "more"),
    CELLS,
    ids=[f"{one[0]} {one[1]} {one[2]}".strip() for one in CELLS],
)
def test_a_cell(tmp_path, ranks, form, how, cells, most, levels, components, per_cell, more):
    words = [f"format={form}", *how.split(), *more.split(), "filename=plt00000.x", "verify=1"]
    mesh = [f"ncells={cells}", f"max_grid_size={most}", f"nlevs={levels}"]
    data = [f"ncomp={components}", f"nppc={per_cell}"]
    result = good(tmp_path, ranks, *mesh, *data, *words, program=AMR)
    found = amr_reader.check(READERS[form](tmp_path / "plt00000.x"))
    folder = amr_reader.check(amr_reader.native(tmp_path / "plt00000"))
    for plot in (found, folder):
        assert plot.components == components and len(plot.levels) == levels
    boxes = [[{(box.lo, box.hi) for box in level} for level in p.levels] for p in (found, folder)]
    assert boxes[0] == boxes[1]
    count = amr_particles.check(tmp_path / "plt00000/particle0", folder, per_cell)
    assert (count > 0) == (per_cell > 0)
    for record in result.records:
        SCHEMA.validate(record)
        assert record["verification"]["status"] == "passed"


def test_a_series_of_particles(tmp_path):
    words = ["ncells=8", "max_grid_size=4", "nlevs=2", "ncomp=1", "nppc=2", "steps=2"]
    good(tmp_path, 3, *words, "format=native", "outputs=native particles", program=AMR)
    for step, name in enumerate(["plt00000", "plt00001"]):
        plot = amr_reader.check(amr_reader.native(tmp_path / name), step)
        assert amr_particles.check(tmp_path / name / "particle0", plot, 2, step) > 0


@pytest.mark.parametrize("form", ["hdf5", "posix-per-rank", "native"])
def test_reads_of_a_series_with_ranks_without_boxes(tmp_path, form):
    """Of 6 ranks two have boxes. Counts follow from the mesh: 16 x 8 x 8 cells and the middle half,
    twice as fine, of two components in two steps."""
    width = 8 if form == "native" else 1  # a folder is read in bytes
    patterns = ["same", "other", "shuffled", "plane", "level", "region"]
    words = ["ncells=16 8 8", "max_grid_size=8", "nlevs=2", "ncomp=2", "nppc=0", "steps=2"]
    outputs = "native" if form == "native" else "shared"
    more = [f"format={form}", f"outputs={outputs}", "read_back=1", "read=" + " ".join(patterns)]
    record = good(tmp_path, 6, *words, *more, "boxes=current", program=AMR).records[0]
    reads = {one["pattern"]: one for one in record["reads"]}
    assert list(reads) == patterns and all(one["wrong"] == 0 for one in reads.values())
    whole, finest = 16 * 8 * 8, 16 * 8 * 8
    assert reads["level"]["elements"] == width * 2 * 2 * finest
    assert reads["plane"]["elements"] == width * 2 * 2 * (16 * 8 + 16 * 8)
    assert reads["region"]["elements"] == width * 2 * 2 * (whole // 8 + finest)
    assert reads["same"]["bytes"] == reads["other"]["bytes"] == reads["shuffled"]["bytes"]
    assert reads["same"]["bytes"] >= 8 * 2 * 2 * (whole + finest)
    assert record["read_back"]["bytes"] == reads["same"]["bytes"]
