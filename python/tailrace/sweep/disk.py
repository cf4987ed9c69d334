# SPDX-License-Identifier: Apache-2.0
"""Room on the disk: a sweep stops before the disk is full, not because of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.run.fresh import FreshRun
from tailrace.units import mib

# Metadata, alignment and what others write meanwhile.
_share = 1.1
_rest_bytes = 64 << 20
_hint = "make room and continue with --resume, or write less (time, domain) or elsewhere (filename)"


class NoRoom(TailraceError):
    """A disk is full, or as good as."""


def several(folders: Iterable[Path]) -> bool:
    """Whether they are on different file systems, so that one being full says nothing of others."""
    return len({folder.stat().st_dev for folder in folders}) > 1


def check_room(folder: Path, needed_bytes: int) -> None:
    """Raises NoRoom where a file of that size would leave too little of the disk."""
    free = shutil.disk_usage(folder).free
    wanted = int(needed_bytes * _share) + _rest_bytes
    if free < wanted:
        raise NoRoom(
            f"the next run writes {mib(needed_bytes)} and wants {mib(wanted)} of free space, but "
            f"{mib(free)} are left",
            where=str(folder),
            hint=_hint,
            code=ExitCode.RUN_FAILED,
        )


def check_not_full(folder: Path, ran: FreshRun) -> None:
    """Raises NoRoom where the run met the end of the disk: others have filled it."""
    if any(one["error"] and one["error"]["code"] == "no_space" for one in ran.records):
        raise NoRoom(ran.why, where=str(folder), hint=_hint, code=ExitCode.RUN_FAILED)
