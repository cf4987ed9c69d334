# SPDX-License-Identifier: Apache-2.0
"""Copies of files that cost nothing where the file system can share their blocks."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_closed_beside = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY}
_ficlone = 0x40049409  # FICLONE of <linux/fs.h>
_piece_bytes = 1 << 22


def copy_file(source: Path, target: Path) -> bool:
    """Content, permissions and times; True where the blocks are shared (reflink). Never a hard
    link: what is written to one must not be seen in the other."""
    shared = False
    with source.open("rb") as reading, target.open("xb") as writing:
        try:
            fcntl.ioctl(writing.fileno(), _ficlone, reading.fileno())
            shared = True
        except OSError:
            _copy_bytes(reading.fileno(), writing.fileno())
    shutil.copystat(source, target)
    return shared


def copy_afresh(source: Path, target: Path) -> bool:
    """The same, where something may be there already; nothing is done where that is the copy."""
    if is_copy_of(target, source):
        return False
    target.unlink(missing_ok=True)
    return copy_file(source, target)


def is_copy_of(one: Path, other: Path) -> bool:
    """By size and time of change, which copies keep and writing changes."""
    try:
        a, b = one.stat(), other.stat()
    except OSError:
        return False
    return a.st_size == b.st_size and a.st_mtime_ns == b.st_mtime_ns


def same_content(one: Path, other: Path) -> bool:
    """Byte by byte: times can be set by any program. Of pipes nothing is read, since that waits."""
    try:
        if not (one.is_file() and other.is_file()):
            return False
        with one.open("rb") as a, other.open("rb") as b:
            if os.fstat(a.fileno()).st_size != os.fstat(b.fileno()).st_size:
                return False
            while piece := a.read(_piece_bytes):
                if piece != b.read(_piece_bytes):
                    return False
            return True
    except OSError:
        return False


def is_closed_beside(error: OSError) -> bool:
    """Nothing can be made beside a file, or renamed over it: a folder that may not be written, a
    file that is mounted by itself. It may be written all the same."""
    return error.errno in _closed_beside


def write_into(source: Path, target: Path) -> None:
    """For a file that has to stay the same one (it has other names), or that nothing can be renamed
    over. Content alone; until it is done half a file stands there."""
    with suppress(PermissionError):  # it may be somebody else's, who lets us write
        target.chmod(target.stat().st_mode | stat.S_IRUSR | stat.S_IWUSR)
    with source.open("rb") as reading, target.open("r+b") as writing:
        shutil.copyfileobj(reading, writing, _piece_bytes)
        writing.truncate()


def cut_ties(file: Path, folders: Iterable[Path], beside: Path) -> None:
    """What below these folders is another name of a file becomes a copy, made under the name
    `beside`: the file is about to be written into."""
    if file.stat().st_nlink < 2:
        return
    for folder in folders:
        for name in list(folder.rglob("*")):
            if name.is_symlink() or not name.is_file() or not name.samefile(file):
                continue
            with suppress(PermissionError):
                name.chmod(name.stat().st_mode | stat.S_IRUSR)
            beside.unlink(missing_ok=True)
            copy_file(name, beside)
            beside.replace(name)


def link_or_copy(source: Path, target: Path) -> None:
    """Another name for what is not changed any more, or a copy on another file system."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        copy_file(source, target)


def _copy_bytes(reading: int, writing: int) -> None:
    """Holes become zeros that are stored only where the file system does so by itself."""
    size = os.fstat(reading).st_size
    at = 0
    while at < size:
        try:
            done = os.copy_file_range(reading, writing, size - at)
        except OSError:
            if at:
                raise
            break
        if done == 0:
            break
        at += done
    if at < size:
        os.lseek(reading, at, os.SEEK_SET)
        os.lseek(writing, at, os.SEEK_SET)
        while piece := os.read(reading, _piece_bytes):
            view = memoryview(piece)
            while view:
                view = view[os.write(writing, view) :]
