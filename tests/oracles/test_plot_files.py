# SPDX-License-Identifier: Apache-2.0
"""`tailrace verify` of plot files: each layout against its fill, and against the others."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from mpi_programs import MPIEXEC
from tailrace_cli import called

from tailrace.errors import TailraceError
from tailrace.verify.plot.model import Box, Level, Plot, bare_cells, check_mesh

FORMATS = {"pnetcdf": "plt00001.nc", "netcdf4": "plt00001.nc", "hdf5": "plt00001.h5"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Folder of each format, with a shared file and AMReX's folder of the second step."""
    folders = {}
    for form in FORMATS:
        folders[form] = tmp_path_factory.mktemp(form)
        words = ["ncells=12 16 8", "max_grid_size=8", "nlevs=2", "ncomp=2", "nppc=1", "steps=2"]
        subprocess.run(
            [*MPIEXEC, "-n", "3", "tailrace-amr", *words, f"format={form}"],
            cwd=folders[form], check=True, capture_output=True,
        )  # fmt: skip
    return folders


@pytest.fixture
def copy(written, tmp_path):
    """Of the PnetCDF run, to be damaged."""
    shutil.copytree(written["pnetcdf"], tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.parametrize("form", FORMATS)
def test_each_layout_is_as_its_fill_says(written, form):
    found = json.loads(called("verify", written[form] / FORMATS[form], "--json").expect(0).out)
    report = found["files"][0]
    assert report["kernel"] == "amr" and report["wrong"] == 0
    assert report["correct"] == 2 * (12 * 16 * 8 + 12 * 16 * 8)  # the finer half is as many cells


def test_the_folder_and_its_particles(written):
    found = json.loads(called("verify", written["hdf5"] / "plt00001", "--json").expect(0).out)
    report = found["files"][0]
    cells = 12 * 16 * 8
    particles = cells - cells // 8 + cells
    assert report["correct"] == 2 * 2 * cells + particles * (6 + 15) and report["wrong"] == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [("pnetcdf", "hdf5"), ("netcdf4", "pnetcdf"), ("hdf5", "netcdf4"), ("pnetcdf", ""),
     ("hdf5", ""), ("", "")],
)  # fmt: skip
def test_layouts_have_the_same_content(written, one, other):
    paths = [
        written[form] / FORMATS[form] if form else written["netcdf4"] / "plt00001"
        for form in (one, other)
    ]
    assert "same logical content" in called("verify", *paths).expect(0).out


