# SPDX-License-Identifier: Apache-2.0
"""Files that runs write beyond their working folder, where the user allows it: each run finds them
as the recording run left them, and so does the user in the end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tailrace.tune.copying import copy_afresh, copy_file, is_copy_of

_prefix = "outside"


class Outside:
    """files: absolute paths. root: where their copies are kept."""

    def __init__(self, files: Sequence[Path], root: Path) -> None:
        self.files = list(files)
        self._saved = root / _prefix

    def save(self) -> None:
        """To be called after the recording run, before any other."""
        for path in self.files:
            saved = self._copy(path)
            saved.parent.mkdir(parents=True, exist_ok=True)
            if not saved.exists():
                copy_afresh(path, saved)

    def put_back(self) -> None:
        for path in self.files:
            saved = self._copy(path)
            if saved.exists() and not is_copy_of(path, saved):
                with suppress(FileNotFoundError):
                    path.unlink()
                copy_file(saved, path)

    def written(self) -> list[Path]:
        """Those that the run has changed."""
        return [path for path in self.files if not is_copy_of(path, self._copy(path))]

    def end(self, kept: Path) -> list[str]:
        """Keeps what the run has written there; gives the names, below `kept`."""
        names = []
        for path in self.written():
            if not path.exists():
                continue
            name = f"{_prefix}{path}"
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            copy_afresh(path, kept / name)
            names.append(name)
        self.put_back()
        return names

    def _copy(self, path: Path) -> Path:
        return self._saved / str(path).lstrip("/")
