# SPDX-License-Identifier: Apache-2.0
"""What a run that ended too early has left in a folder: files that are whole, and parts."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError

PART, LOCK = ".part", ".part.lock"


@dataclass
class Found:
    """A file under its final name, or the part of one."""

    path: Path
    bytes: int
    state: str  # whole, being written, readable, empty, unreadable here, damaged, of others
    about: str = ""  # records that can be read, or why none can
    done: str = ""  # removed, finished

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "path": str(self.path)}


def look(folder: Path) -> list[Found]:
    """Everything in the folder and those below that HDF5 or netCDF wrote, and every part."""
    if not folder.is_dir():
        raise TailraceError(
            "it is no folder", where=str(folder), hint="name the folder of the output files"
        )
    return [one for path in sorted(folder.rglob("*")) if (one := _found(path)) is not None]


def remove(found: Found) -> None:
    """The part of a run that is gone, and its lock.

    Raises TailraceError if a run has it now."""
    with _held(found.path):
        found.path.unlink()
    found.done = "removed"


def finish(found: Found) -> None:
    """Gives a part that can be read its final name, if nothing has that name.

    Raises TailraceError if something has, or a run has the part now."""
    name = found.path.with_name(found.path.name.removesuffix(PART))
    with _held(found.path):
        with found.path.open("rb") as file:
            os.fsync(file.fileno())
        try:
            os.link(found.path, name)  # unlike a rename, it replaces nothing
        except FileExistsError:
            raise TailraceError(
                "there is a file of the final name", where=str(name), hint="move one of them away"
            ) from None
        found.path.unlink()
    found.done = "finished"


def _found(path: Path) -> Found | None:
    if path.is_symlink() or not path.is_file() or path.name.endswith(LOCK):
        return None
    size = path.stat().st_size
    part = path.name.endswith(PART)
    if part and _is_held(path):
        return Found(path, size, "being written", "a run has its lock")
    missing: list[str] = []
    if part and not _lock_of(path).exists():
        return Found(path, size, "of others", "no lock of a run is beside it")
    with path.open("rb") as file:
        begin = file.read(8)
    if begin[:3] == b"CDF":  # its readers take zeros for what is missing at its end
        return (
            Found(path, size, "unreadable here", "a classic file does not say if it is complete")
            if part
            else Found(path, size, "whole", "classic netCDF")
        )
    if begin != b"\x89HDF\r\n\x1a\n" and not part:
        return None
    try:
        about, records = _contents(path, missing)
    except (OSError, RuntimeError, KeyError) as error:
        text = " ".join(str(error).split())
        if missing:
            return Found(path, size, "unreadable here", f"filter {missing[0]} is not installed")
        return Found(path, size, "damaged", text)
    # Without a step that was flushed the part has its variables, and nothing in them.
    state = "whole" if not part else "empty" if records == 0 else "readable"
    return Found(path, size, state, about)


def _contents(path: Path, missing: list[str]) -> tuple[str, int | None]:
    """Reads everything: a text, and the most records. Raises OSError if that cannot be done;
    `missing` gets the filters that are not there."""
    import h5py
    import numpy as np

    records: set[int] = set()
    names: list[str] = []

    def visit(name: str, one: object) -> None:
        if not isinstance(one, h5py.Dataset):
            return
        names.append(name)
        filters = one.id.get_create_plist()
        for i in range(filters.get_nfilters()):
            number, _, _, title = filters.get_filter(i)
            if not h5py.h5z.filter_avail(number):
                missing.append(title.decode(errors="replace") or str(number))
        if one.size:
            for chunk in one.iter_chunks() if one.chunks else [()]:
                np.asarray(one[chunk])
        if one.maxshape and one.maxshape[0] is None:
            records.add(one.shape[0])

    with h5py.File(path, "r", locking=False) as file:
        file.visititems(visit)
    about = f"{len(names)} datasets"
    if not records:
        return about, None
    least, most = min(records), max(records)
    return f"{about}, {least if least == most else f'{least} to {most}'} records", most


def _lock_of(part: Path) -> Path:
    return part.with_name(part.name.removesuffix(PART) + LOCK)


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _is_held(part: Path) -> bool:
    try:
        with _held(part):
            return False
    except TailraceError:
        return True


@contextlib.contextmanager
def _held(part: Path) -> Iterator[None]:
    """The lock of a run that is gone, which goes with its part."""
    lock = _lock_of(part)
    if not lock.exists():
        yield
        return
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TailraceError(
                "a run is writing it",
                where=str(part),
                hint="wait for its end",
                code=ExitCode.RUN_FAILED,
            ) from None
        if not _is_same(file.fileno(), lock):  # gone, and perhaps another one is there
            raise TailraceError(
                "its lock was taken away just now",
                where=str(part),
                hint="try it again",
                code=ExitCode.RUN_FAILED,
            )
        yield
        if not part.exists():
            lock.unlink()
