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
    """Enough to see that a file was written: each write changes its times. changed_ns: the system's
    own, which no program can set back; 0 for a link, which says the same as long as it is there."""

    bytes: int
    modified_ns: int
    changed_ns: int
    inode: int
    link: bool


Snapshot = dict[str, State]


def take(folder: Path, skip: Collection[Path] = ()) -> Snapshot:
    """Files and links by their path below the folder; left out is what Python compiles, version
    control, and folders of `skip`."""
    found: Snapshot = {}
    for where, folders, files in _walk(folder, skip):
        linked = [name for name in folders if _is_link(where, name)]
        for name in [*files, *linked]:
            path = Path(where, name)
            try:
                status = path.lstat()
            except OSError:  # removed meanwhile, or in a folder that only lists names
                continue
            if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                is_link = stat.S_ISLNK(status.st_mode)
                found[os.path.relpath(path, folder)] = State(
                    status.st_size, status.st_mtime_ns, 0 if is_link else status.st_ctime_ns,
                    status.st_ino, is_link,
                )  # fmt: skip
    return found


def written(before: Snapshot, after: Snapshot) -> list[str]:
    """Files that are new or not as they were."""
    return sorted(name for name, state in after.items() if before.get(name) != state)


def removed(before: Snapshot, after: Snapshot) -> list[str]:
    """Files that are not there any more."""
    return sorted(before.keys() - after.keys())


def _is_link(where: str, name: str) -> bool:
    return os.path.islink(os.path.join(where, name))  # noqa: PTH114, PTH118  (an error: it is none)


def _walk(folder: Path, skip: Collection[Path]) -> Iterator[tuple[str, list[str], list[str]]]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name not in _not_output and Path(where, name) not in skip
        )
        yield where, folders, files
