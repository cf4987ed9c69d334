# SPDX-License-Identifier: Apache-2.0
"""MPI: the library of the programs, its launcher, and its MPI-IO components."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping

from tailrace.doctor.model import Finding, Section, missing, note, ok
from tailrace.run.launcher import candidates, cores, flavour_of
from tailrace.run.programs import MpiLibrary, output_of

_names = {"openmpi": "Open MPI", "mpich": "MPICH or a relative of it", "unknown": "unknown kind"}
_install = "load your site's MPI module, or (Debian) apt-get install openmpi-bin libopenmpi-dev"


def mpi_section(library: MpiLibrary | None, environment: Mapping[str, str] = os.environ) -> Section:
    findings = [
        _library(library),
        _launcher_finding(library),
        _mpi_io(library, environment),
        _slots(environment),
    ]
    if os.geteuid() == 0:
        findings.append(note("root", "you are root; `tailrace run` tells Open MPI to allow it"))
    return Section("mpi", "MPI", findings)


def _library(library: MpiLibrary | None) -> Finding:
    if library is None:
        found = next(iter(candidates(None)), None)
        if found is None:
            return missing("library", "no MPI is here", _install)
        return note(
            "library", "not known: the programs are not built", launcher=found,
            flavour=flavour_of(found),
        )  # fmt: skip
    return ok(
        "library", f"{_names[library.flavour]}, {library.path}",
        flavour=library.flavour, path=str(library.path),
    )  # fmt: skip


def _launcher_finding(library: MpiLibrary | None) -> Finding:
    wanted = library.flavour if library else "unknown"
    found = list(dict.fromkeys(candidates(library)))
    for launcher in found:
        flavour = flavour_of(launcher)
        if wanted in {"unknown", flavour}:
            version = _version(output_of([launcher, "--version"]))
            return ok("launcher", f"{launcher} ({version})", path=launcher, version=version)
    if found:
        return missing(
            "launcher",
            f"{found[0]} belongs to another MPI than the programs",
            f"install the launcher of {_names[wanted]}, or put its folder first on PATH",
        )
    return missing("launcher", "no mpiexec or mpirun", _install)


def _version(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    numbered = [line for line in lines if re.search(r"\d+\.\d+", line)]
    return (numbered or lines or ["version not told"])[0]


def _mpi_io(library: MpiLibrary | None, environment: Mapping[str, str]) -> Finding:
    if library is not None and library.flavour == "mpich":
        return ok("MPI-IO", "ROMIO (the only one of MPICH)", default="ROMIO", components=["romio"])
    info = _ompi_info(library)
    if info is None:
        return note("MPI-IO", "not known: ompi_info is not here")
    found = offered(info)
    if not found:
        return note("MPI-IO", "not known: ompi_info names no component")
    default = max(found, key=lambda name: found[name])
    forced = environment.get("OMPI_MCA_io", "").strip()
    names = ", ".join(_shown(name) for name in sorted(found, key=lambda name: -found[name]))
    text = f"{names}; in use: {_shown(forced or default)}"
    others = [name for name in found if name != (forced or default)]
    text += " (OMPI_MCA_io is set)" if forced else ""
    remedy = f"to use the other: OMPI_MCA_io={others[0]}" if others else ""
    return Finding(
        "MPI-IO", "ok", text, remedy,
        {"components": sorted(found), "default": default, "forced": forced or None},
    )  # fmt: skip


def offered(info: str) -> dict[str, int]:
    """Open MPI's MPI-IO components, as the installation of this ompi_info tells; empty: it does not
    tell."""
    told = output_of([info, "--param", "io", "all", "--level", "9", "--parsable"], timeout_s=30)
    return components(told)


def components(text: str) -> dict[str, int]:
    """Name and priority of Open MPI's MPI-IO components, from ompi_info's parsable output."""
    pattern = r"^mca:io:(\w+):param:io_\w+_priority:value:(\d+)"
    found: dict[str, int] = {}
    for name, value in re.findall(pattern, text, re.MULTILINE):
        found.setdefault(name, int(value))
    return found


def _shown(component: str) -> str:
    if component == "ompio":
        return "OMPIO"
    return f"ROMIO ({component})" if component.startswith("romio") else component


def _ompi_info(library: MpiLibrary | None) -> str | None:
    if library is not None:
        beside = library.path.resolve().parent.parent / "bin" / "ompi_info"
        if os.access(beside, os.X_OK):
            return str(beside)
    return shutil.which("ompi_info")


def _slots(environment: Mapping[str, str]) -> Finding:
    count = cores()
    job = environment.get("SLURM_JOB_ID")
    if job:
        tasks = environment.get("SLURM_NTASKS", "?")
        nodes = environment.get("SLURM_JOB_NUM_NODES", "?")
        return ok("slots", f"Slurm job {job}: {tasks} tasks on {nodes} nodes", cores=count, job=job)
    return ok("slots", f"{count} cores; more ranks share them", cores=count, job=None)
