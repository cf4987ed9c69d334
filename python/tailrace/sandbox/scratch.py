# SPDX-License-Identifier: Apache-2.0
"""Scratch working folders: a run sees copies of the user's files and links to copies, never the
files themselves.

    root/inputs   a copy of the working folder, made once (blocks shared where possible)
    root/run/NAME where each run works, by the name of the user's folder: files that it writes are
                  copies of their own, the others links into root/inputs. The path is always the
                  same, as some programs print it. Beside it is nothing, and programs may not write
    root/kept     what runs have left, by name

Whatever a run does through a link reaches a copy; that is seen, undone, and the file is a copy of
its own from then on.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tailrace.sandbox import snapshot, tree
from tailrace.sandbox.copies import copy_afresh, copy_file
from tailrace.sandbox.ground import Left
from tailrace.sandbox.snapshot import Snapshot
from tailrace.sandbox.survey import Survey, small_bytes, state_of

_most_links = 40  # one after the other, as the system follows them


def run_folder(home: Path, root: Path) -> Path:
    """Where runs work for a user's folder."""
    return root / "run" / (home.name or "run")


class Scratch:
    """Of one tune. copies: files that each run gets a copy of."""

    def __init__(self, home: Path, root: Path, found: Survey, copies: set[str]) -> None:
        self.home, self.root = home, root
        self.inputs, self.kept = root / "inputs", root / "kept"
        self.folder = run_folder(home, root)
        self.copies = set(copies)
        self.repacked = root / "repacked"
        self.instead: dict[str, Path] = {}  # what runs find in the place of inputs, by name
        self._found = found
        self._inputs: Snapshot = {}
        self._before: Snapshot = {}

    def fill(self) -> int:
        """Copies the working folder, once; gives how many files share their blocks with it."""
        shared = 0
        self.kept.mkdir(parents=True, exist_ok=True)
        _make_folders(self.inputs, self._found.folders)
        wanted = self._found.files.keys() - self._found.twins.keys()
        for name in sorted(wanted):
            if state_of(self.inputs / name) == self._found.files[name]:
                continue  # also where runs have changed the file itself, as they may elsewhere
            with suppress(FileNotFoundError):  # gone since the survey, which is compared afterwards
                shared += copy_afresh(self.home / name, self.inputs / name)
        for name in snapshot.take(self.inputs).keys() - wanted:
            (self.inputs / name).unlink()  # of a run that was killed
        self._inputs = snapshot.take(self.inputs)
        return shared

    def source_of(self, name: str) -> Path | None:
        """Where a file that runs find under a name can be read; None: they have it from a folder
        that is a link."""
        name = self._led_to(name)
        if name in self._found.files:
            return self.inputs / name
        target = self._found.links.get(name)
        return Path(target) if target is not None and Path(target).is_file() else None

    def begin(self) -> Path:
        """A fresh working folder, with nothing beside it that a run has left there."""
        tree.remove(self.folder.parent)
        _make_folders(self.folder, self._found.folders)
        instead = {self._led_to(name): path for name, path in self.instead.items()}
        for name, (size, _) in self._found.files.items():
            self._give(name, size, instead)
        for name, target in self._found.links.items():
            (self.folder / name).symlink_to(instead.get(name, target))
        for name, target in self._found.inner.items():
            (self.folder / name).symlink_to(target)
        self._before = snapshot.take(self.folder)
        return self.folder

    def _give(self, name: str, size: int, instead: dict[str, Path]) -> None:
        """One file: a copy of its own, or a link; names of one file stay names of one."""
        first = self._found.twins.get(name, name)
        source = instead.get(first, self.inputs / first)
        if size > small_bytes and first not in self.copies:
            (self.folder / name).symlink_to(source)
        elif first == name:
            copy_file(source, self.folder / name)
        else:
            os.link(self.folder / first, self.folder / name)

    def _led_to(self, name: str) -> str:
        """The file that a name stands for, by links within the folder and by hard links."""
        for _ in range(_most_links):
            path = Path(name)
            above = [str(one) for one in (path, *path.parents) if str(one) in self._found.inner]
            if not above:
                break
            target = Path(above[0]).parent / self._found.inner[above[0]]
            name = os.path.normpath(target / path.relative_to(above[0]))
        return self._found.twins.get(name, name)

    def written(self) -> list[Path]:
        """Files that the run has written so far, to be synced."""
        names = snapshot.written(self._before, snapshot.take(self.folder))
        return [self.folder / name for name in names] + [
            self.inputs / name for name in self._altered() + self._strays()
        ]

    def end(self, name: str) -> Left:
        """Keeps what the run has left under a name, and puts right what it did to its inputs."""
        tree.open_up(self.folder)
        after = snapshot.take(self.folder)
        wrote = snapshot.written(self._before, after)
        altered, strays = self._altered(), self._strays()
        where = self.kept / name
        tree.remove(where)
        where.mkdir(parents=True)
        for one in wrote:
            (where / one).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / one).rename(where / one)
        for one in altered:
            (where / one).parent.mkdir(parents=True, exist_ok=True)
            if (self.inputs / one).exists():
                (self.inputs / one).rename(where / one)
            copy_file(self.home / one, self.inputs / one)
        for one in strays:
            (self.inputs / one).unlink()
        tree.remove(self.folder)
        self.copies.update(altered)
        if altered:
            self._inputs = snapshot.take(self.inputs)
        gone = snapshot.removed(self._before, after)
        return Left(where, sorted({*wrote, *altered}), gone, altered, strays)

    def read_files(self) -> list[Path]:
        """What runs may read, copies and links, also links to files that were not copied: for a
        page cache in the same state before each."""
        linked = [name for name in self._found.links if _is_file(self.folder / name)]
        return [self.folder / name for name in (*self._found.files, *linked)]

    def places(self) -> list[Path]:
        """Where the files of the working folder are while a run works."""
        return [self.folder, self.inputs, *([self.repacked] if self.instead else [])]

    def put_back(self) -> None:
        """The user's files were never touched; what a run was at work on goes."""
        tree.remove(self.folder)

    def close(self) -> None:
        """Removes everything but what an earlier tune in place has put aside."""
        tree.discard(self.root)

    def _altered(self) -> list[str]:
        now = snapshot.take(self.inputs)
        return sorted(name for name, state in self._inputs.items() if now.get(name) != state)

    def _strays(self) -> list[str]:
        return sorted(snapshot.take(self.inputs).keys() - self._inputs.keys())


def _is_file(path: Path) -> bool:
    """Where a link leads into a closed folder Path.is_file() would raise."""
    return os.path.isfile(path)  # noqa: PTH113


def _make_folders(root: Path, names: list[str]) -> None:
    root.mkdir(parents=True, exist_ok=True)
    for name in names:
        (root / name).mkdir(parents=True, exist_ok=True)
