# SPDX-License-Identifier: Apache-2.0
"""What a test has to know to start MPI programs: the build, the launcher, the MPI-IO there are."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from own_namespace import not_run

BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
PRELOAD = BUILD / "lib/libtailrace_hook_posix.so"
MPIEXEC = shlex.split(os.environ.get("TAILRACE_TEST_MPIEXEC", ""))
ROMIO = os.environ.get("TAILRACE_TEST_ROMIO", "")
# In a build with sanitizers a preloaded library comes before theirs, which they would refuse.
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}


def programs() -> Path:
    """Where the programs lie that tests of the connector run: with the HDF5 of the build, or with
    an older one."""
    folder = Path(os.environ.get("TAILRACE_TEST_PROGRAMS") or BUILD / "tests" / "bin")
    if not (folder / "vol_api").is_file():
        not_run("needs programs with HDF5 1.14; `make test` builds that, and them")
    return folder


def mpi_components() -> list[tuple[str, dict[str, str]]]:
    """The MPI-IO implementations to try, as (name, environment)."""
    if not MPIEXEC:
        return []
    if os.environ.get("TAILRACE_TEST_MPI") != "openmpi":
        return [("romio", {})]
    both = [("ompio", {"OMPI_MCA_io": "ompio"})]
    return both + ([("romio", {"OMPI_MCA_io": ROMIO})] if ROMIO else [])


def need_both_mpi_io() -> None:
    """For tests that hold OMPIO and ROMIO side by side: elsewhere they count as not run."""
    if os.environ.get("TAILRACE_TEST_MPI") != "openmpi" or not ROMIO:
        not_run("needs Open MPI with both implementations of MPI-IO, OMPIO and ROMIO")


def version_for_python() -> str:
    """What the MPI that mpi4py finds says of itself, as profiles have it: without details."""
    ask = "from mpi4py import MPI; print(MPI.Get_library_version())"
    ran = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True)
    return re.split("[\n,]", ran.stdout)[0]
