# SPDX-License-Identifier: Apache-2.0
"""Puts a folder back as it was: each file is written beside and renamed over, so that at no time
the user's name leads to nothing or to half a file. Only where it has to stay the same file, or
nothing can be made beside it, it is written into."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import xxhash

from tailrace.sandbox import tree
from tailrace.sandbox.copies import copy_file, is_closed_beside, same_content, write_into
from tailrace.sandbox.tree import Entry, Tree

_without_content = {"fifo": stat.S_IFIFO, "socket": stat.S_IFSOCK}


@dataclass
class Changes:
    """Against the folder as it was. new: not there before, parents first. other: of another kind,
    or a file of other content, or a link to somewhere else. behind: links to files beyond the
    folder that have another content now. missing: not there any more. looks: only permissions,
    owner or time are others."""

    new: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.new or self.other or self.behind or self.missing or self.looks)


class Restoring:
    """Of one folder. copies: where those of its files are. known: the tree as it was when it was
    copied; what was put back since has other inodes, so what the system says now stands beside.
    let_go: is told a file before that is written into: other names of it would change with it."""

    def __init__(
        self, folder: Path, copies: Path, known: Tree, skip: set[Path],
        let_go: Callable[[Path], None],
    ) -> None:  # fmt: skip
        self._folder, self._copies, self.known, self._skip = folder, copies, known, skip
        self._let_go = let_go
        self.now = dict(known)

    def take(self) -> Tree:
        return tree.take(self._folder, self._skip)

    def changes(self, now: Tree) -> Changes:
        """Contents are read where the system's times leave a doubt."""
        found = Changes([name for name in now if name not in self.known])
        for name, was in self.known.items():
            is_now = now.get(name)
            if is_now is None:
                found.missing.append(name)
            elif is_now.kind != was.kind or is_now.target != was.target:
                found.other.append(name)
            elif not is_now.is_surely(self.now.get(name)):
                self._sort(name, was, is_now, found)
        return found

    def _sort(self, name: str, was: Entry, now: Entry, found: Changes) -> None:
        if was.kind == "file" and not self._same(name, was, now):
            found.other.append(name)
        elif was.behind and not (now.behind and self._same(name, was.behind, now.behind)):
            found.behind.append(name)
        elif not was.looks_like(now) or (was.behind and not was.behind.looks_like(now.behind)):
            found.looks.append(name)
        else:
            self.now[name] = now  # read, and alike: no doubt is left

    def _same(self, name: str, was: Entry, now: Entry) -> bool:
        return was.bytes == now.bytes and same_content(self._folder / name, self._copies / name)

    def put_back(self) -> list[str]:
        """Everything but what is new, which is to be moved away before. Gives what could not be
        put back, with why."""
        problems: list[str] = []
        changes = self.changes(self.take())
        wanted = {*changes.other, *changes.behind, *changes.missing, *changes.looks}
        for name, was in self.known.items():
            if name in wanted:
                self._attempt(name, problems, partial(self._one, name, was))
        wanted.update(self._hard_links(problems))
        self._folders(problems)
        if not problems:
            now = self.take()
            self.now |= {name: now[name] for name in wanted if name in now}
        return problems

    def _attempt(self, name: str, problems: list[str], do: Callable[[], object]) -> None:
        try:
            tree.open_way_to(name, self._folder)
            do()
        except OSError as error:
            problems.append(f"{name} ({error.strerror})")

    def _one(self, name: str, was: Entry) -> None:
        here = self._folder / name
        with suppress(FileNotFoundError):
            if tree.entry_of(here, self._folder).kind != was.kind:
                raise FileExistsError(17, "something else is there")
        if was.kind == "folder":
            here.mkdir(exist_ok=True)
        elif was.kind in _without_content:
            with suppress(FileExistsError):
                os.mknod(here, was.mode | _without_content[was.kind])
            _look(here, was)
        elif was.kind == "link":
            self._link(here, was)
        else:
            self._file(self._copies / name, here, was)

    def _link(self, here: Path, was: Entry) -> None:
        if not here.is_symlink() or str(here.readlink()) != was.target:
            beside = _beside(here)
            beside.symlink_to(was.target)
            os.utime(beside, ns=(was.modified_ns, was.modified_ns), follow_symlinks=False)
            beside.replace(here)
        if was.behind is not None:
            real = here.resolve()
            self._file(self._copies / here.relative_to(self._folder), real, was.behind)

    def _file(self, copy: Path, here: Path, was: Entry) -> None:
        if here.is_file() and same_content(here, copy):
            _look(here, was)
        elif here.is_file() and self._has_names_elsewhere(here, was):
            self._write_into(copy, here, was)
        else:
            try:
                _replace(copy, here, was)
            except OSError as error:
                if not (is_closed_beside(error) and here.is_file()):
                    raise
                self._write_into(copy, here, was)

    def _write_into(self, copy: Path, here: Path, was: Entry) -> None:
        self._let_go(here)
        write_into(copy, here)
        _look(here, was)

    def _has_names_elsewhere(self, here: Path, was: Entry) -> bool:
        """Another name beyond the folder leads to it: it has to stay the same file."""
        if here.stat().st_ino != was.inode:
            return False
        names = sum(one.inode == was.inode for one in self.known.values() if one.kind == "file")
        return was.names > max(names, 1)

    def _hard_links(self, problems: list[str]) -> set[str]:
        """Files that were one file are one file again; gives the names where they were not."""
        tied: set[str] = set()
        for names in twins(self.known):
            first = self._folder / self._first(names)
            for name in names:
                here = self._folder / name
                if not (here.exists() and first.exists() and here.samefile(first)):
                    self._attempt(name, problems, partial(_tie, here, first))
                    tied.update(names)
        return tied

    def _first(self, names: list[str]) -> str:
        """The one that is still the user's own file, where there is one."""
        for name in names:
            here = self._folder / name
            if here.exists() and here.stat().st_ino == self.known[name].inode:
                return name
        return names[0]

    def _folders(self, problems: list[str]) -> None:
        """Their permissions in the end, those that lie deeper first."""
        for name, was in reversed(self.known.items()):
            here = self._folder / name
            if was.kind == "folder" and here.is_dir():
                self._attempt(name, problems, partial(_look, here, was))


