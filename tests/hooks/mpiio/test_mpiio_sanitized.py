# SPDX-License-Identifier: Apache-2.0
"""The MPI-IO hook, built with AddressSanitizer and UBSan, below every class of call on four ranks:
nothing is found, and what it has recorded is what the plain one does.

Only in builds with sanitizers. A finding ends the rank that has it, and with it the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from mpi_programs import BUILD, MPIEXEC, SANITIZERS, mpi_components  # noqa: E402
from profiled import file_of  # noqa: E402
from runs import profile_of  # noqa: E402

from tailrace.intent import plugin  # noqa: E402

PLAIN = BUILD / "lib" / "tailrace" / "hooks" / "libtailrace_mpiio.so"
SANITIZED = BUILD / "src" / "hooks" / "mpiio" / "sanitized" / "libtailrace_mpiio.so"
PROGRAM = BUILD / "tests" / "bin" / "mpiio_calls"
COUNTS = (
    "calls", "independent", "collective", "nonblocking", "split", "explicit_offset", "shared",
    "ordered", "nonblocking_collective", "failed", "bytes",
)  # fmt: skip


def recorded(folder: Path, hook: Path, what: str, environment: dict[str, str]) -> dict[str, Any]:
    """What the hook has noted of the file: without times, which differ from run to run."""
    spools = folder / "spools"
    spools.mkdir(parents=True)
    library = os.environ["TAILRACE_TEST_ASAN"]
    added = plugin.recording(spools, None) | environment | SANITIZERS
    ran = subprocess.run(
        [*MPIEXEC, "-n", "4", "env", f"LD_PRELOAD={library}:{hook}", PROGRAM, folder / "f", what],
        cwd=folder, env=os.environ | added, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    profile = profile_of(spools)
    assert len(profile["run"]["processes"]) == 4
    mpiio = file_of(profile, "f")["mpiio"]
    counts = {
        way: {key: mpiio.get(way, {}).get(key) for key in COUNTS} for way in ("writes", "reads")
    }
    facts = ("communicator_size", "collective_opens", "hints_given", "hints_in_force")
    return json.loads(json.dumps(counts | {key: mpiio.get(key) for key in facts}))


@pytest.mark.parametrize("what", ["fewer_calls", "hints", "short", "fork"])
@pytest.mark.parametrize(("name", "environment"), mpi_components())
def test_the_hook_of_mpi_io(
    tmp_path: Path, name: str, environment: dict[str, str], what: str
) -> None:
    assert "__asan_init" in subprocess.run(
        ["nm", "-D", "--undefined-only", SANITIZED], capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    plain = recorded(tmp_path / "plain", PLAIN, what, environment)
    assert recorded(tmp_path / "sanitized", SANITIZED, what, environment) == plain
    assert plain["writes"]["bytes"] > 0
