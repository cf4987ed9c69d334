# SPDX-License-Identifier: Apache-2.0
"""The files below a folder as they are, and which of them a run has written."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

version_control = {".git", ".hg", ".svn"}
_not_output = {"__pycache__", *version_control}


@dataclass(frozen=True)
class State:
    """Enough to see that a file was written: each write changes its time."""

    bytes: int
    modified_ns: int
    inode: int
    link: bool


Snapshot = dict[str, State]


def take(folder: Path, skip: Collection[Path] = ()) -> Snapshot:
    """Files and links by their path below the folder; left out is what Python compiles, version
    control, and folders of `skip`."""
    found: Snapshot = {}
    for where, folders, files in _walk(folder, skip):
        linked = [name for name in folders if Path(where, name).is_symlink()]
        for name in [*files, *linked]:
            path = Path(where, name)
            try:
                status = path.lstat()
            except FileNotFoundError:  # gone since it was listed, where others are at work too
                continue
            if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                found[os.path.relpath(path, folder)] = State(
                    status.st_size, status.st_mtime_ns, status.st_ino, stat.S_ISLNK(status.st_mode)
                )
    return found


def folders_in(folder: Path, skip: Collection[Path] = ()) -> list[str]:
    """Folders below it, those that lie deeper last; without the same ones."""
    return [
        os.path.relpath(Path(where, name), folder)
        for where, folders, _ in _walk(folder, skip)
        for name in folders
        if not Path(where, name).is_symlink()
    ]


def written(before: Snapshot, after: Snapshot) -> list[str]:
    """Files that are new or not as they were."""
    return sorted(name for name, state in after.items() if before.get(name) != state)


def removed(before: Snapshot, after: Snapshot) -> list[str]:
    """Files that are not there any more."""
    return sorted(before.keys() - after.keys())


def _walk(folder: Path, skip: Collection[Path]) -> Iterator[tuple[str, list[str], list[str]]]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name not in _not_output and Path(where, name) not in skip
        )
        yield where, folders, files
