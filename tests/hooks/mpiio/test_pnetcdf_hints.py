# SPDX-License-Identifier: Apache-2.0
"""What a plan sets for PnetCDF by its environment variable arrives in an unchanged program."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from mpi_programs import BUILD, MPIEXEC  # noqa: E402
from own_namespace import not_run  # noqa: E402
from plans import Json, setting, write_plan  # noqa: E402
from tailrace_cli import tailrace  # noqa: E402

HINTS = {
    "nc_header_align_size": "65536",
    "nc_var_align_size": "131072",
    "cb_buffer_size": "8388608",
}


def told(folder: Path, given: str | None) -> tuple[dict[str, str], list[Json]]:
    """What is in force, and the lines about the plan, where the user gave hints or none."""
    program = BUILD / "tests" / "bin" / "mpiio_pnetcdf_hints"
    if not program.is_file():
        not_run("needs PnetCDF for this MPI")
    plan = write_plan(folder)
    text = ";".join(f"{key}={value}" for key, value in HINTS.items())
    variable = {"name": "PNETCDF_HINTS", "value": text, "because": setting("50", "x")["because"]}
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"environment": [variable]}))
    ran = tailrace("apply", plan, "--json", "--", *MPIEXEC, "-n", "2", program, "p.nc", *HINTS,
                   cwd=folder, PNETCDF_HINTS=given).expect(0)  # fmt: skip
    said = dict(line.split("=", 1) for line in ran.err.splitlines() if "=" in line)
    return said, ran.json["lines"]


def test_they_arrive(tmp_path: Path) -> None:
    said, (line,) = told(tmp_path, None)
    assert {key: said[key] for key in HINTS} == HINTS
    assert int(said["offset"]) % 131072 == 0
    assert (line["rule"], line["setting"], line["became"]) == ("50", "PNETCDF_HINTS", "applied")


def test_those_of_the_user_stay(tmp_path: Path) -> None:
    said, (line,) = told(tmp_path, "nc_var_align_size=4096")
    assert said["nc_var_align_size"] == "4096"
    assert said["cb_buffer_size"] != HINTS["cb_buffer_size"]
    assert line["became"] == "kept"
