# SPDX-License-Identifier: Apache-2.0
"""What the file of a program says about whether libraries can be preloaded into it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

_magic = b"\x7fELF"
_program_interpreter = 3  # PT_INTERP
_most_bytes = 1 << 24
_most_script_bytes = 1 << 20
# In a shell, and in Python.
_sets_preload = re.compile(rb"LD_PRELOAD[\"']?\]?\s*=(?!=)|unset\s+.*\bLD_PRELOAD")
_keeps_preload = re.compile(rb"\$\{?LD_PRELOAD|=.*environ.*LD_PRELOAD")
_sanitizers = (b"libasan.so", b"libtsan.so", b"libhwasan.so")


def programs_in(words: list[str]) -> Iterator[Path]:
    """The compiled programs that a command names: a launcher, and what it starts."""
    for word in words:
        found = shutil.which(word) if os.sep not in word else word
        if found and is_compiled(Path(found)):
            yield Path(found)


def replaces_preload(words: list[str]) -> Iterator[Path]:
    """The scripts that a command names and that set LD_PRELOAD without what it was before."""
    for word in words:
        path, text = _file_named(word)
        if b"\0" not in text and any(map(_replaces, text.splitlines())):
            yield path


def _file_named(word: str) -> tuple[Path, bytes]:
    """The file that a word of a command names, and how it begins; a word need not name any."""
    try:
        path = Path(word)
        if not path.is_file():
            path = Path(shutil.which(word) or "")
        if not path.is_file():
            return path, b""
        with path.open("rb") as file:
            return path, file.read(_most_script_bytes)
    except OSError:
        return Path(), b""


def _replaces(line: bytes) -> bool:
    code = line.strip()
    if code.startswith(b"#") or not _sets_preload.search(code):
        return False
    return not _keeps_preload.search(code)


def is_compiled(path: Path) -> bool:
    """Whether a file is a program or library for the loader."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(4) == _magic
    except OSError:
        return False


def why_no_preload(path: Path, environment: Mapping[str, str] = os.environ) -> str:
    """Why nothing can be preloaded into a program, as the end of a sentence; "" where it can."""
    try:
        status = path.stat()
        with path.open("rb") as file:
            content = file.read(_most_bytes)
    except OSError:
        return ""
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
        return "changes its user or group, and the system preloads nothing into such programs"
    if not _has_interpreter(content):
        return "is linked statically"
    ordered = "verify_asan_link_order=0" in environment.get("ASAN_OPTIONS", "")
    if not ordered and any(name in content for name in _sanitizers):
        return "was built with a sanitizer, which wants to be loaded first"
    return ""


def _has_interpreter(content: bytes) -> bool:
    if len(content) < 64 or content[4] != 2:
        return True  # of 32 bits, or not understood: the loader decides
    order = "<" if content[5] == 1 else ">"
    (table,) = struct.unpack_from(order + "Q", content, 32)
    size, count = struct.unpack_from(order + "HH", content, 54)
    for number in range(count):
        at = table + number * size
        if at + 4 > len(content):
            return True
        (kind,) = struct.unpack_from(order + "I", content, at)
        if kind == _program_interpreter:
            return True
    return False
