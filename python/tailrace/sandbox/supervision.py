# SPDX-License-Identifier: Apache-2.0
"""A run that is watched: it ends by itself, or by its time limit, or before the disk is full."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tailrace import interrupts
from tailrace.errors import ExitCode, TailraceError
from tailrace.run.kinship import ends_with_parent
from tailrace.run.launcher import by_daemons, launchers
from tailrace.sandbox import landlock
from tailrace.sandbox.processes import Process, family, note_session
from tailrace.units import mib

_patience_s = 5.0
_look_s = 0.25
_held_s = 5.0  # a look that comes so late: not the program was stopped, but who looks
_pause_s = 0.02
_said_bytes = 1 << 16
_no_room = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))


@dataclass(frozen=True)
class Job:
    """What is to be run and where. prints: a folder for what it prints. stdin: None: nothing.
    least_free_bytes: of the file systems of both folders; below it the run is ended. writable:
    folders beneath which the program may write; None: anywhere. noted: a file that tells which
    processes are of it, as long as it is at work; None: nobody asks."""

    words: list[str]
    environment: Mapping[str, str]
    folder: Path
    prints: Path
    limit_s: float | None = None
    least_free_bytes: int = 0
    stdin: Path | None = None
    writable: Sequence[Path] | None = None
    noted: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """stopped: "", "limit" or "disk". began_ns: as files are dated. why_no_room: of a run that
    failed by itself, what shows that the disk was full. was_held: tune itself did not run for a
    while (Ctrl-Z, a batch system), so that nobody knows how long this took. has_left: the command
    had ended, and what was stopped is what it left in the background."""

    code: int
    elapsed_s: float
    stopped: str = ""
    began_ns: int = 0
    why_no_room: str = ""
    was_held: bool = False
    has_left: bool = False

    @property
    def words(self) -> str:
        if self.stopped == "limit" and self.has_left:
            return (
                "its time limit was over, and what it had left in the background was ended after "
                f"{self.elapsed_s:.1f} s"
            )
        if self.stopped == "limit":
            return f"its time limit was over, and it was ended after {self.elapsed_s:.1f} s"
        if self.why_no_room:
            return f"it failed for want of room: {self.why_no_room}"
        if self.stopped == "disk":
            return "it was ended before the disk was full"
        if self.code < 0:
            return f"it was ended by signal {-self.code}"
        return f"exit code {self.code}"


def supervised(job: Job) -> Outcome:
    """Runs to the end, without a terminal. Raises KeyboardInterrupt after a signal, when nothing
    of the run is left; before it, where one was swallowed by a library that calls back."""
    interrupts.check()
    job.prints.mkdir(parents=True, exist_ok=True)
    with (
        (job.prints / "stdout").open("wb") as out,
        (job.prints / "stderr").open("wb") as err,
        (job.stdin or Path(os.devnull)).open("rb") as given,
        _confining(job.writable) as confine,
    ):
        # A signal that came while the process is being made would leave it without anybody.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, interrupts.signals)
        try:
            started, began_ns = time.monotonic(), time.time_ns()
            process = _started(job, (given.fileno(), out.fileno(), err.fileno()), held, confine)
        except BaseException:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            raise
        watch = _Watch(process, job, started)
        try:
            if job.noted is not None:
                note_session(job.noted, process.pid)
            watch.start()
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            code = process.wait()
            elapsed = time.monotonic() - started
            has_left = _outlived(process.pid, watch)
            if has_left:  # work that goes on in the background counts
                elapsed = time.monotonic() - started
        except BaseException:
            end_all(process)
            raise
        finally:
            watch.finish()
            if job.noted is not None:
                job.noted.unlink(missing_ok=True)
    why = _why_no_room(job) if code and not watch.stopped else ""
    stopped = "disk" if why else watch.stopped
    return Outcome(code, elapsed, stopped, began_ns, why, watch.held_s > 0, has_left)


def _started(
    job: Job, streams: tuple[int, int, int], mask: set[int | signal.Signals],
    confine: Callable[[], None],
) -> subprocess.Popen[bytes]:  # fmt: skip
    """mask: of the signals that the program has blocked."""
    ends = ends_with_parent()

    def prepare() -> None:
        if ends is not None:
            ends()
        confine()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    try:
        return subprocess.Popen(
            job.words, cwd=job.folder, env=_environment(job),
            stdin=streams[0], stdout=streams[1], stderr=streams[2],
            start_new_session=True,  # ended by its group; and it has no terminal to wait for
            preexec_fn=prepare,  # noqa: PLW1509  (no thread runs here yet)
        )  # fmt: skip
    except subprocess.SubprocessError as error:
        raise TailraceError(
            "the program cannot be confined to its folder, and was not started",
            where=job.words[0], code=ExitCode.RUN_FAILED,
        ) from error  # fmt: skip
    except OSError as error:
        code = ExitCode.USAGE if isinstance(error, FileNotFoundError) else ExitCode.RUN_FAILED
        raise TailraceError(
            f"the program cannot be started: {error.strerror}", where=job.words[0], code=code,
            hint=_how_to_start(job.words[0], error),
        ) from error  # fmt: skip


def _how_to_start(program: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and Path(program).name in (*launchers, *by_daemons):
        return (
            "it is a launcher of MPI programs, and there is none of that name on PATH: load or "
            "install an MPI (tailrace doctor tells what it finds), or leave the launcher out"
        )
    return "what follows -- is run as it is, without a shell"


def _environment(job: Job) -> dict[str, str]:
    """PWD as a shell would have it: programs make names of it, and it must not lead elsewhere."""
    found = {**os.environ, **job.environment}
    if os.path.realpath(found.get("PWD", "")) != os.path.realpath(job.folder):
        found["PWD"] = str(job.folder)
    return found


@contextmanager
def _confining(writable: Sequence[Path] | None) -> Iterator[Callable[[], None]]:
    if writable is None:
        yield lambda: None
        return
    with landlock.confining(writable) as confine:
        yield confine


class _Watch:
    """Looks at the clock and the disk beside the run, which is waited for without a pause. held_s:
    how long nobody looked, since this process was stopped."""

    def __init__(self, process: subprocess.Popen[bytes], job: Job, started: float) -> None:
        self.stopped = ""
        self.held_s = 0.0
        self._process, self._job, self._started = process, job, started
        self._looked = started  # a stop that comes before the first look is one, too
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._waited():
            reason = self._reason()
            if reason and _is_at_work(self._process):  # else it has ended by itself
                self.stopped = reason
                end_all(self._process)
                return

    def _waited(self) -> bool:
        """Until the next look; whether the run is over."""
        is_over = self._over.wait(_look_s)
        # From look to look: wherever in between this process was stopped, it is counted.
        before, self._looked = self._looked, time.monotonic()
        late_s = self._looked - before - _look_s
        if late_s > _held_s:
            self.held_s += late_s
        return is_over

    def _reason(self) -> str:
        limit_s = self._job.limit_s
        if limit_s is not None and self._looked - self._started - self.held_s > limit_s:
            return "limit"
        return "disk" if _full_folders(self._job) else ""


def _is_at_work(process: subprocess.Popen[bytes]) -> bool:
    """Whether it, or something that it has started, is still there."""
    return Process.of(process.pid).is_there() or bool(family(process.pid))


def _full_folders(job: Job) -> list[Path]:
    """The working folder, and that of ours, which may lie on another file system."""
    found = []
    for folder in (job.folder, job.prints):
        with suppress(OSError):  # the program may have removed it
            if shutil.disk_usage(folder).free < job.least_free_bytes:
                found.append(folder)
    return found


def _why_no_room(job: Job) -> str:
    """What shows that a run which failed has had no room: what it said, as it may have removed its
    files since, or met a quota; "": nothing shows it."""
    with (job.prints / "stderr").open("rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _said_bytes))
        said = stream.read().decode("utf-8", "replace").lower()
    for words in _no_room:
        if words.lower() in said:
            return words
    full = _full_folders(job)
    return f"less than {mib(job.least_free_bytes)} are free in {full[0]}" if full else ""


def end_all(process: subprocess.Popen[bytes]) -> None:
    """Ends a run with everything that it has started: launchers hear SIGTERM first and end their
    ranks, which are in groups of their own; what is left is ended by its id."""
    started = family(process.pid)
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    _wait_for(process, started, _patience_s)
    for one in {*started, *family(process.pid)}:
        one.kill()
    with suppress(ProcessLookupError):
        process.kill()
    _wait_for(process, started, _patience_s)


def _wait_for(process: subprocess.Popen[bytes], started: list[Process], seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended = process.poll() is not None or not Process.of(process.pid).is_there()
        if ended and not any(one.is_there() for one in started):
            return
        time.sleep(_pause_s)


def _outlived(pid: int, watch: _Watch) -> bool:
    """Waits for what a program has left running when it ended; whether there was anything."""
    found = False
    while (left := family(pid)) and not watch.stopped:  # each may leave others behind
        found = True
        while any(one.is_there() for one in left) and not watch.stopped:
            time.sleep(_pause_s)
    return found
