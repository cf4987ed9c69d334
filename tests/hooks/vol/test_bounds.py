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


def lines_of(folder: Path, plan: Path, *words: str | Path) -> tuple[list[str], list[Json]]:
    """What the program printed, and what became of the plan."""
    ran = tailrace("apply", plan, "--json", "--", *MPIEXEC, *words, cwd=folder, timeout=60)
    ran.expect(0)
    return ran.err.splitlines(), ran.json["lines"]


def natively(folder: Path, chunk_bytes: int) -> list[str]:
    """The caches and slots that HDF5 gives by itself."""
    (native := folder / "native").mkdir()
    words = [*MPIEXEC, "-n", "4", PROGRAM, "caches", "c.h5", str(chunk_bytes)]
    ran = subprocess.run(words, cwd=native, capture_output=True, text=True, timeout=60, check=True)
    return ran.stdout.splitlines()


def told(lines: list[Json], key: str) -> dict[str, tuple[str, str, str]]:
    """What became of a setting, by processes."""
    return {line["processes"]: (line["became"], line["value"], line["reason"])
            for line in lines if line["setting"] == key}  # fmt: skip


def test_a_chunk_larger_than_the_cache_without_the_plan(tmp_path: Path) -> None:
    """A rank that has the dataset open already goes on with the cache that it has: where that does
    not hold a chunk, and those of the others do, they wait for each other for ever."""
    chunk = 12 << 20
    native = natively(tmp_path, chunk)
    plan = write_plan(tmp_path, entry("*.h5", setting("13", "chunk_cache_bytes", 64 << 20),
                                      dataset="/big", when="open"))  # fmt: skip
    said, lines = lines_of(tmp_path, plan, "-n", "4", PROGRAM, "caches", "c.h5", str(chunk), "held")
    assert said == native
    assert told(lines, "chunk_cache_bytes") == {
        "0-3": ("held", str(64 << 20), "its chunk is larger than the cache without the plan, and "
                "ranks that read together have to read alike"),
    }  # fmt: skip


def test_a_cache_holds_a_chunk(tmp_path: Path) -> None:
    """Also where the plan has less, and one rank has the dataset open already."""
    chunk = 512 << 10
    usual = natively(tmp_path, chunk)[0].split()[1]
    plan = write_plan(tmp_path, entry("*.h5", setting("13", "chunk_cache_bytes", 64 << 10),
                                      dataset="/big", when="open"))  # fmt: skip
    said, lines = lines_of(tmp_path, plan, "-n", "4", PROGRAM, "caches", "c.h5", str(chunk), "held")
    assert "content right" in said
    assert f"caches {usual} {chunk} {chunk} {chunk}" in said
    assert told(lines, "chunk_cache_bytes")["1-3"] == (
        "applied", str(chunk), "raised to a chunk: ranks that read together have to read alike"
    )  # fmt: skip


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
    assert "".join(said).count("content right") == 2
    reason = "ranks cannot agree: the access list names no communicator"
    assert any(reason in line["reason"] for line in lines), lines
    assert all(line["became"] != "applied" for line in lines)
