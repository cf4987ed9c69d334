# SPDX-License-Identifier: Apache-2.0
"""Files that runs write beyond their working folder, where the user allows it: each run finds them
as the recording run left them, and so does the user in the end."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tailrace import interrupts
from tailrace.errors import ExitCode, TailraceError
from tailrace.sandbox.copies import (
    copy_afresh,
    copy_file,
    is_closed_beside,
    is_copy_of,
    same_content,
    write_into,
)
from tailrace.sandbox.tree import beside_suffix
from tailrace.units import some

_prefix = "outside"


class Outside:
    """files: absolute paths. root: where their copies are kept."""

    def __init__(self, files: Sequence[Path], root: Path) -> None:
        self.files = list(files)
        self._saved = root / _prefix
        self._part = root / f"{_prefix}.part"
        self._mark = root / f"{_prefix}.saved"

    @property
    def bytes_to_save(self) -> int:
        if self._mark.exists():
            return 0
        return sum(path.stat().st_size for path in self.files if path.is_file())

    def save(self) -> None:
        """To be called after the recording run, before any other. What was saved before stays: runs
        may have written to the files since."""
        if self._mark.exists() or not self.files:
            return
        for path in self.files:
            if not path.is_file():  # made and removed by the run
                continue
            saved = self._copy(path)
            saved.parent.mkdir(parents=True, exist_ok=True)
            self._part.unlink(missing_ok=True)
            copy_file(path, self._part)
            self._part.replace(saved)  # a copy that was cut short is none
        self._mark.touch()

    def away(self) -> list[Path]:
        """Those whose content is not the one that was saved."""
        dated = self._dated_otherwise()
        return [path for path in dated if not same_content(path, self._copy(path))]

    def put_back(self, aside: Callable[[str], Path] | None = None) -> None:
        """aside: gives a place for what stands there now, by a name; None: it is of a run.

        Raises: it could not be done, for which files, and where their copies are.
        """
        with interrupts.held():
            away: dict[Path, OSError] = {}
            others = self.away() if aside is not None else []
            for path in self._dated_otherwise():
                try:
                    if aside is not None and path in others and path.is_file():
                        copy_file(path, aside(f"{_prefix}{path}"))
                    _put(self._copy(path), path)
                except OSError as error:
                    away[path] = error
            if away:
                raise TailraceError(
                    f"NOT put back: {some(list(map(str, away)))}: {next(iter(away.values()))}",
                    where="tune", hint=f"the copies of your files are in {self._saved}; --resume "
                    "puts them back", code=ExitCode.RUN_FAILED,
                )  # fmt: skip

    def brought_back(self, aside: Callable[[str], Path] | None = None) -> str:
        """Puts back what is away; what is to be said of that, "" where nothing is."""
        if not (away := self.away()):
            return ""
        self.put_back(aside)
        return f"back as the recording run left it: {some(list(map(str, away)))}"

    def written(self) -> list[Path]:
        """Those that the run has changed."""
        return [path for path in self.files if path.is_file() and not self._is_same(path)]

    def end(self, kept: Path) -> list[str]:
        """Keeps what the run has written there; gives the names, below `kept`."""
        names = []
        for path in self.written():
            name = f"{_prefix}{path}"
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            copy_afresh(path, kept / name)
            names.append(name)
        self.put_back()
        return names

    def _dated_otherwise(self) -> list[Path]:
        """Also those that were written with the same once more."""
        saved = [path for path in self.files if self._copy(path).exists()]
        return [path for path in saved if not self._is_same(path)]

    def _is_same(self, path: Path) -> bool:
        return is_copy_of(path, self._copy(path))

    def _copy(self, path: Path) -> Path:
        return self._saved / str(path).lstrip("/")


def outside_of(recorded: Mapping[str, Any] | None, root: Path) -> Outside:
    """Of what a recording run has noted; None: nothing yet."""
    return Outside([Path(one) for one in (recorded or {}).get("outside", [])], root)


def _put(saved: Path, path: Path) -> None:
    """At once, so that what stands there is never half a file, where that can be: a file of other
    names has to stay the same one, and beside some nothing can be made."""
    if path.is_file() and path.stat().st_nlink > 1:
        _put_into(saved, path)
        return
    try:
        _replace(saved, path)
    except OSError as error:
        if not (is_closed_beside(error) and path.is_file()):
            raise
        _put_into(saved, path)


def _put_into(saved: Path, path: Path) -> None:
    if not same_content(saved, path):
        write_into(saved, path)
    with suppress(PermissionError):  # of a file of somebody else only the content can be set
        shutil.copystat(saved, path)


def _replace(saved: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{secrets.token_hex(8)}{beside_suffix}")
    try:
        copy_file(saved, beside)
        with suppress(OSError):  # it may be another's, in a group of theirs
            owner = path.stat()
            os.chown(beside, owner.st_uid, owner.st_gid)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
