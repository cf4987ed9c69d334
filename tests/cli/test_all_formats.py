# SPDX-License-Identifier: Apache-2.0
"""The same run in every format: each file is right by itself, and all say the same."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
from tailrace_cli import called, tailrace

from tailrace.run import programs
from tailrace.verify import common_attributes

pytestmark = pytest.mark.mpi
FORMATS = ("hdf5", "netcdf4", "pnetcdf", "mpiio", "posix", "posix-per-rank")
SEISM = ("processor=2x1x2", "domain=5x3x4", "time=3")
READS = "read=same other plane points shuffled"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("formats")
    found = {}
    for one in (*FORMATS, "other"):
        found[one] = folder / one / "out"
        found[one].parent.mkdir()
        words = ["fill=rank"] if one == "other" else ["fill=position", f"format={one}"]
        tailrace(
            "run", "seism", *SEISM, *words, "verify", READS, "collective_write", "filename=out",
            "-q", cwd=found[one].parent,
        ).expect(0)  # fmt: skip
    return found


@pytest.mark.parametrize("form", FORMATS)
def test_every_element_is_verified(files: dict[str, Path], form: str) -> None:
    found = called("verify", files[form], "--json").expect(0).json
    assert found["ok"] and found["files"][0]["correct"] == 3 * 10 * 3 * 8


@pytest.mark.parametrize(("one", "other"), combinations(FORMATS, 2))
def test_contents_are_equal_across_formats(files: dict[str, Path], one: str, other: str) -> None:
    called("verify", files[one], files[other]).expect(0)


@pytest.mark.parametrize("form", FORMATS)
def test_another_content_is_found_from_every_format(files: dict[str, Path], form: str) -> None:
    called("verify", files[form], files["other"]).expect(3)


@pytest.mark.parametrize(
    ("form", "how"),
    [
        ("hdf5", "chunk=5x3x4 deflate=1"),
        ("netcdf4", "chunk=5x3x4 deflate=1"),
        ("mpiio", "chunk=5x3x4"),
    ],
)
def test_how_a_file_was_written_is_no_content(
    files: dict[str, Path], tmp_path: Path, form: str, how: str
) -> None:
    """Name, chunks, filters, what may grow: of files of one format too."""
    file = tmp_path / "again.h5"
    tailrace(
        "run", "seism", *SEISM, "fill=position", f"format={form}", *how.split(),
        "collective_write", f"filename={file}", "-q", cwd=tmp_path,
    ).expect(0)  # fmt: skip
    called("verify", files[form], file).expect(0)
    called("verify", files["other"], file).expect(3)


def written(folder: Path, kernel: str, words: Sequence[str], forms: Sequence[str]) -> list[Path]:
    """By three ranks, with every element checked by the program and by the reader."""
    found = []
    for form in forms:
        file = folder / f"{form}.out"
        tailrace(
            "run", kernel, "--ranks", "3", *words, f"format={form}", f"filename={file}", "verify",
            "-q", cwd=folder,
        ).expect(0)  # fmt: skip
        called("verify", file).expect(0)
        found.append(file)
    return found


def test_blocks_of_one_cell_in_every_format(tmp_path: Path) -> None:
    words = ("processor=3x1x1", "domain=1x1x1", "time=2", "fill=position", READS)
    files = written(tmp_path, "seism", words, FORMATS)
    for one, other in combinations(files, 2):
        called("verify", one, other).expect(0)


@pytest.mark.parametrize("axis", ["pair", "short-split"])
def test_a_slab_is_the_same_in_every_format(tmp_path: Path, axis: str) -> None:
    """13 x 2 on 3 ranks: of the short dimension one has nothing."""
    words = ("n1=13", "n2=2", f"axis={axis}", READS)
    files = written(tmp_path, "slab", words, FORMATS)
    for one, other in combinations(files, 2):
        called("verify", one, other).expect(0)


def test_how_it_was_written_makes_no_difference_between_formats(tmp_path: Path) -> None:
    """Settings that only one format has, for the same numbers."""
    words = ("processor=2x1x1", "domain=4x3x2", "time=2", "fill=position")
    files = []
    for number, more in enumerate(
        (
            ["format=hdf5", "chunk=4x3x2", "deflate=1", "collective_write", "libver=v110"],
            ["format=netcdf4", "chunk=4x3x2", "shuffle", "deflate=2", "collective_write"],
            ["format=pnetcdf", "cdf=2", "put=aggregated", "header_alignment=4096"],
            ["format=posix", "alignment=4096", "fsync=step"],
        )
    ):
        files.append(tmp_path / f"{number}.out")
        given = (*words, *more, f"filename={files[-1]}")
        tailrace("run", "seism", *given, "-q", cwd=tmp_path).expect(0)
    for one, other in combinations(files, 2):
        called("verify", one, other).expect(0)


PATTERNS = {
    "contig": (),
    "interleaved": ("file_pattern=interleaved", "mem_pattern=interleaved"),
    "strided": ("file_pattern=strided", "stride_size=3", "block_size=2", "block_cnt=4"),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_particles_are_the_same_in_every_format_that_has_groups(
    tmp_path: Path, pattern: str
) -> None:
    forms = [one for one in FORMATS if one != "pnetcdf"]
    words = ("timesteps=2", "dim_1=16", *PATTERNS[pattern])
    files = written(tmp_path, "particle", words, forms)
    for one, other in combinations(files, 2):
        called("verify", one, other).expect(0)


@pytest.mark.parametrize(
    ("kinds", "numbers", "code"),
    [
        (("f4", "i4"), [1, 2147483647], 3),
        (("f4", "i4"), [16777217, 5], 3),
        (("f4", "i4"), [16777216, 5], 0),
        (("f8", "i8"), [1, 2], 3),  # no type holds both
    ],
)
def test_a_number_is_not_what_another_type_makes_of_it(
    tmp_path: Path, kinds: tuple[str, str], numbers: list[int], code: int
) -> None:
    """A member in a compound of HDF5, beside an array of netCDF in the type of the first one."""
    pairs = np.zeros(len(numbers), [("x", kinds[0]), ("id", kinds[1])])
    pairs["id"] = numbers
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["p"] = pairs
    with netCDF4.Dataset(tmp_path / "b.nc", "w") as file:
        for name, size in (("n", len(numbers)), ("member", 2)):
            file.createDimension(name, size)
        variable = file.createVariable("p", kinds[0], ("n", "member"))
        variable[:] = np.stack([pairs[name].astype(kinds[0]) for name in ("x", "id")], axis=-1)
    for names in (("a.h5", "b.nc"), ("b.nc", "a.h5")):
        called("verify", *(tmp_path / name for name in names)).expect(code)


def test_particles_in_classic_netcdf_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    words = ("--ranks", "2", "timesteps=1", "dim_1=16", "format=pnetcdf", "filename=x.nc")
    for more in ((), ("--dry-run",)):
        ran = tailrace("run", "particle", *words, *more, cwd=tmp_path).expect(2)
        assert "classic netCDF has no groups" in ran.err and "netcdf4" in ran.err, ran.err
    assert [one.name for one in tmp_path.iterdir() if one.name != "results.jsonl"] == []


@pytest.mark.parametrize("kernel", ["seism", "slab", "particle"])
def test_every_input_that_says_how_is_known(kernel: str) -> None:
    """verify leaves them out between formats: a new one belongs to one list or the other."""
    of_format = {"Format", "HDF5", "netCDF", "PnetCDF", "Run", "Lustre"}
    group, keys = "", set()
    program = str(programs.program(f"tailrace-{kernel}"))
    for line in programs.output_of([program, "--help"]).splitlines():
        if line.endswith(":") and not line.startswith(" "):
            group = line[:-1]
        elif found := re.match(r"  ([a-z]\w*) ", f"{line} "):
            keys |= {found[1]} if group in of_format else set()
    assert len(keys) > 40 and keys <= common_attributes._how_written, kernel


def test_the_classic_netcdf_file_is_valid_for_its_own_tools(files: dict[str, Path]) -> None:
    checked = subprocess.run(
        ["ncvalidator", files["pnetcdf"]], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0 and "CDF-5 file" in checked.stdout, checked.stdout
    for form in ("pnetcdf", "netcdf4"):
        shown = subprocess.run(
            ["ncdump", "-h", files[form]], capture_output=True, text=True, check=False
        )
        assert shown.returncode == 0 and "float chunked(" in shown.stdout, shown.stderr
