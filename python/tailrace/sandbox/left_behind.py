# SPDX-License-Identifier: Apache-2.0
"""Processes of a run whose tune was killed: the system ends only the first of them with it, and the
others go on writing. They are known by the session that was noted when the run began, and by the
folder for temporary files that no other program has been given."""

from __future__ import annotations

import json
import os
import platform
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError
from tailrace.sandbox import processes
from tailrace.sandbox.processes import Process

session = "session"  # in a scratch folder, while a run is at work
_boot = Path("/proc/sys/kernel/random/boot_id")
_patience_s, _pause_s = 5.0, 0.02


def note(file: Path, pid: int) -> None:
    """Of a run that has just begun. Not synced: it has to outlive us, and not the system."""
    run, tune = Process.of(pid), Process.of(os.getpid())
    with suppress(OSError):  # a full disk ends the run soon enough
        file.write_text(
            json.dumps({
                "boot": _boot_now(), "host": platform.node(), "session": run.pid,
                "start": run.start, "tune": [tune.pid, tune.start],
            })
        )  # fmt: skip


def elsewhere(file: Path) -> str:
    """The other machine that a run was at work on; "": none, or this one."""
    host = str(_noted(file).get("host", ""))
    return host if host != platform.node() else ""


def end(file: Path, temporary: str | None) -> list[int]:
    """Ends what is left; gives the numbers of the processes.

    Raises: it could not be ended, or may be somebody else's; or the tune itself is still at work.
    """
    noted = _noted(file)
    _check_is_gone(noted)
    ended: set[int] = set()
    until = time.monotonic() + _patience_s
    while left := _left(noted, temporary):
        surely = [one for one, is_sure in left.items() if is_sure]
        if not surely or time.monotonic() > until:
            raise _still_there(sorted(one.pid for one in left))
        for one in surely:
            one.kill()
            ended.add(one.pid)
        time.sleep(_pause_s)
    file.unlink(missing_ok=True)
    return sorted(ended)


def _left(noted: dict[str, Any], temporary: str | None) -> dict[Process, bool]:
    """Whether each is surely of that run. Where the first process of the session is gone, its
    number may have been given again."""
    found: dict[Process, bool] = {}
    if "session" in noted:
        leader = Process(noted["session"], noted["start"])
        now = Process.of(leader.pid)  # also one that has ended and waits to be taken leave of
        if now == leader or now.start < 0:
            found |= dict.fromkeys(processes.of_session(leader), now == leader)
    if temporary:
        found |= dict.fromkeys(processes.with_variable(f"TMPDIR={temporary}"), True)
    return found


def _noted(file: Path) -> dict[str, Any]:
    """Of this start of the system, and nothing of an earlier one or of another machine."""
    try:
        noted: dict[str, Any] = json.loads(file.read_text())
    except (OSError, ValueError):  # none was at work, or it was killed while this was written
        return {}
    return noted if noted["boot"] == _boot_now() else {"host": noted["host"]}


def _boot_now() -> str:
    try:
        return _boot.read_text().strip()
    except OSError:
        return ""


def _check_is_gone(noted: dict[str, Any]) -> None:
    """Where the file system has locks they have told it already."""
    tune = Process(*noted.get("tune", (-1, -1)))
    if tune.pid != os.getpid() and tune.is_there():
        raise TailraceError(
            f"another tune is at work in this folder: process {tune.pid}", where="tune",
            hint="wait for it, or give this one a folder of its own with -o",
        )  # fmt: skip


def _still_there(pids: list[int]) -> TailraceError:
    return TailraceError(
        "processes that a killed run has left may still write to your files: "
        + " ".join(map(str, pids)),
        where="tune", code=ExitCode.RUN_FAILED,
        hint="see what they are (ps), end them, and give the command again",
    )  # fmt: skip
