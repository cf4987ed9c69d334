# SPDX-License-Identifier: Apache-2.0
"""Runs in the user's own folder, for programs that insist on it: with copies kept, and everything
put back after each run.

    root/originals   copies of the files of the folder, made once
    root/tree        everything in the folder as it was; is there when the copies are complete
    root/kept        what runs have left, by name
    root/at_work     is there while the folder may not be as it was; it names what of root/kept is
                     being filled from it: what a killed run has changed is put aside
    root/moved       what is being taken out of the folder while no run is under way
    root/put_aside   what might be the user's own

What is in the folder at first is the user's and is never taken away: a copy of what a run made of
it is kept, and what it was is renamed over it.
"""

from __future__ import annotations

import shutil
import stat
from contextlib import suppress
from pathlib import Path

from tailrace import interrupts
from tailrace.errors import ExitCode, TailraceError
from tailrace.sandbox import ownership, tree
from tailrace.sandbox.copies import copy_afresh, copy_file, cut_ties, link_or_copy, same_content
from tailrace.sandbox.ground import Left
from tailrace.sandbox.restoration import Changes, Restoring
from tailrace.sandbox.safekeeping import Aside
from tailrace.sandbox.survey import Survey
from tailrace.sandbox.tree import Tree
from tailrace.units import some
from tailrace.whole_files import write_text

_compiled = "__pycache__"


class InPlace:
    """Of one tune. skip: folders of ours below the user's."""

    def __init__(self, home: Path, root: Path, found: Survey, skip: set[Path]) -> None:
        self.folder, self.kept = home, root / "kept"
        found = found.without(skip, home)  # our own words may go elsewhere than they did before
        self.copies: set[str] = set(found.files)
        self._root, self._found = root, found
        self._skip = skip | {home / name for name in (*found.environments, *found.tunes)}
        self.put_aside = root / ownership.put_aside
        self.originals, self._mark = root / "originals", root / ownership.at_work
        self._tree, self._moved, self._mode = root / "tree", root / "moved", root / "mode"
        self._restoring = self._known({})
        self._aside = Aside(self.put_aside, root / "written.json")
        self._at_work = self._filled = False

    def fill(self) -> int:
        """Copies the folder, once: what a killed run has left is put back from them first."""
        self.kept.mkdir(parents=True, exist_ok=True)
        if self._tree.exists():
            there = tree.load(self._tree)
            ours = [name for name in there if self.folder / name in self._skip]
            self._restoring = self._known({k: v for k, v in there.items() if k not in ours})
            self._filled = True
            self.put_back()
            self._keep_of_ours(ours)
            return 0
        if found := self._found.closed:
            raise TailraceError(
                f"{found[0]} cannot be read, so that no copy of it can be kept",
                where="--in-place", hint="make it readable, or move it out of this folder",
            )  # fmt: skip
        with suppress(FileNotFoundError):
            shutil.rmtree(self.originals)  # of a copy that was cut short: no run was made yet
        known = tree.take(self.folder, self._skip)
        shared = self._copy(known)
        self._restoring = self._known(known)
        self._mode.write_text(str(stat.S_IMODE(self.folder.stat().st_mode)))
        tree.store(known, self._tree)
        self._filled = True
        return shared

    def _keep_of_ours(self, names: list[str]) -> None:
        """Our own words go now to what was a file of the user when this tune began: they stay, and
        what it was, which a run may have changed, is put aside."""
        kept = [name for name in names if (self.originals / name).is_file()]
        self._aside.put(self.originals, [one for one in kept if one not in self.names_put_aside])

    def begin(self) -> Path:
        """What has changed while no run was under way is the user's."""
        with interrupts.held():
            self.put_back()
            self._mark.touch()
            self._at_work = True
        return self.folder

    def written(self) -> list[Path]:
        """By the system's times alone: nothing is read while it is not yet synced."""
        return [
            self.folder / name
            for name, entry in self._restoring.take().items()
            if entry.kind in {"file", "link"} and not entry.is_surely(self._restoring.now.get(name))
        ]

    def end(self, name: str) -> Left:
        where = self.kept / name
        with interrupts.held():
            now = self._restoring.take()
            changes = self._restoring.changes(now)
            wrote = self._wrote(now, changes)
            gone = [one for one in changes.missing if self._restoring.known[one].kind != "folder"]
            shutil.rmtree(where, ignore_errors=True)
            write_text(self._mark, name)
            self._take_out(changes, wrote, where)
            self._aside.after_a_run(where, wrote)
            self._restore()
        return Left(where, wrote, gone)

    def read_files(self) -> list[Path]:
        return [self.folder / name for name in self._found.files]

    def places(self) -> list[Path]:
        return [self.folder]

    @property
    def names_put_aside(self) -> list[str]:
        return self._aside.names

    def put_back(self) -> None:
        """The folder as it was. What this run has changed that no other explains, and all that a
        killed one has, or somebody while no run was under way, is put aside.

        Raises: something could not be put back, and what: a program may have removed the copies.
        """
        if not self._filled:
            return
        with interrupts.held():
            self._put_aside_cut_short()
            tree.remove_cut_short(self.folder, self._skip)
            now = self._restoring.take()
            changes = self._restoring.changes(now)
            if changes:
                self._take_away(changes, self._wrote(now, changes))
            self._restore()

    def away(self) -> list[str]:
        """Files of the user that are not as they were."""
        if not self._filled:
            return []
        changes = self._restoring.changes(self._restoring.take())
        return sorted([*changes.missing, *changes.other, *changes.behind])

    def close(self) -> None:
        """What was put aside stays: it might be the user's own."""
        self.put_back()
        with interrupts.held():
            self._filled = False  # from here on there is nothing to put back
            self._tree.unlink(missing_ok=True)
            tree.discard(self._root)

    def _known(self, known: Tree) -> Restoring:
        return Restoring(self.folder, self.originals, known, self._skip, self._let_go)

    def _let_go(self, here: Path) -> None:
        """What runs have left, or what was put aside, may be another name of it: see _copy_out."""
        ours = (self.kept, self._moved, self.put_aside)
        cut_ties(here, ours, self._root / "untied")

    def _copy(self, known: Tree) -> int:
        """Of files, and of those beyond the folder that links lead to."""
        shared = 0
        for name, entry in known.items():
            if entry.kind == "file" or entry.behind:
                target = self.originals / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shared += copy_file(self.folder / name, target)
        return shared

    def _wrote(self, now: Tree, changes: Changes) -> list[str]:
        """Files and links that are new or were written, if only with the same once more."""
        names = {*changes.new, *changes.other, *changes.behind}
        for name in changes.looks:
            entry, was = now[name], self._restoring.now[name]
            written = entry.inode != was.inode or entry.modified_ns != was.modified_ns
            if entry.kind == "file" and written:
                names.add(name)
        return sorted(
            name
            for name in names
            if now[name].kind in {"file", "link"} and _compiled not in Path(name).parts
        )

    def _put_aside_cut_short(self) -> None:
        """What was being taken out of the folder when a tune was killed, or could not go on: it is
        nowhere else any more. What is in the folder too is taken out of that once more."""
        name = self._mark.read_text() if self._mark.exists() else ""
        for where in [self._moved, *([self.kept / name] if name else [])]:
            for one in _files_below(where):
                if not _is_the_same(where / one, self.folder / one):
                    _move(where / one, self._aside.free_place(one))
            tree.remove(where)

    def _take_away(self, changes: Changes, wrote: list[str]) -> None:
        with suppress(OSError):  # a full disk: then what is in `moved` says it as well
            self._mark.touch()
        self._take_out(changes, wrote, self._moved)
        if self._at_work:
            self._aside.after_a_run(self._moved, wrote)
        else:
            unsaid = [name for name in changes.looks if name in wrote]  # of the same content
            self._aside.put(self._moved, [name for name in wrote if name not in unsaid])
        shutil.rmtree(self._moved, ignore_errors=True)

    def _take_out(self, changes: Changes, wrote: list[str], where: Path) -> None:
        """What is new is moved there; of what was there before a copy is made, so that the user's
        name always leads to something."""
        where.mkdir(parents=True, exist_ok=True)
        now = self._restoring.take()
        in_the_way = [
            name for name in changes.other if now[name].kind != self._restoring.known[name].kind
        ]
        moved = [*changes.new, *in_the_way]
        for name in wrote:
            if name not in moved:
                _copy_out(self.folder / name, where / name, name in changes.other)
        folders = []
        for name in moved:
            tree.open_way_to(name, self.folder)
            if now[name].kind == "folder":
                folders.append(name)
            else:
                _move(self.folder / name, where / name)
        for name in sorted(folders, reverse=True):
            self._remove_folder(name)

    def _remove_folder(self, name: str) -> None:
        """One that a run has made; what is in it that is not looked at goes aside with it."""
        try:
            (self.folder / name).rmdir()
        except OSError:
            shutil.move(self.folder / name, self._aside.free_place(name))

    def _own_permissions(self) -> list[str]:
        """Of the folder itself, which is not in its tree; gives what is wrong."""
        try:
            mode = int(self._mode.read_text())
            if stat.S_IMODE(self.folder.stat().st_mode) != mode:
                self.folder.chmod(mode)
        except FileNotFoundError:  # gone with the copies, and told with them
            return []
        except OSError as error:
            return [f"the folder's own permissions ({error.strerror})"]
        return []

    def _restore(self) -> None:
        problems = self._restoring.put_back()
        problems += self._own_permissions()
        if problems:
            raise TailraceError(
                f"could not be put back: {some(problems, 3)}",
                where=str(self.folder), code=ExitCode.RUN_FAILED,
                hint=f"the copies are in {self.originals}; --resume puts them back",
            )  # fmt: skip
        self._at_work = False
        self._mark.unlink(missing_ok=True)


