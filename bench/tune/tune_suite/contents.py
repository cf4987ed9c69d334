# SPDX-License-Identifier: Apache-2.0
"""Do two folders hold the same? Each file as what it is: HDF5 and netCDF by their contents, others
byte by byte."""

from __future__ import annotations

import filecmp
from collections.abc import Collection
from pathlib import Path

from tailrace.verify.compare import compare_files

_structured = {".h5", ".nc"}


def different(one: Path, other: Path, by_itself: Collection[str] = ()) -> list[str]:
    """What differs, a line each; empty: nothing. `by_itself`: files that are not looked at."""
    names, others = (_files(folder) - set(by_itself) for folder in (one, other))
    lines = [f"{name}: only in {one.name}" for name in sorted(names - others)]
    lines += [f"{name}: only in {other.name}" for name in sorted(others - names)]
    if not names & others:
        return [*lines, "nothing was written that could be compared"]
    for name in sorted(names & others):
        if not filecmp.cmp(one / name, other / name, shallow=False):
            lines += _inside(name, one / name, other / name)
    return lines


def _inside(name: str, one: Path, other: Path) -> list[str]:
    if one.suffix not in _structured:
        return [f"{name}: other bytes"]
    found = compare_files(one, other)
    return [f"{name}: {first.where}: {first.one} / {first.other}" for first in found.first]


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
