# SPDX-License-Identifier: Apache-2.0
"""The inputs of a run in the page cache, or not: the same before each run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tailrace.run.quiet import meminfo_bytes

_piece = 1 << 22


def warm(files: Iterable[Path]) -> None:
    """Reads files once, as far as half of the memory goes."""
    left = (meminfo_bytes("MemAvailable") or 1 << 30) // 2
    for path in files:
        left -= path.stat().st_size
        if left < 0:
            return
        with path.open("rb", buffering=0) as stream:
            while stream.read(_piece):
                pass


def cold(files: Iterable[Path]) -> None:
    """Asks the system to forget files; pages that are dirty stay, so they are synced first."""
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


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
        descriptor = os.open(path, flags)
    except OSError:  # it is gone, or a link to nowhere
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
