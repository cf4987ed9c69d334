# SPDX-License-Identifier: Apache-2.0
"""HDF5 files that the subfiling driver spread over several files, as the one file they are.

Stripes of the file's addresses lie in turn in the subfiles. The configuration beside the file names
their size and number; its own name holds the inode that the file had when it was written.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError

_signature = b"\x89HDF\r\n\x1a\n"
# Where the superblock of each version holds the end of the file's addresses (of 8 bytes).
_end_of_file_at = {0: 40, 1: 44, 2: 28, 3: 28}


@dataclass(frozen=True)
class Subfiles:
    """Where the stripes are, in turn."""

    files: tuple[Path, ...]
    stripe_bytes: int


def find_subfiles(path: Path) -> Subfiles | None:
    """None: an ordinary file. Raises (exit code 3) where subfiles are missing."""
    path = path.resolve()  # subfiles lie beside the file, not beside a link to it
    config = _configuration(path)
    if config is None:
        return None
    settings: dict[str, str] = {}
    names = []
    for line in config.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        key, equals, value = line.partition("=")
        if equals:
            settings[key.strip()] = value.strip()
        elif line.strip():
            names.append(line.strip())
    try:
        stripe, count = int(settings["stripe_size"]), int(settings["subfile_count"])
    except (KeyError, ValueError) as error:
        raise incomplete(path, f"{config.name} does not name stripes and subfiles") from error
    if stripe < 1 or count < 1 or len(names) != count:
        raise incomplete(path, f"{config.name} names {len(names)} of {count} subfiles")
    files = tuple(path.parent / name for name in names)
    for file in files:
        if not file.is_file():
            raise incomplete(path, f"its subfile {file.name} is missing")
    subfiles = Subfiles(files, stripe)
    _check_lengths(path, subfiles)
    return subfiles


def manifest_of(path: Path) -> Path:
    return path.with_name(path.name + ".manifest")


def check_manifest(path: Path) -> None:
    """The manifest of a set that Tailrace wrote says that it is complete.

    Raises (exit code 3) where it is absent, or names files that are.
    """
    path = path.resolve()
    manifest = manifest_of(path)
    if not manifest.is_file():
        raise incomplete(path, f"{manifest.name}, which is written last, is not there")
    try:
        names = json.loads(manifest.read_bytes())["files"]
    except (ValueError, KeyError, TypeError) as error:
        raise incomplete(path, f"{manifest.name} is not readable") from error
    for name in names:
        if not (path.parent / str(name)).is_file():
            raise incomplete(path, f"{name}, which {manifest.name} names, is missing")


def incomplete(path: Path, what: str) -> TailraceError:
    return TailraceError(
        f"not a complete set of subfiles: {what}",
        where=str(path),
        hint="the subfiles and the .config file belong beside the file, under their own names",
        code=ExitCode.VERIFICATION_FAILED,
    )


def _check_lengths(path: Path, subfiles: Subfiles) -> None:
    """The superblock knows where the file ends; the driver ends each subfile accordingly."""
    with subfiles.files[0].open("rb") as first:
        head = first.read(64)
    at = _end_of_file_at.get(head[8] if len(head) == 64 else -1)
    if at is None:
        return
    end = int.from_bytes(head[at : at + 8], "little")
    count, stripe = len(subfiles.files), subfiles.stripe_bytes
    for number, file in enumerate(subfiles.files):
        turns, rest = divmod(end, count * stripe)
        needed = turns * stripe + min(max(rest - number * stripe, 0), stripe)
        if file.stat().st_size < needed:
            raise incomplete(path, f"{file} is shorter than {needed} bytes")


class StripedFile(io.RawIOBase):
    """Reads the stripes as one file."""

    def __init__(self, subfiles: Subfiles) -> None:
        super().__init__()
        self._files = [file.open("rb", 0) for file in subfiles.files]
        self._stripe = subfiles.stripe_bytes
        self._at = 0
        self._size = max(
            self._address(number, file.stat().st_size) for number, file in enumerate(subfiles.files)
        )

    def _address(self, number: int, size: int) -> int:
        """Of the end of a subfile in the whole file."""
        if size == 0:
            return 0
        turn, within = divmod(size - 1, self._stripe)
        return (turn * len(self._files) + number) * self._stripe + within + 1

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = (0, self._at, self._size)[whence] + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Bytes within the file that no subfile holds were never written: they are zeros."""
        view = memoryview(buffer).cast("B")
        wanted = min(len(view), max(0, self._size - self._at))
        done = 0
        while done < wanted:
            stripe, within = divmod(self._at + done, self._stripe)
            count = min(wanted - done, self._stripe - within)
            turn, number = divmod(stripe, len(self._files))
            file = self._files[number]
            file.seek(turn * self._stripe + within)
            got = file.readinto(view[done : done + count]) or 0
            if got == 0:
                view[done : done + count] = bytes(count)
                got = count
            done += got
        self._at += wanted
        return wanted

    def close(self) -> None:
        if not self.closed:
            for file in self._files:
                file.close()
        super().close()


def _configuration(path: Path) -> Path | None:
    # Inodes are used again: an ordinary file may have that of an earlier one with subfiles.
    if not _is_stub(path):
        return None
    own = path.with_name(f"{path.name}.subfile_{path.stat().st_ino}.config")
    if own.is_file():
        return own
    # A copied or restored file has another inode; its one configuration still describes it.
    prefix = f"{path.name}.subfile_"
    found = [
        file
        for file in path.parent.iterdir()
        if file.name.startswith(prefix) and file.name.endswith(".config")
    ]
    return found[0] if len(found) == 1 else None


def _is_stub(path: Path) -> bool:
    """Whether the file says that it was written through the subfiling driver.

    Beside the superblock it holds what rank 0 wrote; the driver's message, to which the superblock
    points (version 2 and 3: at byte 20), may be in a subfile only.
    """
    with path.open("rb") as file:
        head = file.read(4096)
        if b"Subfilin" in head:
            return True
        if not head.startswith(_signature) or len(head) < 48 or head[8] < 2 or head[9] != 8:
            return False
        extension = int.from_bytes(head[20:28], "little")
        if extension >= 1 << 62:
            return False
        file.seek(extension)
        return file.read(4) != b"OHDR"
