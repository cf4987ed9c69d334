# SPDX-License-Identifier: Apache-2.0
"""Elements of HDF5 datasets that lie in other files: they have to be there, and whole.

The library reads what is missing of them as the fill value, so that a lost file would pass.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import h5py
from h5py import h5d, h5f, h5s

from tailrace.errors import ExitCode, TailraceError

Seen = frozenset[tuple[str, str]]


def check_elsewhere(path: Path, name: str, dataset: Any, seen: Seen = frozenset()) -> None:
    """Raises (exit code 3) where a file or dataset with elements of dataset `name` is not there."""
    creation = dataset.id.get_create_plist()
    if not is_elsewhere(creation):
        return
    if creation.get_layout() == h5d.VIRTUAL:
        _check_sources(path, dataset.file, name, creation, seen)
    else:
        _check_external(path, name, dataset, creation)


def is_elsewhere(creation: Any) -> bool:
    """Whether elements of a dataset lie in other files, by its creation property list."""
    layout = creation.get_layout()
    is_external = layout == h5d.CONTIGUOUS and creation.get_external_count() > 0
    return layout == h5d.VIRTUAL or is_external


def _check_external(path: Path, name: str, dataset: Any, creation: Any) -> None:
    left = math.prod(dataset.shape or ()) * dataset.id.get_type().get_size()
    prefix = os.environ.get("HDF5_EXTFILE_PREFIX", "")
    folder = Path(prefix.replace("${ORIGIN}", str(path.resolve().parent)))
    for index in range(creation.get_external_count()):
        raw, offset, room = creation.get_external(index)
        file = folder / os.fsdecode(raw)
        size = left if room == h5f.UNLIMITED else min(left, int(room))
        left -= size
        if not file.is_file():
            raise _lost(path, name, f"its external file {file} is missing")
        if file.stat().st_size < int(offset) + size:
            what = f"its external file {file} is shorter than {int(offset) + size} bytes"
            raise _lost(path, name, what)


def _check_sources(path: Path, file: h5py.File, name: str, creation: Any, seen: Seen) -> None:
    for index in range(creation.get_virtual_count()):
        source = _first_of_pattern(creation.get_virtual_filename(index))
        inner = _first_of_pattern(creation.get_virtual_dsetname(index))
        space = creation.get_virtual_srcspace(index)
        if source == ".":
            _check_source(path, name, path, file, inner, space, seen)
            continue
        found = next((place for place in _places(path, source) if place.is_file()), None)
        if found is None:
            raise _lost(path, name, f"its source file {source} is missing")
        try:
            other = h5py.File(found, "r", locking="best-effort")
        except (OSError, RuntimeError) as error:
            raise _lost(path, name, f"its source file {found} is not readable: {error}") from error
        with other:
            _check_source(path, name, found, other, inner, space, seen)


def _check_source(
    path: Path, name: str, found: Path, file: h5py.File, inner: str, space: Any, seen: Seen
) -> None:
    where = f"{found}:{inner}"
    try:
        thing = file.get(inner)
    except (OSError, RuntimeError, KeyError):
        thing = None
    if not isinstance(thing, h5py.Dataset):
        raise _lost(path, name, f"its source {where} is missing")
    if not _within(space, thing.shape or ()):
        raise _lost(path, name, f"its source {where} is smaller than it was")
    key = (str(found.resolve()), thing.name)
    if key not in seen:
        check_elsewhere(found, thing.name, thing, seen | {key})


def _within(space: Any, extents: tuple[int, ...]) -> bool:
    """Whether the selected elements are there. What is to grow without limit may be short."""
    if space.get_select_type() != h5s.SEL_HYPERSLABS:
        return True
    try:
        _, high = space.get_select_bounds()
    except (RuntimeError, ValueError):
        return True
    unlimited = max(high, default=0) >= 1 << 62
    return unlimited or (
        len(high) == len(extents)
        and all(last < extent for last, extent in zip(high, extents, strict=True))
    )


def _places(path: Path, source: str) -> list[Path]:
    """Where the library looks for a source file, in its order."""
    given = Path(source)
    relative = Path(given.name) if given.is_absolute() else given
    prefixes = os.environ.get("HDF5_VDS_PREFIX", "")
    origin = str(path.resolve().parent)
    folders = [Path(item.replace("${ORIGIN}", origin)) for item in prefixes.split(":") if item]
    folders += [path.parent, Path.cwd(), path.resolve().parent]
    return ([given] if given.is_absolute() else []) + [folder / relative for folder in folders]


def _first_of_pattern(name: str) -> str:
    """Of names that count (`%b`) the first; that later ones are there cannot be known."""
    return name.replace("%%", "\0").replace("%b", "0").replace("\0", "%")


def _lost(path: Path, name: str, what: str) -> TailraceError:
    return TailraceError(
        f"dataset {name} is incomplete: {what}",
        where=str(path),
        hint="elements of it lie in other files, which belong where they were; restore them",
        code=ExitCode.VERIFICATION_FAILED,
    )
