# SPDX-License-Identifier: Apache-2.0
"""Writing a file whole or not at all, and what is no file of its own in place."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.readable import readable


def is_stream(path: Path) -> bool:
    """Whether it is a device, a pipe or an open file of a process (`/dev/stdout`): such are written
    to and never replaced."""
    top, below = (*path.absolute().parts[1:3], "", "")[:2]
    try:
        kind = path.stat().st_mode
    except OSError:
        return False
    if top == "proc" or (top == "dev" and below != "shm"):
        return not stat.S_ISDIR(kind)
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def check_folder(folder: Path) -> None:
    """Raises TailraceError where no file can be made in it, before any work is done."""
    if not folder.is_dir():
        raise refused(folder, "there is no such folder", "make it first, or name another with -o")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise refused(
            folder, f"cannot be written: {error.strerror}", "name another folder"
        ) from error


def check_place(path: Path) -> None:
    """The same for the folder of a file, of that which a link leads to; streams need none."""
    if not is_stream(path):
        check_folder(path.resolve().parent)


def write_text(path: Path, text: str) -> None:
    """Under a temporary name, synced, then renamed; names in it that are not UTF-8 are escaped."""
    write_bytes(path, readable(text).encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Under a temporary name, synced, then renamed; links stay and lead to the new content."""
    if is_stream(path):
        _write_to(path, data)
        return
    if path.is_symlink():
        path = path.resolve()
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise lost(path, error) from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except OSError as error:
        raise lost(path, error) from error
    finally:
        part.unlink(missing_ok=True)


def _write_to(stream: Path, data: bytes) -> None:
    try:
        with stream.open("ab", buffering=0) as out:
            rest = memoryview(data)
            while rest:
                rest = rest[out.write(rest) or 0 :]
    except OSError as error:
        raise lost(stream, error) from error


def _umask() -> int:
    """What the files of this process are made with."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def lost(path: Path, error: OSError) -> TailraceError:
    """It was possible before the work, and is no longer."""
    return TailraceError(
        f"could not be written: {error.strerror}",
        where=str(path),
        hint="what was there before is untouched; make room, or name another file",
        code=ExitCode.RUN_FAILED,
    )


def refused(path: Path, what: str, hint: str) -> TailraceError:
    """It cannot be written, which is known before the work."""
    return TailraceError(what, where=str(path), hint=hint)