def _files_below(folder: Path) -> list[str]:
    """And links; not what Python compiles."""
    found = [path.relative_to(folder) for path in folder.rglob("*") if _is_file_or_link(path)]
    return sorted(str(one) for one in found if _compiled not in one.parts)


def _is_file_or_link(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _is_the_same(one: Path, other: Path) -> bool:
    """Two files of the same content; of a link it counts where it leads to, of a pipe nothing."""
    return not one.is_symlink() and other.is_file() and same_content(one, other)


def _copy_out(here: Path, there: Path, goes: bool) -> None:
    """As it is now. goes: it is about to be replaced by what it was, so that another name for it
    does."""
    there.parent.mkdir(parents=True, exist_ok=True)
    if here.is_symlink() and not here.is_file():
        there.symlink_to(here.readlink())
    elif goes and not here.is_symlink() and here.stat().st_nlink == 1:
        link_or_copy(here, there)
    else:
        copy_afresh(here, there)


def _move(here: Path, there: Path) -> None:
    """Where it has other names, which may be the user's, to a file of its own."""
    there.parent.mkdir(parents=True, exist_ok=True)
    status = here.lstat()
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        copy_afresh(here, there)
        here.unlink()
        return
    try:
        here.rename(there)
    except OSError:
        if here.is_fifo() or here.is_socket():
            here.unlink()
        else:
            shutil.move(here, there)
