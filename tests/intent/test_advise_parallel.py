# SPDX-License-Identifier: Apache-2.0
"""What the calls of parallel programs should have been, on programs that are run: of PnetCDF, and
of HDF5 where it refuses them. And files that are opened again and again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mpi_programs import BUILD, MPIEXEC
from own_namespace import not_run
from tailrace_cli import tailrace
from test_advise_beyond import advice_of, of_rule, profiled, script

Json = dict[str, Any]


def ranks_of(folder: Path, name: str, *words: str, good: bool = True) -> Path:
    """The profile of a program of this folder, on two ranks."""
    program = BUILD / "tests" / "bin" / name
    if not program.is_file():
        not_run(f"needs {name}, which is built with MPI, parallel HDF5 and PnetCDF")
    profile = folder / f"{words[-1]}.json"
    ran = tailrace("profile", "-o", profile, "--", *MPIEXEC, "-n", "2", program, *words, cwd=folder)
    assert (ran.code == 0) is good, ran.err
    return profile


def rules_of(profile: Path) -> set[str]:
    return {one["because"]["rule"] for one in advice_of(profile)}


def test_a_rank_that_leaves_out_a_collective_write(tmp_path: Path) -> None:
    profile = ranks_of(tmp_path, "intent_refused_writes", "out.h5", "one_less", good=False)
    shown = " ".join(tailrace("advise", profile).expect(0).out.split())
    assert shown.startswith("The program fails at ")
    assert "process 1 began 7, others 8" in shown
    together = ranks_of(tmp_path, "intent_refused_writes", "out.h5", "together")
    assert "74" not in rules_of(together)


def writes_below(profile: Path) -> int:
    import json

    (file,) = (one for one in json.loads(profile.read_text())["files"] if one.get("pnetcdf"))
    writes = file["mpiio"]["writes"]
    return sum(writes.get(kind) or 0 for kind in ("collective", "independent"))


def test_puts_are_completed_together(tmp_path: Path) -> None:
    each = ranks_of(tmp_path, "intent_pnetcdf_puts", "out.nc", "each")
    found = of_rule("73", advice_of(each))
    assert "a write is either one put, or all that one wait completes" in found["because"]["text"]
    assert found["text"].startswith("if the program waits for each put")
    assert "ncmpi_wait_all" in found["text"] and "ncmpi_iput_vara" in found["text"]
    together = ranks_of(tmp_path, "intent_pnetcdf_puts", "out.nc", "together")
    assert "73" not in rules_of(together)
    assert writes_below(together) * 10 < writes_below(each)


def test_a_file_that_each_step_opens(tmp_path: Path) -> None:
    profile = ranks_of(tmp_path, "intent_pnetcdf_puts", "out.nc", "reopened")
    found = of_rule("67", advice_of(profile))
    assert "a process opens it 41 times" in found["because"]["text"]
    assert "reads of its header" in found["because"]["text"]
    assert "ncmpi_sync" in found["text"]
    assert "67" not in rules_of(ranks_of(tmp_path, "intent_pnetcdf_puts", "out.nc", "each"))


def test_a_store_that_is_opened_for_each_key(tmp_path: Path) -> None:
    program = """
import sys, pandas
frame = pandas.DataFrame({"a": range(100), "b": range(100)})
if sys.argv[1] == "each":
    for key in range(30): frame.to_hdf("store.h5", key=f"k{key}")
else:
    with pandas.HDFStore("store.h5", "w") as store:
        for key in range(30): store.put(f"k{key}", frame)
"""
    file = script(tmp_path, program)
    found = of_rule("67", advice_of(profiled(tmp_path, sys.executable, file, "each")))
    assert "one HDFStore" in found["text"]
    assert "opened 30 times" in found["because"]["text"]
    assert "67" not in rules_of(profiled(tmp_path, sys.executable, file, "once"))


def test_writes_that_hdf5_refuses_are_the_first_line(tmp_path: Path) -> None:
    profile = ranks_of(tmp_path, "intent_refused_writes", "out.h5", "alone", good=False)
    shown = tailrace("advise", profile).expect(0).out
    assert shown.startswith("The program fails at ")
    assert "write it collectively" in " ".join(shown.split("\n\n")[0].split())
    assert "rule 29" not in shown.partition("Considered and held back")[2]
    together = ranks_of(tmp_path, "intent_refused_writes", "out.h5", "together")
    assert "29" not in rules_of(together)
