# SPDX-License-Identifier: Apache-2.0
"""Runs a program under its launcher, and stays in charge of it until it has ended."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, Self

from tailrace.errors import ExitCode
from tailrace.run.kinship import ends_with_parent
from tailrace.run.noise import forward_without_banners

_passed_on = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_patience_s = 15.0
_known_codes = {int(code) for code in ExitCode}


@dataclass(frozen=True)
class Ended:
    """How a run ended; `signal_number` is set when this command was interrupted."""

    code: int
    elapsed_s: float
    signal_number: int = 0


def execute(
    command: list[str],
    *,
    stdin: bytes | None,
    environment: dict[str, str],
    line: Callable[[str], None] | None = None,
    told: set[str] | None = None,
) -> Ended:
    """Runs to the end. `line` receives each line of standard output; None: it goes straight on.
    `told`: warnings that were passed on, for several runs; each is passed on once.

    SIGINT, SIGTERM and SIGHUP are passed on, and the run is waited for: the program removes what
    it has left unfinished. Where this command is killed, the launcher gets a SIGTERM by the system.
    To be called by the main thread: its end is what the system looks at.
    """
    started = time.monotonic()
    # Before the start: a signal that came while it is made would leave a process without anybody.
    with _Forwarded() as forwarded:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=None if line is None else subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=True,  # a Ctrl-C reaches this command alone, which passes it on
            preexec_fn=ends_with_parent(),  # noqa: PLW1509  (no thread runs here yet)
        )
        forwarded.to(process)
        feeder = _feed(process, stdin)
        listener = _listen(process, told)
        if process.stdout is not None and line is not None:
            for got in process.stdout:
                line(got.decode("utf-8", "replace").rstrip("\n"))
        code = process.wait()
        for thread in (feeder, listener):
            if thread is not None:
                thread.join(timeout=2)
    elapsed = time.monotonic() - started
    if forwarded.received:
        number = forwarded.received[0]
        return Ended(128 + number, elapsed, number)
    return Ended(code if code in _known_codes else int(ExitCode.RUN_FAILED), elapsed)


def _feed(process: subprocess.Popen[bytes], data: bytes | None) -> threading.Thread | None:
    """Writes the input beside the reading of the output, so that neither waits for the other."""
    stream = process.stdin
    if stream is None or data is None:
        return None

    def write() -> None:
        # A program that ends before it has read everything says why by its exit code.
        with suppress(BrokenPipeError, ValueError), stream:
            stream.write(data)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def _listen(process: subprocess.Popen[bytes], told: set[str] | None) -> threading.Thread | None:
    """Passes the error stream on as it comes."""
    stream = process.stderr
    if stream is None:
        return None

    def emit(line: str) -> None:
        if told is not None and line.startswith("tailrace: warning: "):
            if line in told:
                return
            told.add(line)
        sys.stderr.write(line)
        sys.stderr.flush()

    def pump() -> None:
        lines = io.TextIOWrapper(stream, "utf-8", "backslashreplace")
        with suppress(BrokenPipeError, ValueError), lines:
            forward_without_banners(lines, emit)

    thread = threading.Thread(target=pump, daemon=True)
    thread.start()
    return thread


class _Forwarded:
    """Keeps the signals that come, and passes the first on as soon as there is a process. Who does
    not end in time is ended."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._timers: list[threading.Timer] = []
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        handlers = {number: signal.getsignal(number) for number in _passed_on}
        for number, handler in handlers.items():
            if handler is not signal.SIG_IGN:
                self._before[number] = handler
                signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        for timer in self._timers:
            timer.cancel()

    def to(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        if self.received and not self._timers:
            self._pass_on(process, self.received[0])

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self.received.append(number)
        if len(self.received) == 1 and self._process is not None:
            self._pass_on(self._process, number)

    def _pass_on(self, process: subprocess.Popen[bytes], number: int) -> None:
        # Launchers know what SIGTERM means; a lost terminal is none of theirs.
        process.send_signal(signal.SIGTERM if number == signal.SIGHUP else number)
        for seconds, harder in ((1, signal.SIGTERM), (2, signal.SIGKILL)):
            timer = threading.Timer(seconds * _patience_s, _signal_group, (process, harder))
            timer.daemon = True
            timer.start()
            self._timers.append(timer)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
