# SPDX-License-Identifier: Apache-2.0
"""HDF5 files of a program whose HDF5 was not seen at work: nothing can be set for it from outside,
which is another thing than that there was nothing to set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError
from tailrace.units import some
from tailrace.verify.files import format_of

REASON = (
    "its HDF5 was not seen at work, and takes no settings from outside: it is older than 1.14, or "
    "linked into the program"
)


def hdf5_files(profile: Mapping[str, Any], written: Iterable[Path]) -> list[str]:
    """By their paths, where they still are. written: by the run, whoever saw it."""
    files = profile.get("files", [])
    if any("hdf5" in file for file in files):
        return []  # what else such a run has done to HDF5 files is mostly to copy them
    paths = dict.fromkeys([*(file["path"] for file in files), *map(str, written)])
    return sorted(path for path in paths if _is_hdf5(Path(path)))


def note(names: Sequence[str]) -> str:
    return f"HDF5 files, but no HDF5 was seen to use them: {some(list(names))}"


def _is_hdf5(path: Path) -> bool:
    try:
        return path.is_file() and format_of(path) == "hdf5"
    except (TailraceError, OSError):
        return False
