# SPDX-License-Identifier: Apache-2.0
"""Which format a file has, and opening it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify import raw_layout
from tailrace.verify.model import Tree

Skip = Callable[[str], bool]
greatest_cache_bytes = 512 << 20  # unpacked chunks of one dataset
_hdf5_signature = b"\x89HDF\r\n\x1a\n"


def format_of(path: Path) -> str:
    """`hdf5`, `classic` or `raw`.

    Raises: exit code 2 where there is no such file, 3 where it is none of these.
    """
    try:
        if path.is_dir():
            raise TailraceError("is a folder, not a file", where=str(path))
        with path.open("rb") as file:
            head = file.read(8)
            size = file.seek(0, 2)
            offset = 0
            while offset + 8 <= size:  # HDF5 allows a block of the user's before its signature
                file.seek(offset)
                if file.read(8) == _hdf5_signature:
                    return "hdf5"
                offset = max(512, 2 * offset)
        if head[:3] == b"CDF":
            return "classic"
        if raw_layout.has_trailer(path) or raw_layout.looks_like_manifest(path):
            return "raw"
    except OSError as error:
        raise TailraceError(
            f"cannot be opened: {os.strerror(error.errno or 0)}", where=str(path), hint=_hint(path)
        ) from error
    what = "empty (0 bytes)" if size == 0 else "neither HDF5, netCDF nor a complete raw container"
    raise TailraceError(
        what,
        where=str(path),
        hint="a file that was cut off also looks like this; was the run that wrote it finished?",
        code=ExitCode.VERIFICATION_FAILED,
    )


def open_tree(
    path: Path, skip: Skip = lambda _path: False, cache_bytes: int = greatest_cache_bytes
) -> Tree:
    """Opens a file of any known format for reading, without the paths that `skip` says yes to."""
    kind = format_of(path)
    if kind == "raw":
        from tailrace.verify.raw_tree import RawTree

        return RawTree(path, skip)
    if kind == "classic":
        from tailrace.verify.classic_header import check_length
        from tailrace.verify.classic_tree import ClassicTree

        check_length(path)
        return ClassicTree(path, skip)
    from tailrace.verify.hdf5_tree import Hdf5Tree

    return Hdf5Tree(path, skip, cache_bytes)


def _hint(path: Path) -> str:
    try:
        return _better_name(path) or "check the name and the permissions"
    except OSError:  # such as a name that is too long
        return "check the name and the permissions"


def _better_name(path: Path) -> str:
    part = path.with_name(path.name + ".part")
    if not path.exists() and part.exists():
        return f"{part.name} is there: the run that writes it is not finished, or was interrupted"
    if path.parent.is_dir() and not path.exists():
        from difflib import get_close_matches

        near = get_close_matches(path.name, [file.name for file in path.parent.iterdir()], 1, 0.75)
        if near:
            return f'did you mean "{path.parent / near[0]}"?'
    return ""
