# SPDX-License-Identifier: Apache-2.0
"""What runs read, in the same state of the page cache before each: files of the working folder, and
those that no run has a copy of: behind links to folders, of --link, and elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tailrace.doctor.places import mount_of
from tailrace.run.quiet import meminfo_bytes
from tailrace.sandbox.ground import Ground
from tailrace.tune import relocation, touched_files
from tailrace.units import some

_piece = 1 << 22
_of_the_system = ("/proc/", "/sys/")  # which have no pages to be cached


class Inputs:
    """Of one tune. home: the user's working folder. is_cold: out of the page cache, else in it."""

    def __init__(self, ground: Ground, home: Path, *, is_cold: bool) -> None:
        self._ground, self._home, self._is_cold = ground, home, is_cold
        self._touched: set[Path] | None = None  # None: not known, so all
        self._read: list[Path] = []
        self._not_cold: dict[Path, None] = {}
        self._not_warm: dict[Path, None] = {}

    def know(self, profile: Mapping[str, Any]) -> None:
        """From a run, with the files where the user has them."""
        files = profile.get("files", [])
        self._touched = {Path(file["path"]) for file in files}
        self._read = [Path(file["path"]) for file in files if touched_files.was_read(file)]

    def prepare(self) -> None:
        """Before a run, when its folder is there."""
        if self._is_cold:
            self._not_cold.update(dict.fromkeys(cold(self.files())))
        else:
            self._not_warm.update(dict.fromkeys(warm(self.files())))

    def files(self) -> list[Path]:
        """Where the next run finds them."""
        folder = self._ground.folder
        copied = {self._home / path.relative_to(folder): path for path in self._ground.read_files()}
        own = [
            path for home, path in copied.items() if self._touched is None or home in self._touched
        ]
        return own + [path for path in self._read if path not in copied and _is_data(path)]

    @property
    def notes(self) -> list[str]:
        """What was not as the runs were to find it."""
        homes = [(self._ground.folder, self._home)]
        not_so = {
            "not put out of the page cache (in memory, or not to be opened)": self._not_cold,
            "not read into the page cache before each run, for want of memory": self._not_warm,
        }
        return [
            f"{what}: {some([relocation.at_home(str(path), homes) for path in paths], 3)}"
            for what, paths in not_so.items()
            if paths
        ]


def _is_data(path: Path) -> bool:
    # Of a path in a closed folder Path.is_file() would raise.
    return os.path.isfile(path) and not str(path).startswith(_of_the_system)  # noqa: PTH113


def warm(files: Iterable[Path]) -> list[Path]:
    """Reads files once, as far as half of the memory goes; gives those that it did not go for."""
    left = (meminfo_bytes("MemAvailable") or 1 << 30) // 2
    unread = []
    for path in files:
        with suppress(OSError):
            size = path.stat().st_size
            if size > left:
                unread.append(path)
                continue
            left -= size
            with path.open("rb", buffering=0) as stream:
                while stream.read(_piece):
                    pass
    return unread


def cold(files: Iterable[Path]) -> list[Path]:
    """Asks the system to forget files; gives those that it did not: that could not be opened, or
    that lie in memory anyway."""
    left = []
    in_memory: dict[int, bool] = {}  # by device
    for path in files:
        try:
            device = _forget(path)
        except FileNotFoundError:  # nor does a run find it
            continue
        except OSError:
            left.append(path)
            continue
        if device not in in_memory:
            in_memory[device] = _is_in_memory(path)
        if in_memory[device]:
            left.append(path)
    return left


def _forget(path: Path) -> int:
    """Pages that are dirty stay, so they are synced first; gives the device."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # where nothing can be written, nothing is dirty
            os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)


def _is_in_memory(path: Path) -> bool:
    mount = mount_of(path)
    return mount is not None and mount.kind in {"tmpfs", "ramfs"}
