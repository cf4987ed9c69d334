# SPDX-License-Identifier: Apache-2.0
"""The inputs of a run in the page cache, or not: the same before each run."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tailrace.doctor.places import mount_of
from tailrace.run.quiet import meminfo_bytes

_piece = 1 << 22


def warm(files: Iterable[Path]) -> list[Path]:
    """Reads files once, as far as half of the memory goes; gives those that it did not go for."""
    left = (meminfo_bytes("MemAvailable") or 1 << 30) // 2
    unread = []
    for path in files:
        with suppress(OSError):
            size = path.stat().st_size
            if size > left:
                unread.append(path)
                continue
            left -= size
            with path.open("rb", buffering=0) as stream:
                while stream.read(_piece):
                    pass
    return unread


def cold(files: Iterable[Path]) -> list[Path]:
    """Asks the system to forget files; gives those that it did not: that could not be opened, or
    that lie in memory anyway."""
    left = []
    in_memory: dict[int, bool] = {}  # by device
    for path in files:
        try:
            device = _forget(path)
        except FileNotFoundError:  # nor does a run find it
            continue
        except OSError:
            left.append(path)
            continue
        if device not in in_memory:
            in_memory[device] = _is_in_memory(path)
        if in_memory[device]:
            left.append(path)
    return left


def _forget(path: Path) -> int:
    """Pages that are dirty stay, so they are synced first; gives the device."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # where nothing can be written, nothing is dirty
            os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)


def _is_in_memory(path: Path) -> bool:
    mount = mount_of(path)
    return mount is not None and mount.kind in {"tmpfs", "ramfs"}


def sync(files: Iterable[Path]) -> None:
    """Files and their folders are on the disk when this returns."""
    folders = set()
    for path in files:
        _sync(path, os.O_RDONLY)
        folders.add(path.parent)
    for folder in folders:
        _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a link may lead to a pipe or device
            return
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    except OSError:  # it is gone, or a link to nowhere
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
