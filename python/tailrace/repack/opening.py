# SPDX-License-Identifier: Apache-2.0
"""Opening the file that is to be repacked, and what is looked at before any work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import h5py

from tailrace.errors import ExitCode, TailraceError
from tailrace.repack.memory import Memory
from tailrace.repack.survey import Survey, survey
from tailrace.repack.virtual import sources_in
from tailrace.verify.files import format_of
from tailrace.verify.hdf5_values import damaged
from tailrace.verify.subfiles import find_subfiles
from tailrace.whole_files import refused

_full = ("No space left", "Disk quota", "File too large")


def surveyed(source: h5py.File, real: Path) -> Survey:
    """What is in it. Raises TailraceError where it cannot be read."""
    try:
        return survey(source)
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise damaged(real, error) from error


def check_format(path: Path, real: Path) -> None:
    """Raises TailraceError for all but an HDF5 file by itself."""
    kind = format_of(path)
    if kind != "hdf5":
        what = "classic netCDF" if kind == "classic" else "a raw container"
        raise TailraceError(
            f"is {what}, which has no chunks", where=str(path),
            hint="repack is for HDF5 and netCDF-4 files",
        )  # fmt: skip
    if find_subfiles(real) is not None:
        raise TailraceError(
            "is spread over subfiles", where=str(path),
            hint="repack is for single files: make one of it first (h5fuse of HDF5)",
        )  # fmt: skip


def check_contents(real: Path, found: Survey, memory: Memory) -> None:
    """Before any work: what could not be verified afterwards."""
    if found.incomparable:
        raise TailraceError(
            f"{found.incomparable[0]} holds references of the kind that HDF5 1.12 introduced, "
            "or times within elements of variable length, which cannot be copied here",
            where=str(real), code=ExitCode.CAPABILITY_MISSING,
        )  # fmt: skip
    for dataset in found.datasets:
        memory.check_source(dataset)
        if not dataset.readable:
            names = ", ".join(one.name or str(one.code) for one in dataset.storage.filters)
            raise TailraceError(
                f"{dataset.path} has a filter that is missing (one of: {names}), so the new file "
                "could not be verified",
                where=str(real), code=ExitCode.CAPABILITY_MISSING,
                hint="set HDF5_PLUGIN_PATH to its plugin's folder, or `pip install hdf5plugin`",
            )  # fmt: skip


def check_others(real: Path, goal: Path, found: Survey) -> list[str]:
    """Files that lie beside the old one are looked for beside the new one. Raises where one with
    elements is not there, since HDF5 would read nothing but fill values; notes for links."""
    virtual = {one.path for one in found.datasets if one.storage.layout == "virtual"}
    notes = []
    for path, name in _left_behind(found.others, virtual, real.parent, goal.parent):
        what = f"{path} leads to {name}, which is not found from {goal.parent}"
        if path in virtual:
            raise refused(
                goal, f"{what}: its elements would be missing",
                "put the new file beside the old one, or copy or link to what it needs",
            )  # fmt: skip
        notes.append(what)
    return notes


def _left_behind(
    others: list[tuple[str, str]], virtual: set[str], old: Path, new: Path
) -> Iterator[tuple[str, str]]:
    """Those that are found from the old folder and not from the new one."""
    for path, name in others if new != old else []:
        for one in sources_in(old, name) if path in virtual else [name]:
            if (old / one).is_file() and not (new / one).is_file():
                yield path, one


def opened(path: Path) -> h5py.File:
    """Open for reading. Raises TailraceError where it cannot be, or a program writes it."""
    try:
        return h5py.File(path, "r", locking="best-effort")
    except (OSError, RuntimeError) as error:
        if "consistency flags" in str(error):
            raise refused(
                path, "says that a program is writing it",
                "wait until that is done; or, if it was killed, `h5clear -s` of the HDF5 tools "
                "removes the mark",
            ) from error  # fmt: skip
        raise damaged(path, error) from error


def failed(real: Path, part: Path, error: Exception) -> TailraceError:
    """Reading or writing: the library's text says which."""
    text = str(error)
    full = any(words in text for words in _full)
    if full or "write" in text.lower():
        said = re.search(r"error message = '([^']*)'", text)
        return TailraceError(
            f"could not be written: {said[1] if said else text}", where=str(part),
            hint="the old file is untouched; make room, or write to another disk with -o",
            code=ExitCode.RUN_FAILED,
        )  # fmt: skip
    return damaged(real, error)
