# SPDX-License-Identifier: Apache-2.0
"""All probes. None of them fails: what cannot be found out is said to be unknown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tailrace.doctor.commands import commands_section
from tailrace.doctor.libraries import found_tool, hdf5_section, netcdf_section, programs_section
from tailrace.doctor.model import Section, note
from tailrace.doctor.mpi import mpi_section
from tailrace.doctor.places import place_section
from tailrace.doctor.python_parts import python_section
from tailrace.doctor.recording import recording_section
from tailrace.run.programs import mpi_library


def examine(folder: Path) -> list[Section]:
    tool = found_tool()
    probes: list[tuple[str, str, Callable[[], Section]]] = [
        ("programs", "Programs", lambda: programs_section(tool)),
        ("mpi", "MPI", lambda: mpi_section(mpi_library(tool) if tool else None)),
        ("hdf5", "HDF5 of the programs", lambda: hdf5_section(tool)),
        ("netcdf", "netCDF and PnetCDF", lambda: netcdf_section(tool)),
        ("place", f"Folder {folder}", lambda: place_section(folder)),
        ("python", "Python", python_section),
        ("recording", "Recording and advice", recording_section),
    ]
    found = [_guarded(key, title, probe) for key, title, probe in probes]
    return [commands_section(found), *found]


def _guarded(key: str, title: str, probe: Callable[[], Section]) -> Section:
    try:
        return probe()
    except Exception as error:  # an odd machine must not keep the other probes from running
        text = f"could not be examined: {type(error).__name__}: {error}"
        return Section(key, title, [note("probe", text)])
