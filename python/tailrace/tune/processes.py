# SPDX-License-Identifier: Apache-2.0
"""The processes below one, as the system tells them: to end exactly those."""

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

    def is_there(self) -> bool:
        found = _stat(self.pid)
        return found is not None and found[1] == self.start and found[2] not in _ended

    def kill(self) -> None:
        if self.is_there():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    found = _stat(pid)
    return found is not None and found[2] not in _ended


def below(pid: int) -> list[Process]:
    """Children and their children; not `pid` itself."""
    children: dict[int, list[Process]] = {}
    for entry in _system.iterdir():
        if entry.name.isdigit() and (found := _stat(int(entry.name))) is not None:
            parent, start, _ = found
            children.setdefault(parent, []).append(Process(int(entry.name), start))
    family: list[Process] = []
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            family.append(child)
            waiting.append(child.pid)
    return family


def _stat(pid: int) -> tuple[int, int, str] | None:
    """Parent, start and state; None where there is no such process."""
    try:
        text = (_system / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return int(fields[1]), int(fields[19]), fields[0]
