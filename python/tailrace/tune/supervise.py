# SPDX-License-Identifier: Apache-2.0
"""A run that is watched: it ends by itself, or by its time limit, or before the disk is full."""

from __future__ import annotations

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
from tailrace.tune import landlock
from tailrace.tune.processes import Process, family

_patience_s = 5.0
_look_s = 0.25
_pause_s = 0.02


@dataclass(frozen=True)
class Job:
    """What is to be run and where. prints: a folder for what it prints. stdin: None: nothing.
    least_free_bytes: of the working folder's file system; below it the run is ended. writable:
    folders beneath which the program may write; None: anywhere."""

    words: list[str]
    environment: Mapping[str, str]
    folder: Path
    prints: Path
    limit_s: float | None = None
    least_free_bytes: int = 0
    stdin: Path | None = None
    writable: Sequence[Path] | None = None


@dataclass(frozen=True)
class Outcome:
    """stopped: "", "limit" or "disk". began_ns: as files are dated."""

    code: int
    elapsed_s: float
    stopped: str = ""
    began_ns: int = 0

    @property
    def words(self) -> str:
        if self.stopped == "limit":
            return f"its time limit was over, and it was ended after {self.elapsed_s:.1f} s"
        if self.stopped == "disk":
            return "it was ended before the disk was full"
        if self.code < 0:
            return f"it was ended by signal {-self.code}"
        return f"exit code {self.code}"


def supervised(job: Job) -> Outcome:
    """Runs to the end, without a terminal. Raises KeyboardInterrupt after a signal, when nothing
    of the run is left."""
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
            watch.start()
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            code = process.wait()
            elapsed = time.monotonic() - started
            if _outlived(process.pid, watch):  # work that goes on in the background counts
                elapsed = time.monotonic() - started
        except BaseException:
            end_all(process)
            raise
        finally:
            watch.finish()
    return Outcome(code, elapsed, watch.stopped, began_ns)


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
    """Looks at the clock and the disk beside the run, which is waited for without a pause."""

    def __init__(self, process: subprocess.Popen[bytes], job: Job, started: float) -> None:
        self.stopped = ""
        self._process, self._job, self._started = process, job, started
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(_look_s):
            reason = self._reason()
            if reason:
                self.stopped = reason
                end_all(self._process)
                return

    def _reason(self) -> str:
        job = self._job
        if job.limit_s is not None and time.monotonic() - self._started > job.limit_s:
            return "limit"
        with suppress(OSError):  # the program may have removed the folder
            if shutil.disk_usage(job.folder).free < job.least_free_bytes:
                return "disk"
        return ""


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
