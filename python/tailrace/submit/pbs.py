# SPDX-License-Identifier: Apache-2.0
"""Scripts for PBS (PBS Professional, OpenPBS)."""

from __future__ import annotations

import re
import shlex

from tailrace.errors import TailraceError
from tailrace.submit.request import Request
from tailrace.submit.script import Work, script

submit_command = ["qsub"]
suffix = "pbs"
_word = re.compile(r"[A-Za-z0-9_.:@+][A-Za-z0-9_.:@+-]*")
_resources = re.compile(r"[A-Za-z0-9_.]+=[A-Za-z0-9_.:@+-]+(?::[A-Za-z0-9_.]+=[A-Za-z0-9_.@+-]+)*")
_context = """\
echo "job: ${PBS_JOBID-none}"
if [ -n "${PBS_NODEFILE-}" ]; then
    echo "hosts: $(sort -u "$PBS_NODEFILE" | tr '\\n' ' ')"
fi"""


def write(request: Request, work: Work, launcher: list[str], flavour: str, version: str) -> str:
    """launcher: words before the program; none: mpiexec."""
    directives = [f"#PBS -N {work.name}", "#PBS -S /bin/sh", "#PBS -V", "#PBS -j oe"]
    directives += [f"#PBS {option} {value}" for option, value in _options(request)]
    directives += [f"#PBS {line}" for line in request.directives]
    start = _start(request, launcher, flavour)
    return script(directives, _context, start, request, work, version)


def interactive(request: Request) -> str:
    """The command that asks for the same nodes and gives a shell."""
    words = [word for option in _options(request) for word in option]
    return " ".join(["qsub -I", *map(shlex.quote, words), *request.directives])


def _options(request: Request) -> list[tuple[str, str]]:
    _refuse_what_pbs_has_not(request)
    per_node = request.ranks_per_node
    select = f"select={request.nodes}:ncpus={per_node}:mpiprocs={per_node}"
    if request.constraint:
        select += ":" + _checked(request.constraint, "--constraint", _resources)
    options = [("-l", select), ("-l", "place=scatter")]
    if request.time_s is not None:
        options.append(("-l", f"walltime={request.clock}"))
    if request.account:
        options.append(("-A", _checked(request.account, "--account", _word)))
    if request.partition:
        options.append(("-q", _checked(request.partition, "--partition", _word)))
    return options


def _checked(text: str, where: str, allowed: re.Pattern[str]) -> str:
    """PBS has no quotation that all its versions read in the same way."""
    if allowed.fullmatch(text) is None:
        example = "model=skl" if allowed is _resources else "letters, digits and _ . : @ + -"
        raise TailraceError(
            f'"{text}" cannot stand in a line for PBS', where=where, hint=f"PBS takes {example}"
        )
    return text


def _refuse_what_pbs_has_not(request: Request) -> None:
    for option, value, instead in (
        ("--qos", request.qos, "a queue, with --partition"),
        ("--core-spec", request.core_spec, "--directive, with what your site has for it"),
    ):
        if value not in ("", None):
            raise TailraceError("PBS has no such thing", where=option, hint=f"give {instead}")


def _start(request: Request, launcher: list[str], flavour: str) -> str:
    words = launcher or ["mpiexec", "-n", str(request.ranks)]
    if launcher or flavour != "openmpi":
        return f'start() {{ {shlex.join(words)} "$@"; }}'
    return f"""\
# An Open MPI that was built without PBS does not know the hosts of the job.
start() {{ {shlex.join(words)} ${{PBS_NODEFILE:+--hostfile "$PBS_NODEFILE"}} "$@"; }}"""
