# SPDX-License-Identifier: Apache-2.0
"""Which implementations of MPI-IO the program's MPI has, and how one is chosen."""

from __future__ import annotations

import re
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError, did_you_mean
from tailrace.run.launcher import candidates
from tailrace.run.programs import MpiLibrary, output_of

variable = "OMPI_MCA_io"
_component = re.compile(r"^\s*MCA io: (\w+) ", re.MULTILINE)


def component(mpi: MpiLibrary | None, name: str) -> str:
    """The name that Open MPI has for `ompio` or `romio`: romio321, say. Raises with exit code 4
    where there is nothing to choose."""
    if mpi is None or mpi.flavour != "openmpi":
        raise TailraceError(
            f"mpiio={name}: {_title(mpi)} has one MPI-IO (ROMIO), there is nothing to choose",
            where="--vary",
            hint="mpiio is for Open MPI, which has OMPIO and ROMIO; leave it out",
            code=ExitCode.CAPABILITY_MISSING,
        )
    there = _component.findall(output_of([_ompi_info(mpi)], timeout_s=30))
    found = next((one for one in there if one == name or re.fullmatch(name + r"\d+", one)), None)
    if found is None:
        raise TailraceError(
            f'this Open MPI has no MPI-IO "{name}".{did_you_mean(name, ("ompio", "romio"))}',
            where="--vary mpiio",
            hint=f"it has: {', '.join(there) or 'none that ompi_info tells of'}",
            code=ExitCode.CAPABILITY_MISSING if name in {"ompio", "romio"} else ExitCode.USAGE,
        )
    return found


def require_open_mpi(mpi: MpiLibrary | None, name: str) -> None:
    """MCA parameters are Open MPI's."""
    if mpi is None or mpi.flavour != "openmpi":
        raise TailraceError(
            f"{name}: {_title(mpi)} has no MCA parameters",
            where="--vary",
            hint="they are Open MPI's; vary hints (hint.NAME=) or variables (env.NAME=) instead",
            code=ExitCode.CAPABILITY_MISSING,
        )


def _title(mpi: MpiLibrary | None) -> str:
    return {"mpich": "MPICH"}.get(mpi.flavour if mpi else "", "this MPI")


def _ompi_info(mpi: MpiLibrary) -> str:
    """Beside the launcher of that MPI."""
    beside = [Path(launcher).parent / "ompi_info" for launcher in candidates(mpi)]
    return str(next((one for one in beside if one.is_file()), "ompi_info"))
