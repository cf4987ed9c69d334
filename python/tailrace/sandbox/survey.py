# SPDX-License-Identifier: Apache-2.0
"""What lies in a working folder, and what each run gets of it: a copy, or a link to one."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError
from tailrace.sandbox import ownership
from tailrace.sandbox.snapshot import version_control
from tailrace.units import mib

small_bytes = 1 << 20  # copied for each run: scripts look beside themselves
most_files = 20_000
_environment_mark = "pyvenv.cfg"


@dataclass
class Survey:
    """Paths below the folder. files: bytes, and time of change. links: absolute targets. inner:
    links to what lies in the folder itself, and what they say, relatively. twins: further names of
    files, by hard links, and the first one. aliases: of the files those that are links to files
    beyond the folder. environments: folders of Python's. closed: what cannot be read. tunes: what
    other tunes have there, of which runs get nothing."""

    folders: list[str] = field(default_factory=list)
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    inner: dict[str, str] = field(default_factory=dict)
    twins: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    environments: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    tunes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @staticmethod
    def of(document: dict[str, Any]) -> Survey:
        """From what JSON makes of one."""
        files = {name: (size, time) for name, (size, time) in document["files"].items()}
        return Survey(**{**document, "files": files})

    @property
    def bytes(self) -> int:
        """Without what hard links name a second time."""
        return sum(size for name, (size, _) in self.files.items() if name not in self.twins)

    def without(self, paths: Collection[Path], home: Path) -> Survey:
        """The same, but for these files."""
        files = {name: state for name, state in self.files.items() if home / name not in paths}
        return replace(self, files=files)

    def changed(self, home: Path) -> list[str]:
        """Files that are not what they were any more."""
        return [name for name, state in self.files.items() if state_of(home / name) != state]


def survey(home: Path, skip: Collection[Path], linked: Sequence[str] = ()) -> Survey:
    """Everything below `home` but for `skip`, version control, and sockets and pipes.

    Args:
        linked: patterns of paths below `home` that are only read, as the user says: such are
            linked to, and so are links to folders elsewhere, environments of Python, and what we
            cannot read.
    """
    looking = _Looking(home, set(skip), linked)
    for where, folders, files in os.walk(home):
        below = os.path.relpath(where, home)
        own = {name: name if below == "." else f"{below}/{name}" for name in (*folders, *files)}
        folders[:] = [one for one in sorted(folders) if looking.folder(Path(where, one), own[one])]
        for name in sorted(files):
            with suppress(FileNotFoundError):  # gone since it was listed
                looking.file(Path(where, name), own[name])
        if len(looking.found.files) > most_files:
            raise TailraceError(
                f"the working folder holds more than {most_files} files", where=str(home),
                hint="run it in a folder with what the program needs; or --link GLOB for folders "
                "that it only reads",
            )  # fmt: skip
    return looking.end()


class _Looking:
    """A survey that is being made."""

    def __init__(self, home: Path, skip: set[Path], linked: Sequence[str]) -> None:
        self._home, self._skip, self._linked = home, skip, linked
        self._used: set[str] = set()
        self._inodes: dict[tuple[int, int], str] = {}
        self.found = Survey()

    def folder(self, path: Path, own: str) -> bool:
        """Whether what is in it is looked at."""
        found = self.found
        if path in self._skip or path.name in version_control:
            return False
        if path.is_symlink():
            with suppress(FileNotFoundError):
                self._link(path, own)
        elif not path.exists():  # gone since it was listed
            pass
        elif ownership.is_of_a_tune(path):
            found.tunes.append(own)
        elif not _can(path, os.R_OK | os.X_OK):
            self._closed(path, own)
        elif (path / _environment_mark).is_file():
            found.links[own] = str(path)
            found.environments.append(own)
        elif self._asked(own):
            found.links[own] = str(path)
        else:
            found.folders.append(own)
            return True
        return False

    def file(self, path: Path, own: str) -> None:
        if path in self._skip:
            return
        if path.is_symlink():
            self._link(path, own)
            return
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            self.found.notes.append(f"{own} is no file of data; runs do not see it")
        elif self._asked(own):
            self.found.links[own] = str(path.absolute())
        elif not _can(path, os.R_OK):
            self._closed(path, own)
        else:
            self._copied(own, status)

    def end(self) -> Survey:
        """With what was asked for in vain."""
        found = self.found
        unused = [pattern for pattern in self._linked if pattern not in self._used]
        found.notes += [f"--link {pattern}: nothing has that name" for pattern in unused]
        return found

    def _link(self, path: Path, own: str) -> None:
        if self._asked(own):
            self.found.links[own] = str(path.absolute())
        elif (inner := self._within(path)) is not None:
            self.found.inner[own] = inner
        elif not path.is_file() or not _can(path, os.R_OK):  # a folder, or nothing, elsewhere
            self.found.links[own] = os.path.realpath(path)
        else:
            self._copied(own, path.stat())
            self.found.aliases[own] = str(path.readlink())

    def _within(self, link: Path) -> str | None:
        """What a link says, relatively, where it leads to something below the folder that runs
        have too, or would make."""
        home = os.path.realpath(self._home)
        there = os.path.normpath(Path(os.path.realpath(link.parent), link.readlink()))
        real = os.path.realpath(link)
        if not there.startswith(f"{home}/") or os.path.realpath(there) != real:
            there = real
        below = os.path.relpath(there, home)
        if below == "." or below.startswith("../") or below == "..":
            return None
        if any(Path(self._home, part) in self._skip or part.name in version_control
               for part in (Path(below), *Path(below).parents)):  # fmt: skip
            return None
        return os.path.relpath(there, os.path.realpath(link.parent))

    def _copied(self, own: str, status: os.stat_result) -> None:
        self.found.files[own] = (status.st_size, status.st_mtime_ns)
        if status.st_nlink > 1:
            first = self._inodes.setdefault((status.st_dev, status.st_ino), own)
            if first != own:
                self.found.twins[own] = first

    def _closed(self, path: Path, own: str) -> None:
        self.found.links[own] = str(path.absolute())
        self.found.closed.append(own)
        self.found.notes.append(f"{own} cannot be read by you: it is linked to, not copied")

    def _asked(self, own: str) -> bool:
        hits = [one for one in self._linked if fnmatchcase(own, one.rstrip("/"))]
        self._used.update(hits)
        return bool(hits)


def _can(path: Path, what: int) -> bool:
    return os.access(path, what, effective_ids=True)


def state_of(path: Path) -> tuple[int, int] | None:
    """As a survey notes it; None: it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def check_results(free_bytes: int, needed_bytes: int, folder: Path) -> None:
    """Raises: there may be no room for the results, which come last."""
    if free_bytes < needed_bytes:
        raise TailraceError(
            f"the results take up to {mib(needed_bytes)}, and {mib(free_bytes)} are free",
            where=str(folder), hint="make room, or name a folder on another file system with -o",
        )  # fmt: skip


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
