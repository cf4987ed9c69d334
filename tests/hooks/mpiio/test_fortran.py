# SPDX-License-Identifier: Apache-2.0
"""Both Fortran interfaces of MPI-IO are recorded, each call once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from mpi_programs import MPIEXEC, SANITIZERS  # noqa: E402
from own_namespace import not_run  # noqa: E402
from profiled import file_of, profiled  # noqa: E402


def compiler() -> Path:
    """The Fortran wrapper beside the launcher."""
    launcher = Path(shutil.which(MPIEXEC[0]) or MPIEXEC[0])
    found = launcher.with_name(launcher.name.replace("mpiexec", "mpifort"))
    if not found.is_file():
        not_run(f"needs the Fortran compiler of this MPI ({found})")
    return found


@pytest.mark.parametrize("interface", ["mpif.h", "USE_MPI", "USE_F08"])
def test_calls_from_fortran(tmp_path: Path, interface: str) -> None:
    program = tmp_path / "calls"
    defined = [] if interface == "mpif.h" else [f"-D{interface}"]
    source = Path(__file__).with_name("calls.F90")
    subprocess.run([compiler(), *defined, "-o", program, source], check=True, timeout=60)
    ran, profile = profiled(tmp_path, *MPIEXEC, "-n", "2", program, tmp_path / "f", **SANITIZERS)
    assert ran.code == 0, ran.err
    mpiio = file_of(profile, "f")["mpiio"]
    assert (mpiio["collective_opens"], mpiio["views"], mpiio["syncs"]) == (2, 2, 2)
    assert mpiio["hints_given"] == {"cb_nodes": "1"}
    writes = mpiio["writes"]
    kinds = ("independent", "collective", "nonblocking", "split", "ordered", "explicit_offset")
    assert [writes[kind] for kind in kinds] == [2 * count for count in (3, 3, 1, 1, 1, 7)]
    assert writes["bytes"] == 2 * 8 * (2 * 64 + 3 * 2 + 1 + 3 + 4)
    reads = mpiio["reads"]
    assert (reads["independent"], reads["collective"], reads["bytes"]) == (6, 2, 2 * 8 * 67)
    assert reads["highest_byte"] == 1023
    assert mpiio["close"]["end_s"] >= mpiio["open"]["end_s"]
