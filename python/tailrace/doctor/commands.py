# SPDX-License-Identifier: Apache-2.0
"""Which commands are ready here, by what the other probes found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tailrace.doctor.model import Finding, Section
from tailrace.units import some

# Of a finding its section, its name, and what it is for a person.
_core = ("python", "_core", "the compiled helper")
_connector = ("recording", "HDF5 connector", "the HDF5 connector")
_mpiio = ("recording", "hook of mpiio", "the MPI-IO hook")
_posix = ("recording", "hook of posix", "the hook of system calls")
_darshan = ("recording", "PyDarshan", "PyDarshan")
_programs = ("programs", "tailrace-seism", "the kernels' programs")
_launcher = ("mpi", "launcher", "a launcher of MPI")
_Part = tuple[str, str, str]


@dataclass(frozen=True)
class _Command:
    needs: tuple[_Part, ...] = ()
    uses: tuple[_Part, ...] = ()  # it does less without


_runs = (_programs, _launcher)
COMMANDS = {
    "tune": _Command((_core, _connector), (_mpiio, _posix)),
    "advise": _Command((_core,), (_darshan,)),
    "apply": _Command((_core, _connector), (_mpiio,)),
    "repack": _Command((), (_core,)),
    "profile": _Command((_core, _connector), (_mpiio, _posix)),
    "intents": _Command((_core,), (_darshan,)),
    "rules": _Command((_core,)),
    "run": _Command(_runs),
    "sweep": _Command((*_runs, _core)),
    "scale": _Command((*_runs, _core)),
    "suite": _Command((*_runs, _core)),
    "compare": _Command((_core,)),
    "report": _Command(),
    "submit": _Command((_programs,)),
    "verify": _Command(),
    "recover": _Command(),
    "env": _Command((_core, _connector)),
}


def commands_section(sections: Sequence[Section]) -> Section:
    states = {
        (section.key, one.name): one.state for section in sections for one in section.findings
    }

    def absent(parts: Sequence[_Part], *bad: str) -> list[str]:
        """What could not be examined is not known to be missing."""
        return [words for key, name, words in parts if states.get((key, name)) in bad]

    found = []
    for name, command in COMMANDS.items():
        lacking = absent(command.needs, "missing")
        without = absent(command.uses, "missing", "note")
        text = f"not ready: it needs {some(lacking)}" if lacking else "ready"
        text += f", without {some(without)}" if without and not lacking else ""
        data = {"ready": not lacking, "needs": lacking, "without": without}
        found.append(Finding(name, "missing" if lacking else "ok", text, data=data))
    return Section("commands", "Commands", found)
