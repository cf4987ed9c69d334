# SPDX-License-Identifier: Apache-2.0
"""How large a file is in the end, beside what the file system says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mpi_programs import MPIEXEC
from tailrace_cli import called, tailrace

Json = dict[str, Any]
DATASETS = 8  # of a step of the kernel


@pytest.mark.parametrize("steps", [2, 12])  # 96 datasets: of a file 64 views are followed
def test_after_many_views_the_file_has_its_own_size(tmp_path: Path, steps: int) -> None:
    profile = tmp_path / "profile.json"
    words = [*MPIEXEC, "-n", "2", "tailrace-particle", "dim_1=2048", f"timesteps={steps}",
             "collective_write=yes"]  # fmt: skip
    tailrace("profile", "-o", profile, "--", *words, cwd=tmp_path).expect(0)
    layer = next(file["mpiio"] for file in json.loads(profile.read_text())["files"]
                 if "mpiio" in file)  # fmt: skip
    found = called("intents", "--json", profile).expect(0).json["files"]
    (file,) = [one for path, one in found.items() if path.endswith("test.h5.part")]
    size = (tmp_path / "test.h5").stat().st_size
    assert size > steps * DATASETS * 2 * 2048 * 4
    assert file["fs_size"]["bytes"] == size
    assert "at_least" not in file["fs_size"]
    assert file["fs_size"]["from"] == "last byte touched"  # of system calls
    assert (layer["writes"]["not_placed"] == 0) == (steps == 2)
    # Without the hook of system calls: MPI-IO alone, which is all of these bytes but for the
    # description that one rank writes afterwards.
    assert ("size_bytes" in layer) == (steps != 2)
    if "size_bytes" in layer:
        assert layer["writes"]["highest_byte"] < layer["size_bytes"] <= size
