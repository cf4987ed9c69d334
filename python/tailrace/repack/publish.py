# SPDX-License-Identifier: Apache-2.0
"""The new file under its name: whole and synced, or not at all; and what is looked at before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.units import mib
from tailrace.whole_files import check_folder, refused


@dataclass(frozen=True)
class Stamp:
    """What changes when somebody writes a file or puts another one in its place."""

    device: int
    inode: int
    size: int
    modified_ns: int


def stamp(path: Path) -> Stamp:
    about = path.stat()
    return Stamp(about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)


def part_of(target: Path) -> Path:
    return target.with_name(target.name + ".part")


def check_places(path: Path, target: Path) -> None:
    """Before any work: whether the new file can be made where it shall be.

    Raises:
        TailraceError: something is there that would be lost, or the place cannot be written.
    """
    check_folder(target.parent)
    part = part_of(target)
    if part.exists() or part.is_symlink():
        raise _part_there(part)
    if target != path:
        if target.exists() or target.is_symlink():
            raise refused(target, "is there already", "name another file with -o, or remove it")
        return
    if path.stat().st_nlink > 1:
        raise refused(
            path, "has other names (hard links), which would keep the old file",
            "write to another file with -o",
        )  # fmt: skip
    if not os.access(path, os.W_OK):
        raise refused(path, "may not be written", "write to another file with -o")


def check_nobody_writes(path: Path) -> None:
    """Raises where a process of this machine has the file open for writing (that can be seen)."""
    wanted = path.stat()
    for process, descriptor in _descriptors():
        try:
            about = descriptor.stat()
            if (about.st_dev, about.st_ino) != (wanted.st_dev, wanted.st_ino):
                continue
            flags = (process / "fdinfo" / descriptor.name).read_text().split("flags:")[1].split()[0]
        except (OSError, IndexError):
            continue
        if int(flags, 8) & os.O_ACCMODE != os.O_RDONLY:
            raise refused(
                path, f"is open for writing by process {process.name}",
                "wait until it is closed",
            )  # fmt: skip


def _descriptors() -> Iterator[tuple[Path, Path]]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            for descriptor in (process / "fd").iterdir():
                yield process, descriptor


def check_space(target: Path, need_bytes: int) -> None:
    """Raises where the new file does not fit beside the old one."""
    free = shutil.disk_usage(target.parent).free
    if free < need_bytes:
        raise TailraceError(
            f"the new file needs about {mib(need_bytes)}, and {mib(free)} are free",
            where=str(target.parent), code=ExitCode.RUN_FAILED,
            hint="make room, or write to another disk with -o",
        )  # fmt: skip


@contextmanager
def reserved(part: Path) -> Iterator[None]:
    """An empty file of that name, for its owner only. Whatever ends the work early, it is gone
    again: its space too, if a library keeps it open.

    Raises:
        TailraceError: something has that name already; it stays.
    """
    foreign = False
    try:
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            foreign = True
            raise _part_there(part) from None
        yield
    except BaseException:
        if not foreign:
            with suppress(OSError):
                if part.stat().st_nlink == 1:  # else it has its name already
                    os.truncate(part, 0)
                part.unlink()
        raise


def _part_there(part: Path) -> TailraceError:
    hint = "another repack is at work, or one was killed: then remove it"
    return refused(part, "is there already", hint)


def keep_owner(path: Path, part: Path, in_place: bool) -> None:
    """Mode and extended attributes of the old file for the new one; in its place the owner too."""
    about = path.stat()
    here = part.stat()
    if in_place and (about.st_uid, about.st_gid) != (here.st_uid, here.st_gid):
        try:
            os.chown(part, about.st_uid, about.st_gid)
        except OSError as error:
            raise TailraceError(
                f"its owner cannot be kept: {error.strerror}", where=str(path),
                hint="let the owner do it, or write to another file with -o",
            ) from error  # fmt: skip
    for name in os.listxattr(path):
        with suppress(OSError):
            os.setxattr(part, name, os.getxattr(path, name))
    part.chmod(about.st_mode & 0o7777)


def publish(path: Path, seen: Stamp, part: Path, target: Path) -> None:
    """Syncs the part and gives it its name, if the old file is still what was read."""
    with part.open("rb") as stream:
        os.fsync(stream.fileno())
    check_nobody_writes(path)
    check_unchanged(path, seen)
    if target == path:
        part.replace(target)
    else:  # a link fails where somebody has put a file there meanwhile
        try:
            os.link(part, target)
        except FileExistsError:
            raise refused(target, "is there already", "name another file with -o") from None
        except OSError:  # a file system without hard links
            part.replace(target)
        part.unlink(missing_ok=True)
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def check_unchanged(path: Path, seen: Stamp) -> None:
    if not path.exists() or stamp(path) != seen:
        raise TailraceError(
            "was changed while it was repacked; it stays as it is now", where=str(path),
            hint="repack it when nothing writes it", code=ExitCode.RUN_FAILED,
        )  # fmt: skip
