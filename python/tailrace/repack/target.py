# SPDX-License-Identifier: Apache-2.0
"""The new file: made as the old one was, but for what a plan sets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py
from h5py import h5f, h5g, h5p

from tailrace.errors import ExitCode, TailraceError
from tailrace.repack.survey import Survey

_versions = {
    "v18": "LIBVER_V18",
    "v110": "LIBVER_V110",
    "v112": "LIBVER_V112",
    "v114": "LIBVER_V114",
    "v200": "LIBVER_V200",
    "latest": "LIBVER_LATEST",
}
KEYS = {
    "libver_low", "libver_high", "alignment_bytes", "alignment_threshold_bytes",
    "meta_block_bytes", "file_space_strategy", "page_bytes",
}  # fmt: skip
"""Settings of a file that stay in it."""


def make(part: Path, source: h5py.File, found: Survey, settings: Mapping[str, Any]) -> Any:
    """The empty file that is there as `part` becomes an empty HDF5 file, open for writing."""
    return h5f.create(
        bytes(part), h5f.ACC_TRUNC, fcpl=_creation(source, settings),
        fapl=_access(source, found, settings),
    )  # fmt: skip


def abandon(made: Any, part: Path) -> None:
    """Closes a file that is not wanted any more.

    On a full disk HDF5 could not close it, would keep it, and crash at the end of the program. So
    its own room is given back first: what is left to write fits then.
    """
    with suppress(OSError):
        os.truncate(part, 0)
    with suppress(OSError, RuntimeError):  # the first error said more
        made.close()


def user_block_bytes(source: h5py.File) -> int:
    return int(source.id.get_create_plist().get_userblock())


def copy_user_block(path: Path, part: Path, length: int) -> None:
    """What stands before the file's own beginning, which belongs to somebody else."""
    with path.open("rb") as old, part.open("r+b") as new:
        left = length
        while left:
            data = old.read(min(left, 1 << 20))
            if not data:
                break
            new.write(data)
            left -= len(data)


def _creation(source: h5py.File, settings: Mapping[str, Any]) -> Any:
    creation = source.id.get_create_plist()
    root = h5g.open(source.id, b"/").get_create_plist()
    creation.set_link_creation_order(root.get_link_creation_order())
    creation.set_attr_creation_order(root.get_attr_creation_order())
    creation.set_attr_phase_change(*root.get_attr_phase_change())
    if "file_space_strategy" in settings:
        creation.set_file_space_strategy(h5f.FSPACE_STRATEGY_PAGE, False, 1)
    if "page_bytes" in settings:
        creation.set_file_space_page_size(settings["page_bytes"])
    return creation


def _access(source: h5py.File, found: Survey, settings: Mapping[str, Any]) -> Any:
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fclose_degree(h5f.CLOSE_STRONG)
    low, high = _oldest(source, found), h5f.LIBVER_LATEST
    if "libver_low" in settings:
        low = _version(settings["libver_low"])
    if "libver_high" in settings:
        high = _version(settings["libver_high"])
    access.set_libver_bounds(low, max(low, high))
    if "alignment_bytes" in settings:
        threshold = settings.get("alignment_threshold_bytes", 1)
        access.set_alignment(threshold, settings["alignment_bytes"])
    if "meta_block_bytes" in settings:
        access.set_meta_block_size(settings["meta_block_bytes"])
    return access


def _oldest(source: h5py.File, found: Survey) -> int:
    """The version of the format that the old file keeps to: its readers shall read the new one."""
    version = superblock_version(Path(source.filename), user_block_bytes(source))
    if version >= 3:
        return int(h5f.LIBVER_V110)
    if version == 2 or found.newest_header >= 2:
        return int(h5f.LIBVER_V18)
    return int(h5f.LIBVER_EARLIEST)


def superblock_version(path: Path, offset: int) -> int:
    with path.open("rb") as stream:
        stream.seek(offset + 8)
        return stream.read(1)[0]


def _version(name: str) -> int:
    constant = getattr(h5f, _versions[name], None)
    if constant is None:
        raise TailraceError(
            f"this HDF5 ({h5py.version.hdf5_version}) does not know the format {name}",
            where="libver_low, libver_high", code=ExitCode.CAPABILITY_MISSING,
        )  # fmt: skip
    return int(constant)