@pytest.mark.parametrize("form", FORMATS)
def test_other_ranks_write_the_same_content(written, tmp_path, form):
    """The boxes lie in another order, with other owners."""
    words = ["ncells=12x16x8", "max_grid_size=8", "nlevs=2", "ncomp=2", "nppc=1", "steps=2"]
    subprocess.run(
        [*MPIEXEC, "-n", "2", "tailrace-amr", *words, f"format={form}", "outputs=shared"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    paths = (folder / FORMATS[form] for folder in (tmp_path, written[form]))
    assert "same logical content" in called("verify", *paths).expect(0).out


def test_other_steps_differ(written):
    folder = written["pnetcdf"]
    ran = called("verify", folder / "plt00000.nc", folder / "plt00001").expect(3)
    assert "/level_0/(" in ran.out and "DIFFERENT" in ran.out


def cell_files(folder):
    return sorted((folder / "plt00001/Level_1").glob("Cell_D_*"))


def test_a_wrong_value_is_named(written, tmp_path):
    path = tmp_path / "plt00001.h5"
    shutil.copy(written["hdf5"] / path.name, path)
    with h5py.File(path, "r+") as file:
        boxes, offsets = (file["level_1"][n][...] for n in ("boxes", "data:offsets=0"))
        file["level_1/data:datatype=0"][offsets[1] + 3] = 7.5
    low = boxes[1]
    ran = called("verify", path).expect(3)
    assert "7.5" in ran.out and "VERIFICATION FAILED" in ran.out
    where = f"component 0, cell ({low['lo_i'] + 3},{low['lo_j']},{low['lo_k']})"
    assert where in " ".join(ran.out.split())
    ran = called("verify", path, written["hdf5"] / "plt00001").expect(3)
    assert "1 element" in ran.out


def replace(path: Path, old: str, new: str, count: int = 1) -> None:
    text = path.read_bytes().decode("latin1")
    assert re.search(old, text)
    path.write_bytes(re.sub(old, new, text, count=count).encode("latin1"))


@pytest.mark.parametrize(
    ("file", "old", "new", "text"),
    [
        ("Level_1/Cell_H", r"\d\.\d{17}e-0", "9.00000000000000000e-0", "of component"),
        ("Level_0/Cell_H", r"\(\(0,0,0\) \(3", "((1,0,0) (3", "line"),
        ("Level_0/Cell_H", r"Cell_D_00000 0", "Cell_D_00000 8", "head of box"),
        ("Header", "HyperCLaw-V1.1\n2", "HyperCLaw-V1.1\n3", "line"),
        ("Header", "component_1\n3\n1\n", "component_1\n3\nx\n", "time"),
        ("Header", r"\n1 1 \n", "\n1 2 \n", "step"),
        ("Header", r"\n0 \d+ 1\n", "\n0 4\n", "boxes at time"),
        ("particle0/Header", r"1\n(\d+)\n\d+\n1\n", r"1\n\1\n3\n1\n", "next id"),
        ("particle0/Header", r"is|1\n\d+\n", "1\n5\n", "line"),
    ],
)  # fmt: skip
def test_texts_that_lie(copy, file, old, new, text):
    replace(copy / "plt00001" / file, old, new)
    ran = called("verify", copy / "plt00001").expect(3)
    assert text in ran.err and "hint: " in ran.err and "Traceback" not in ran.err


def test_a_folder_that_was_cut_off(copy):
    last = cell_files(copy)[-1]
    last.write_bytes(last.read_bytes()[:-100])
    ran = called("verify", copy / "plt00001").expect(3)
    assert f"{last.name}: it ends at byte" in ran.err
    last.unlink()
    assert "cannot be read" in called("verify", copy / "plt00001").expect(3).err


def test_particles_of_one_side_are_missing(copy):
    """Whatever the order of the boxes."""
    other = copy / "other"
    other.mkdir()
    words = ["ncells=12 16 8", "max_grid_size=8", "nlevs=2", "ncomp=2", "nppc=0", "steps=2"]
    subprocess.run(
        [*MPIEXEC, "-n", "2", "tailrace-amr", *words, "format=native", "filename=other/plt00000"],
        cwd=copy, check=True, capture_output=True,
    )  # fmt: skip
    ran = called("verify", copy / "plt00001", other / "plt00001").expect(3)
    assert "particles" in ran.out and "DIFFERENT" in ran.out


def test_particles_that_were_changed(copy):
    path = next((copy / "plt00001/particle0/Level_0").glob("DATA_*"))
    data = bytearray(path.read_bytes())
    data[0] ^= 1  # the first id
    path.write_bytes(data)
    ran = called("verify", copy / "plt00001").expect(3)
    assert "particles, int" in ran.out and "VERIFICATION FAILED" in ran.out


def test_tables_that_lie(written, tmp_path):
    path = tmp_path / "plt00001.h5"
    for table, index, value, text in (
        ("data:offsets=0", 1, 5, "data:offsets=0: number 1"),
        ("boxes", 0, (1, 0, 0, 4, 7, 7), "level 0"),
    ):
        shutil.copy(written["hdf5"] / path.name, path)
        with h5py.File(path, "r+") as file:
            file[f"level_0/{table}"][index] = value
        assert text in called("verify", path).expect(3).err


def test_plot_files_of_others(copy):
    """Values that nothing is known of."""
    for path in (copy / "plt00001").rglob("Cell_D_*"):
        found = path.read_bytes()
        at = 0
        parts = []
        while at < len(found):
            end = found.index(b"\n", at) + 1
            low, high = (
                [int(n) for n in part.split(b",")]
                for part in re.findall(rb"\(([\d,]+)\) \(([\d,]+)\) \(0,0,0\)", found[at:end])[0]
            )
            count = 2 * int(
                np.prod([top - bottom + 1 for bottom, top in zip(low, high, strict=True)])
            )
            parts += [found[at:end], np.full(count, 0.5).tobytes()]
            at = end + 8 * count
        path.write_bytes(b"".join(parts))
    for path in (copy / "plt00001").rglob("Cell_H"):
        text = path.read_text()
        path.write_text(re.sub(r"\d\.\d{17}e-\d\d", "5.00000000000000000e-01", text))
    ran = called("verify", copy / "plt00001").expect(2)
    assert "not those of tailrace-amr" in ran.err and "verify A B" in ran.err


def test_other_folders_are_no_files(tmp_path):
    assert "is a folder, not a file" in called("verify", tmp_path).expect(2).err


def test_cells_that_a_finer_level_covers():
    """As a mask of the whole domain says, for boxes of any size and place."""
    numbers = np.random.default_rng(1)
    for ratio in (2, 4):
        size = np.array((12, 8, 16))
        coarse = [((0, 0, 0), (11, 7, 7)), ((0, 0, 8), (5, 7, 15)), ((6, 0, 8), (11, 7, 15))]
        fine, mask = [], np.zeros(size[::-1] * ratio, bool)
        for _ in range(20):
            low = numbers.integers(0, size * ratio)
            high = np.minimum(low + numbers.integers(0, 20, 3), size * ratio - 1)
            box = Box(tuple(map(int, low)), tuple(map(int, high)), values_of_none)
            overlaps = mask[slices(box)].any()
            plot = mesh(size, ratio, coarse, [*fine, (box.lo, box.hi)])
            if overlaps:
                with pytest.raises(TailraceError, match="lies on another one"):
                    check_mesh(plot)
                continue
            check_mesh(plot)
            fine.append((box.lo, box.hi))
            mask[slices(box)] = True
        plot = mesh(size, ratio, coarse, fine)
        k, j, i = size[::-1]
        covered = mask.reshape(k, ratio, j, ratio, i, ratio).any(axis=(1, 3, 5))
        bare = bare_cells(plot)
        assert covered.any() and not covered.all()
        for box in plot.levels[0].boxes:
            assert np.array_equal(bare(0, box), ~covered[slices(box)])
        assert all(bare(1, box).all() for box in plot.levels[1].boxes)


def mesh(size, ratio, *levels):
    return Plot(
        Path("plot"), "native", ["c"],
        [
            Level(tuple(int(n) * ratio**number for n in size),
                  [Box(lo, hi, values_of_none) for lo, hi in boxes])
            for number, boxes in enumerate(levels)
        ],
        0.0,
    )  # fmt: skip


def slices(box):
    return tuple(slice(lo, hi + 1) for lo, hi in zip(box.lo[::-1], box.hi[::-1], strict=True))


def values_of_none():
    raise AssertionError("nobody reads them")
