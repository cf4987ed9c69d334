# SPDX-License-Identifier: Apache-2.0
"""The folder in which samples are measured, beside the new file; and such that a killed repack has
left there."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_prefix = ".tailrace-repack-"
_ours = {"raw", "sample.h5"}
_young_s = 10.0  # a folder that is so young may not be locked yet


@contextmanager
def own_folder(beside: Path) -> Iterator[Path]:
    """Locked as long as it is used, so that others can tell it from one that was left over."""
    with tempfile.TemporaryDirectory(prefix=_prefix, dir=beside) as name:
        lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _is_locked(lock)
            yield Path(name)
        finally:
            os.close(lock)


def remove_left_over(beside: Path) -> list[str]:
    """Of repacks that were killed: notes on what was removed, or could not be."""
    return [
        note
        for folder in sorted(beside.glob(f"{_prefix}*"))
        if folder.is_dir() and not folder.is_symlink() and (note := _remove(folder))
    ]


def _remove(folder: Path) -> str:
    """Only where nobody is at work in it, and nothing but samples lies there."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return ""
    try:
        young = time.time() - folder.stat().st_mtime < _young_s
        if young or not _is_locked(lock):
            return ""
        if {path.name for path in folder.iterdir()} <= _ours:
            shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            return f"{folder} seems to be left over from a repack that was killed: remove it"
        return f"{folder}, left over from a repack that was killed, was removed"
    except OSError as error:
        return f"{folder} is left over from a repack that was killed: {error.strerror}"
    finally:
        os.close(lock)


def _is_locked(lock: int) -> bool:
    """By us, from now on; False: by another, or the file system has no locks."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
