# SPDX-License-Identifier: Apache-2.0
"""The processes that a run has started, as the system tells them: to wait for, or to end, exactly
those.

Where tune was killed the system ends only the first of them with it, and the others go on writing.
They are known by the session that was noted when the run began, and by the folder for temporary
files that no other program has been given.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError

session = "session"  # in a scratch folder, while a run is at work
_system = Path("/proc")
_boot = _system / "sys/kernel/random/boot_id"
_ended = {"Z", "X"}
_generations, _looks, _pause_s = 100, 3, 0.02
_patience_s = 5.0
_set_child_subreaper = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>
_not_of_runs: set[int] | None = None  # our children from before; None: orphans do not come to us


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


def adopt() -> None:
    """From now on processes whose parents are gone are ours, also those of a session of their own
    (setsid, daemons): so that they can be told from everybody else's, waited for and ended."""
    global _not_of_runs  # noqa: PLW0603  (it is of the process, as the system's own switch is)
    try:
        is_done = ctypes.CDLL(None).prctl(_set_child_subreaper, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return
    if is_done and _not_of_runs is None:
        own = os.getpid()
        _not_of_runs = {pid for pid, stat in _all().items() if stat.parent == own}


def family(pid: int) -> list[Process]:
    """Those below a process, those of its session, and orphans that have come to us, of which it
    may be gone; not itself."""
    for _ in range(_looks):
        if (found := _family(pid)) or not _has_children():
            return found
        time.sleep(_pause_s)
    return []


def _family(pid: int) -> list[Process]:
    """A process that ends while its child begins may leave neither in what is listed."""
    known = _all()
    found = {pid, *(one for one, stat in known.items() if stat.session == pid)}
    found.update(_orphans(pid, known))
    return [
        Process(one, known[one].start)
        for one in sorted(_with_those_below(found, known) - {pid})
        if known[one].state not in _ended
    ]


def _with_those_below(first: set[int], known: dict[int, _Stat]) -> set[int]:
    children: dict[int, list[int]] = {}
    for one, stat in known.items():
        children.setdefault(stat.parent, []).append(one)
    found, waiting = set(first), list(first)
    while waiting:
        new = [one for one in children.get(waiting.pop(), []) if one not in found]
        found.update(new)
        waiting += new
    return found


def of_session(leader: Process) -> list[Process]:
    """Those of a session, its leader too, and those below them; whoever began before the leader did
    is of another session of that number."""
    known = _all()
    found = {one for one, stat in known.items() if leader.pid in (one, stat.session)}
    return [
        Process(one, known[one].start)
        for one in sorted(_with_those_below(found, known))
        if known[one].state not in _ended and known[one].start >= leader.start
    ]


def with_variable(text: str) -> list[Process]:
    """Those that were started with this in their environment, as NAME=value; but not ourselves."""
    found = []
    for pid, stat in _all().items():
        try:
            words = (_system / str(pid) / "environ").read_bytes().split(b"\0")
        except OSError:  # somebody else's, or gone
            continue
        if os.fsencode(text) in words and pid != os.getpid() and stat.state not in _ended:
            found.append(Process(pid, stat.start))
    return found


def end_all_of_ours() -> None:
    """Ends what is left of runs, when nobody is to wait for it any more."""
    if _not_of_runs is None:
        return
    for _ in range(_generations):
        left = family(-1)
        if not left:
            return
        for one in left:
            one.kill()
        time.sleep(_pause_s)


def _has_children() -> bool:
    """Whether orphans may have come to us that were not seen, as the system says at once."""
    if _not_of_runs is None:
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _orphans(pid: int, known: dict[int, _Stat]) -> list[int]:
    """Our children but for `pid` and those from before: nothing else is started while a run is
    under way. The dead among them are taken leave of, for which they wait."""
    if _not_of_runs is None:
        return []
    own = os.getpid()
    ours = [
        one for one, stat in known.items()
        if stat.parent == own and one != pid and one not in _not_of_runs
    ]  # fmt: skip
    for one in ours:
        if known[one].state in _ended:
            with suppress(ChildProcessError):
                os.waitpid(one, os.WNOHANG)
    return ours


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


def note_session(file: Path, pid: int) -> None:
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


def end_noted(file: Path, temporary: str | None) -> list[int]:
    """Ends what is left; gives the numbers of the processes.

    Raises: it could not be ended, or may be somebody else's; or the tune itself is still at work.
    """
    noted = _noted(file)
    _check_is_gone(noted)
    ended: set[int] = set()
    until = time.monotonic() + _patience_s
    while left := _noted_and_left(noted, temporary):
        surely = [one for one, is_sure in left.items() if is_sure]
        if not surely or time.monotonic() > until:
            raise _still_there(sorted(one.pid for one in left))
        for one in surely:
            one.kill()
            ended.add(one.pid)
        time.sleep(_pause_s)
    file.unlink(missing_ok=True)
    return sorted(ended)


def _noted_and_left(noted: dict[str, Any], temporary: str | None) -> dict[Process, bool]:
    """Whether each is surely of that run. Where the first process of the session is gone, its
    number may have been given again."""
    found: dict[Process, bool] = {}
    if "session" in noted:
        leader = Process(noted["session"], noted["start"])
        now = Process.of(leader.pid)  # also one that has ended and waits to be taken leave of
        if now == leader or now.start < 0:
            found |= dict.fromkeys(of_session(leader), now == leader)
    if temporary:
        found |= dict.fromkeys(with_variable(f"TMPDIR={temporary}"), True)
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
