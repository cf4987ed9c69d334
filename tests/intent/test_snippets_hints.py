# SPDX-License-Identifier: Apache-2.0
"""What `--as hints` prints is used: ROMIO reads the file, PnetCDF its variable.

Both are asked what is in force. MPI_File_get_info of Open MPI 4 knows what the program gave, and
not what ROMIO read; ROMIO prints that itself (ROMIO_PRINT_HINTS).
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from mpi_programs import BUILD, MPIEXEC, mpi_components
from own_namespace import not_run
from snippet_plans import Json, plan_of, setting

from tailrace.intent.snippets import snippet

HINTS = {
    "cb_buffer_size": "33554432", "romio_cb_write": "enable", "romio_ds_write": "disable",
    "romio_ds_read": "enable", "ind_rd_buffer_size": "8388608", "romio_no_indep_rw": "true",
}  # fmt: skip
PLAN = {f"hint.{name}": value for name, value in HINTS.items()}


def started(folder: Path, words: list[str | Path], **environment: str) -> dict[str, str]:
    """`name=value` lines of a program on two ranks, and what ROMIO prints."""
    ran = subprocess.run(
        [*MPIEXEC, "-n", "2", *map(str, words)], capture_output=True, text=True, cwd=folder,
        env={**os.environ, **environment}, timeout=90, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    printed = re.findall(r"^key = (\S+) +value = (.*?) *$", ran.stdout, re.MULTILINE)
    assert bool(printed) is ("ROMIO_PRINT_HINTS" in environment)
    asked = re.findall(r"^([^= ]+)=(.*)$", ran.stdout, re.MULTILINE)
    return dict(asked) | dict(printed)


def in_force(folder: Path, text: str | None) -> dict[str, str]:
    """Hints in force of a file under ROMIO, with the text as its hints file."""
    program = BUILD / "tests" / "bin" / "hints_in_force"
    romio = [environment for name, environment in mpi_components() if name == "romio"]
    if not romio or not program.is_file():
        not_run("needs MPI with ROMIO as its MPI-IO")
    environment = romio[0] | {"ROMIO_PRINT_HINTS": "1"}
    if text is not None:
        (folder / "hints").write_text(text)
        environment["ROMIO_HINTS"] = str(folder / "hints")
    return started(folder, [program, folder / "f"], **environment)


def test_romio_reads_the_lines(tmp_path: Path) -> None:
    before = in_force(tmp_path, None)
    found = in_force(tmp_path, snippet("hints", plan_of(PLAN)))
    assert {name: found[name] for name in HINTS} == HINTS
    assert all(before[name] != value for name, value in HINTS.items())


def test_romio_reads_them_before_many_comments(tmp_path: Path) -> None:
    """It reads the beginning of the file; 200 settings that are no hints come after them."""
    plan = plan_of({"meta_block_bytes": 4096})
    one = plan["entries"].pop()
    plan["entries"] += [one | {"file": f"/data/{number}.h5"} for number in range(200)]
    plan["entries"] += plan_of(PLAN)["entries"]
    text = snippet("hints", plan)
    assert text.count("meta_block_bytes = 4096") == 200
    found = in_force(tmp_path, text)
    assert {name: found[name] for name in HINTS} == HINTS


def test_what_one_file_for_all_cannot_say(tmp_path: Path) -> None:
    plan = plan_of({"hint.cb_buffer_size": "16777216", "hint.path": "a b"})
    plan["entries"] += [
        {"file": "/other", "dataset": "", "settings": [setting(f"hint.{name}", value)]}
        for name, value in (("cb_buffer_size", "8388608"), ("romio_cb_write", "enable"))
    ]  # fmt: skip
    text = snippet("hints", plan)
    lines = [line for line in text.splitlines() if not line.startswith("#") and line]
    assert lines == ["cb_buffer_size 16777216", "romio_cb_write enable"]
    assert "/other: hint.cb_buffer_size = 8388608 (rule 1): MPI_Info_set for that file" in text
    assert "hint.path = a b (rule 1): MPI_Info_set in the program" in text
    found = in_force(tmp_path, text)
    assert (found["cb_buffer_size"], found["romio_cb_write"]) == ("16777216", "enable")


@pytest.mark.parametrize("kind", ["hints", "c"])
def test_pnetcdf_takes_the_line_for_the_environment(tmp_path: Path, kind: str) -> None:
    program = BUILD / "tests" / "bin" / "mpiio_pnetcdf_hints"
    if not program.is_file():
        not_run("needs PnetCDF for this MPI")
    wanted = {"nc_header_align_size": "65536", "nc_var_align_size": "131072"}
    value = ";".join("=".join(pair) for pair in wanted.items())
    plan: Json = plan_of({"meta_block_bytes": 4096})
    plan["environment"] = [
        {"name": "PNETCDF_HINTS", "value": value, "because": setting("", "", "50")["because"]}
    ]
    (line,) = [line for line in snippet(kind, plan).splitlines() if "export PNETCDF" in line]
    export = line[line.index("export") : line.index(" (rule 50)")]
    shown = subprocess.run(
        ["sh", "-c", f'{export}\nprintf %s "$PNETCDF_HINTS"'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout == value
    found = started(tmp_path, [program, "p.nc", *wanted], PNETCDF_HINTS=shown.stdout)
    assert {name: found[name] for name in wanted} == wanted
    assert int(found["offset"]) % 131072 == 0
