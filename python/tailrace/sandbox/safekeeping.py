# SPDX-License-Identifier: Apache-2.0
"""What might be the user's own: put aside in a folder, never removed by us.

A run in place cannot be told from its user, who edits a file in the meantime. So only what several
runs write is taken for theirs: what the first run wrote is put aside until the second has written
it too, and what later runs write beyond that stays aside.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from tailrace.sandbox.copies import link_or_copy
from tailrace.sandbox.name_patterns import patterns
from tailrace.whole_files import write_text

_runs_that_tell = 2


class Aside:
    """folder: where it lies, under its own names; again where a name is taken. file: keeps
    what the first runs wrote, for a tune that is gone on with."""

    def __init__(self, folder: Path, file: Path) -> None:
        self.folder, self._file = folder, file
        known = json.loads(file.read_text()) if file.is_file() else {"runs": [], "first": {}}
        self._runs: list[list[str]] = known["runs"]
        self._first: dict[str, str] = known["first"]

    @property
    def names(self) -> list[str]:
        """All that lies there."""
        below = self.folder.rglob("*")
        return sorted(
            str(path.relative_to(self.folder))
            for path in below
            if path.is_symlink() or not path.is_dir()
        )

    def free_place(self, name: str) -> Path:
        """Where something of this name can be put."""
        place, number = self.folder / name, 1
        while place.is_symlink() or place.exists() or _is_below_a_file(place, self.folder):
            number += 1
            place = self.folder / f"again-{number}" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def put(self, folder: Path, names: list[str]) -> dict[str, str]:
        """Files and links below a folder, which may be removed afterwards; gives where each is."""
        where = {}
        for name in names:
            place = self.free_place(name)
            if (folder / name).is_symlink():
                place.symlink_to((folder / name).readlink())
            else:
                link_or_copy(folder / name, place)
            where[name] = str(place.relative_to(self.folder))
        return where

    def after_a_run(self, folder: Path, names: list[str]) -> None:
        """Of what it has written, there below `folder`, what no other run explains is put aside."""
        if len(self._runs) >= _runs_that_tell:
            self.put(folder, [name for name in names if not self._explains(name)])
            return
        self._runs.append(names)
        if len(self._runs) < _runs_that_tell:
            self._first = self.put(folder, names)
        else:
            self.put(folder, [name for name in names if not self._explains(name)])
            for name, place in self._first.items():
                if self._explains(name):
                    (self.folder / place).unlink(missing_ok=True)
            self._tidy()
        write_text(self._file, json.dumps({"runs": self._runs, "first": self._first}))

    def _explains(self, name: str) -> bool:
        """Both of the first runs wrote it, or names like it."""
        one, other = (set(names) for names in self._runs)
        if name in one & other:
            return True
        return any(pattern.fits(name) for pattern in patterns(sorted(one - other), other - one))

    def _tidy(self) -> None:
        """Folders that are empty by now."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                with suppress(OSError):
                    path.rmdir()
        with suppress(OSError):
            self.folder.rmdir()


def _is_below_a_file(place: Path, root: Path) -> bool:
    above = place.parent
    while above != root:
        if above.exists() and not above.is_dir():
            return True
        above = above.parent
    return False
