# SPDX-License-Identifier: Apache-2.0
"""Runs in the user's own folder, for programs that insist on it: with copies kept, and everything
put back after each run.

    root/originals   copies of the files of the folder, made once
    root/kept        what runs have left, by name
    root/at_work     is there while a run works: after a kill, what is new since is put aside
    root/put_aside   that
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from tailrace.tune import snapshot
from tailrace.tune.copying import copy_afresh, copy_file, is_copy_of
from tailrace.tune.scratch import Left
from tailrace.tune.snapshot import Snapshot
from tailrace.tune.survey import Survey


class InPlace:
    """Of one tune. skip: folders of ours below the user's."""

    def __init__(self, home: Path, root: Path, found: Survey, skip: set[Path]) -> None:
        self.folder, self.kept = home, root / "kept"
        self.copies: set[str] = set(found.files)
        self._root, self._found = root, found
        self._skip = skip | {home / name for name in found.links}
        self.put_aside = root / "put_aside"
        self._originals, self._mark = root / "originals", root / "at_work"
        self._complete = root / "originals_are_complete"
        self._before: Snapshot = {}

    def fill(self) -> int:
        """Copies the folder, once: what a killed run has left is put back from them first."""
        self.kept.mkdir(parents=True, exist_ok=True)
        if self._complete.exists():
            self.put_back()
            return 0
        shared = 0
        for name in self._found.files:
            target = self._originals / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shared += copy_afresh(self.folder / name, target)
        self._complete.touch()
        return shared

    def begin(self) -> Path:
        self.put_back()
        self._before = self._now()
        self._mark.touch()
        return self.folder

    def written(self) -> list[Path]:
        names = snapshot.written(self._before, self._now())
        return [self.folder / name for name in [*names, *self._altered(names)]]

    def end(self, name: str) -> Left:
        after = self._now()
        wrote, gone = snapshot.written(self._before, after), snapshot.removed(self._before, after)
        where = self.kept / name
        shutil.rmtree(where, ignore_errors=True)
        where.mkdir(parents=True)
        altered = self._altered(wrote)
        for one in altered:
            (where / one).parent.mkdir(parents=True, exist_ok=True)
            copy_afresh(self.folder / one, where / one)
        self._move(wrote, where)
        self.put_back()
        return Left(where, sorted({*wrote, *altered}), gone)

    def read_files(self) -> list[Path]:
        return [self.folder / name for name in self._found.files]

    def places(self) -> list[Path]:
        return [self.folder]

    def put_back(self) -> None:
        """The folder as it was. What a run that did not end has made is put aside, not removed."""
        if not self._complete.exists():
            return
        originals = snapshot.take(self._originals)
        if self._mark.exists():
            new = self._now().keys() - originals.keys() - self._found.links.keys()
            self._move(sorted(new), self.put_aside)
        for name in originals:
            here = self.folder / name
            here.parent.mkdir(parents=True, exist_ok=True)
            if name in self._found.aliases and not here.is_symlink():
                here.unlink(missing_ok=True)
                here.symlink_to(self._found.aliases[name])
            if self._differs(name):
                real = here.resolve()
                real.unlink(missing_ok=True)
                copy_file(self._originals / name, real)
        self._remove_new_folders()
        self._mark.unlink(missing_ok=True)

    def close(self) -> None:
        """What was put aside stays: it might be the user's own."""
        self.put_back()
        for path in list(self._root.glob("*")):
            if path.is_dir() and path != self.put_aside:
                shutil.rmtree(path, ignore_errors=True)
            elif not path.is_dir():
                path.unlink()
        with suppress(OSError):
            self._root.rmdir()

    def _altered(self, wrote: list[str]) -> list[str]:
        """Files that the run has written by a link, and left the link."""
        return [one for one in self._found.aliases if self._differs(one) and one not in wrote]

    def _differs(self, name: str) -> bool:
        return not is_copy_of(self.folder / name, self._originals / name)

    def _now(self) -> Snapshot:
        return snapshot.take(self.folder, self._skip)

    def _move(self, names: list[str], where: Path) -> None:
        for name in names:
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(self.folder / name, where / name)

    def _remove_new_folders(self) -> None:
        """Those that runs have made, and that are empty by now."""
        known = set(self._found.folders)
        for name in reversed(snapshot.folders_in(self.folder, self._skip)):
            if name not in known:
                with suppress(OSError):
                    (self.folder / name).rmdir()
