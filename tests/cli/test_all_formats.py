# SPDX-License-Identifier: Apache-2.0
"""The same run in every format: each file is right by itself, and all say the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tailrace_cli import called, tailrace

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


@pytest.mark.parametrize("form", FORMATS[1:])
def test_contents_are_equal_across_formats(files: dict[str, Path], form: str) -> None:
    called("verify", files["hdf5"], files[form]).expect(0)
    called("verify", files[form], files["other"]).expect(3)


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
