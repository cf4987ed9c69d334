# SPDX-License-Identifier: Apache-2.0
"""The processes that a run has started, as the system tells them: to wait for, or to end, exactly
those."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_system = Path("/proc")
_ended = {"Z", "X"}


@dataclass(frozen=True)
class Process:
    """start: in ticks since the system began; a number is given again, with another start."""

    pid: int
    start: int

    @staticmethod
    def of(pid: int) -> Process:
        """The process of this number by now."""
        found = _stat(pid)
        return Process(pid, found.start if found else -1)

    def is_there(self) -> bool:
        found = _stat(self.pid)
        return found is not None and found.start == self.start and found.state not in _ended

    def kill(self) -> None:
        if self.is_there():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)


@dataclass(frozen=True)
class _Stat:
    state: str
    parent: int
    session: int
    start: int


def family(pid: int) -> list[Process]:
    """Those below a process, and those of its session, of which it may be gone; not itself.

    A process that makes a session of its own and whose parent is gone cannot be told any more.
    """
    known = _all()
    children: dict[int, list[int]] = {}
    for one, stat in known.items():
        children.setdefault(stat.parent, []).append(one)
    found = {one for one, stat in known.items() if stat.session == pid}
    waiting = [pid, *found]
    while waiting:
        new = [one for one in children.get(waiting.pop(), []) if one not in found]
        found.update(new)
        waiting += new
    return [
        Process(one, known[one].start)
        for one in sorted(found - {pid})
        if known[one].state not in _ended
    ]


def _all() -> dict[int, _Stat]:
    names = (int(entry.name) for entry in _system.iterdir() if entry.name.isdigit())
    return {pid: stat for pid in names if (stat := _stat(pid)) is not None}


def _stat(pid: int) -> _Stat | None:
    """None where there is no such process."""
    try:
        text = (_system / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return _Stat(fields[0], int(fields[1]), int(fields[3]), int(fields[19]))
