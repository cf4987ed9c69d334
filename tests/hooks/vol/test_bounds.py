# SPDX-License-Identifier: Apache-2.0
"""What a plan may take of memory in files of several ranks, and an MPI that HDF5 starts itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from mpi_programs import MPIEXEC
from plans import Json, compiled, entry, setting, write_plan
from tailrace_cli import tailrace

from tailrace.intent import plugin

PROGRAM = Path(os.environ["TAILRACE_BUILD_DIR"], "tests", "bin", "vol_bounds")
# One rank has another limit than the others: its environment is set in a shell.
OTHER = 'if [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 3 ]; then {change}; fi; exec "$@"'


def lines_of(folder: Path, plan: Path, *words: str | Path) -> tuple[list[str], list[Json]]:
    """What the program printed, and what became of the plan."""
    ran = tailrace("apply", plan, "--json", "--", *MPIEXEC, *words, cwd=folder, timeout=60)
    ran.expect(0)
    return ran.err.splitlines(), ran.json["lines"]


def test_a_cache_that_one_rank_has_no_memory_for(tmp_path: Path) -> None:
    """There it holds one chunk: how HDF5 reads together depends on whether a chunk could be in the
    cache, and ranks that see it otherwise wait for ever."""
    wanted, chunk = 300 << 20, 12 << 20
    cache = setting("13", "chunk_cache_bytes", wanted)
    plan = write_plan(tmp_path, entry("*.h5", cache, dataset="/big", when="open"))
    limit = OTHER.format(change="ulimit -v 1048576")
    said, lines = lines_of(tmp_path, plan, "-n", "4", "sh", "-c", limit, "sh", PROGRAM, "caches",
                           "c.h5")  # fmt: skip
    assert "content right" in said
    assert f"caches {wanted} {wanted} {wanted} {chunk}" in said
    told = {line["processes"]: (line["became"], line["value"], line["reason"]) for line in lines}
    assert told == {
        "0-2": ("applied", str(wanted), ""),
        "3": ("applied", str(chunk), "cut: all caches would be larger than a quarter of the memory,"
              " shared by the ranks here"),
    }  # fmt: skip


def test_ranks_agree_on_how_many_datasets_may_be_changed(tmp_path: Path) -> None:
    """One of them has changed almost as many as it remembers, in a file of its own."""
    chunk = setting("18", "chunk", [4], "layout")
    plan = compiled(write_plan(tmp_path, entry("*.h5", chunk, dataset="*", when="create")))
    added = plugin.environment_to_apply(plugin.find(), plan, {})
    exports = [word for name in added for word in ("-x", name)]
    if os.environ.get("TAILRACE_TEST_MPI") != "openmpi":
        exports = []
    ran = subprocess.run(
        [MPIEXEC[0], *exports, *MPIEXEC[1:], "-n", "2", PROGRAM, "many", "t.h5"], cwd=tmp_path,
        env={**os.environ, **added}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["chunked 6 6", "content right"]


def test_an_mpi_that_hdf5_starts_itself(tmp_path: Path) -> None:
    """The list names no communicator then: nobody can be asked, and nothing ends the program."""
    plan = write_plan(tmp_path, entry("*.h5", setting("1", "alignment_bytes", 4096, "layout"),
                                      setting("42", "hint.cb_buffer_size", "8388608")))  # fmt: skip
    said, lines = lines_of(tmp_path, plan, "-n", "2", "env", "HDF5_DRIVER=mpio", PROGRAM, "alone",
                           "x.h5")  # fmt: skip
    assert said.count("content right") == 2
    reason = "ranks cannot agree: the access list names no communicator"
    assert any(reason in line["reason"] for line in lines), lines
    assert all(line["became"] != "applied" for line in lines)
