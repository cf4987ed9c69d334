# SPDX-License-Identifier: Apache-2.0
"""What lies in a working folder, and what each run gets of it: a copy, or a link to one."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError
from tailrace.tune.snapshot import version_control
from tailrace.units import mib

small_bytes = 1 << 20  # copied for each run: scripts look beside themselves
most_files = 20_000
_environment_mark = "pyvenv.cfg"


@dataclass
class Survey:
    """Paths below the folder. files: bytes, and time of change. links: absolute targets. aliases:
    of the files those that are links, and what they say."""

    folders: list[str] = field(default_factory=list)
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @staticmethod
    def of(document: dict[str, Any]) -> Survey:
        """From what JSON makes of one."""
        files = {name: (size, time) for name, (size, time) in document["files"].items()}
        return Survey(
            document["folders"], files, document["links"], document["aliases"], document["notes"]
        )

    @property
    def bytes(self) -> int:
        return sum(size for size, _ in self.files.values())

    def changed(self, home: Path) -> list[str]:
        """Files that are not what they were any more."""
        return [name for name, state in self.files.items() if _state(home / name) != state]


def survey(home: Path, skip: Collection[Path], linked: Sequence[str] = ()) -> Survey:
    """Everything below `home` but for `skip`, version control, and sockets and pipes.

    Args:
        linked: patterns of paths below `home` that are only read, as the user says: such are
            linked to, and so are folders that are links themselves, and environments of Python.
    """
    found = Survey()
    used: set[str] = set()
    for where, folders, files in os.walk(home):
        below = os.path.relpath(where, home)
        kept = []
        for name in sorted(folders):
            path = Path(where, name)
            own = name if below == "." else f"{below}/{name}"
            if path in skip or name in version_control:
                continue
            if path.is_symlink():
                found.links[own] = os.path.realpath(path)
            elif _asked(own, linked, used) or not _is_readable(path, own, found):
                found.links[own] = str(path)
            elif (path / _environment_mark).is_file():
                found.links[own] = os.path.realpath(path)
            else:
                found.folders.append(own)
                kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            own = name if below == "." else f"{below}/{name}"
            _note_file(Path(where, name), own, linked, used, found)
        if len(found.files) > most_files:
            raise TailraceError(
                f"the working folder holds more than {most_files} files", where=str(home),
                hint="run it in a folder with what the program needs; or --link GLOB for folders "
                "that it only reads; or --in-place",
            )  # fmt: skip
    unused = [pattern for pattern in linked if pattern not in used]
    found.notes += [f"--link {pattern}: nothing has that name" for pattern in unused]
    return found


def _is_readable(path: Path, own: str, found: Survey) -> bool:
    """What the user may not read cannot be copied; the program may never touch it."""
    wanted = os.R_OK | (os.X_OK if path.is_dir() else 0)
    if os.access(path, wanted):
        return True
    found.notes.append(f"{own} cannot be read by you: it is linked to, not copied")
    return False


def _asked(own: str, patterns: Sequence[str], used: set[str]) -> bool:
    hits = [one for one in patterns if fnmatchcase(own, one.rstrip("/"))]
    used.update(hits)
    return bool(hits)


def _note_file(path: Path, own: str, linked: Sequence[str], used: set[str], found: Survey) -> None:
    try:
        status = path.stat()
    except OSError:
        found.links[own] = str(path.parent / path.readlink()) if path.is_symlink() else ""
        if not found.links[own]:
            raise
        return
    if not stat.S_ISREG(status.st_mode):
        found.notes.append(f"{own} is no file of data; runs do not see it")
    elif _asked(own, linked, used) or not _is_readable(path, own, found):
        found.links[own] = str(path.absolute())
    else:
        found.files[own] = (status.st_size, status.st_mtime_ns)
        if path.is_symlink():
            found.aliases[own] = str(path.readlink())


def _state(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def check_space(needed_bytes: int, free_bytes: int, folder: Path) -> None:
    """Raises: what is to be stored does not fit."""
    if needed_bytes <= free_bytes:
        return
    raise TailraceError(
        f"{mib(needed_bytes)} are needed for copies and outputs, and {mib(free_bytes)} are free",
        where=str(folder),
        hint="--scratch FOLDER on a larger file system, --link GLOB for files that are only read, "
        "or run it in a folder with what the program needs",
    )