def twins(known: Tree) -> list[list[str]]:
    """Names of the same file, of each that has several below the folder."""
    found: dict[tuple[int, int], list[str]] = {}
    for name, entry in known.items():
        if entry.kind == "file" and entry.names > 1:
            found.setdefault((entry.device, entry.inode), []).append(name)
    return [names for names in found.values() if len(names) > 1]


def _tie(here: Path, first: Path) -> None:
    beside = _beside(here)
    os.link(first, beside)
    beside.replace(here)


def _beside(here: Path) -> Path:
    """Under a name that is short, since those of files may be as long as the system allows."""
    short = xxhash.xxh3_64_hexdigest(os.fsencode(here.name))
    beside = here.with_name(short + tree.beside_suffix)
    beside.unlink(missing_ok=True)
    return beside


def _replace(copy: Path, here: Path, was: Entry) -> None:
    beside = _beside(here)
    try:
        copy_file(copy, beside)
        _look(beside, was)
        beside.replace(here)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise


def _look(here: Path, was: Entry) -> None:
    """Owner, permissions and time; only where they differ, since each sets the system's time."""
    now = here.stat()
    if (now.st_uid, now.st_gid) != was.owner:
        with suppress(PermissionError):
            os.chown(here, *was.owner)
    if (now.st_mode & 0o7777) != was.mode:
        here.chmod(was.mode)
    if here.stat().st_mtime_ns != was.modified_ns:
        with suppress(PermissionError):  # of a file of somebody else, who lets us write it
            os.utime(here, ns=(now.st_atime_ns, was.modified_ns))
