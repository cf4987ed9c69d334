# SPDX-License-Identifier: Apache-2.0
"""Scripts for Slurm."""

from __future__ import annotations

import shlex

from tailrace.submit.request import Request
from tailrace.submit.script import Work, script

submit_command = ["sbatch", "--parsable"]
suffix = "slurm"
_context = """\
echo "job: ${SLURM_JOB_ID-none}"
if [ -n "${SLURM_JOB_NODELIST-}" ]; then
    echo "hosts: $(scontrol show hostnames "$SLURM_JOB_NODELIST" | tr '\\n' ' ')"
    srun --version
fi"""


def write(request: Request, work: Work, launcher: list[str], flavour: str, version: str) -> str:
    """launcher: words before the program; none: srun, through PMIx where the MPI is Open MPI; or
    the mpiexec of an MPICH that has one."""
    directives = [
        f"#SBATCH {option}" if value is None else f"#SBATCH {option}={_quoted(value)}"
        for option, value in [("--job-name", work.name), *_options(request)]
    ]
    directives += [f"#SBATCH {line}" for line in request.directives]
    start = _start(request, launcher, flavour)
    return script(directives, _context, start, request, work, version)


def interactive(request: Request) -> str:
    """The command that asks for the same nodes and gives a shell."""
    words = [f"{option}={value}" for option, value in _options(request)]
    return " ".join(["salloc", *map(shlex.quote, words), *request.directives])


def _options(request: Request) -> list[tuple[str, str]]:
    options: list[tuple[str, str | int | None]] = [
        ("--nodes", request.nodes),
        ("--ntasks-per-node", request.ranks_per_node),
        ("--time", request.clock if request.time_s is not None else None),
        ("--account", request.account),
        ("--partition", request.partition),
        ("--qos", request.qos),
        ("--constraint", request.constraint),
        ("--core-spec", request.core_spec),
    ]
    return [(option, str(value)) for option, value in options if value not in ("", None)]


def _quoted(value: str) -> str:
    """As Slurm reads the words of a directive: within double quotes, \\ keeps what follows."""
    if value and all(letter.isalnum() or letter in "_-.,:&|+=@/" for letter in value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _start(request: Request, launcher: list[str], flavour: str) -> str:
    if launcher:
        return f'start() {{ {shlex.join(launcher)} "$@"; }}'
    srun = f"srun --ntasks={request.ranks} --ntasks-per-node={request.ranks_per_node}"
    if flavour == "mpich":
        return f"""\
# Hydra, the mpiexec of MPICH, finds the job by itself, and srun may not know its PMI; where there
# is none (as on a Cray), srun does it.
start() {{
    for mpiexec in mpiexec.mpich mpiexec.hydra mpiexec; do
        if "$mpiexec" --version 2>/dev/null | grep -qi hydra; then
            "$mpiexec" -n {request.ranks} -ppn {request.ranks_per_node} "$@"
            return
        fi
    done
    {srun} "$@"
}}"""
    if flavour != "openmpi":
        return f'start() {{ {srun} "$@"; }}'
    return f"""\
# srun starts Open MPI's ranks through PMIx; where it has no such plugin, mpiexec does it.
start() {{
    if srun --mpi=list 2>&1 | grep -q pmix; then
        {srun} --mpi=pmix "$@"
    else
        mpiexec -n {request.ranks} "$@"
    fi
}}"""
