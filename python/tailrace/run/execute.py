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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

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
) -> Ended:
    """Runs to the end. `line` receives each line of standard output; None: it goes straight on.

    SIGINT, SIGTERM and SIGHUP are passed on, and the run is waited for: the program removes what
    it has left unfinished. Where this command is killed, the launcher gets a SIGTERM by the system.
    To be called by the main thread: its end is what the system looks at.
    """
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=None if line is None else subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        start_new_session=True,  # a Ctrl-C reaches this command alone, which passes it on
        preexec_fn=ends_with_parent(),  # noqa: PLW1509  (no thread runs here yet)
    )
    with _forwarded(process) as received:
        feeder = _feed(process, stdin)
        listener = _listen(process)
        if process.stdout is not None and line is not None:
            for got in process.stdout:
                line(got.decode("utf-8", "replace").rstrip("\n"))
        code = process.wait()
        for thread in (feeder, listener):
            if thread is not None:
                thread.join(timeout=2)
    elapsed = time.monotonic() - started
    if received:
        return Ended(128 + received[0], elapsed, received[0])
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


def _listen(process: subprocess.Popen[bytes]) -> threading.Thread | None:
    """Passes the error stream on as it comes."""
    stream = process.stderr
    if stream is None:
        return None

    def emit(line: str) -> None:
        sys.stderr.write(line)
        sys.stderr.flush()

    def pump() -> None:
        lines = io.TextIOWrapper(stream, "utf-8", "backslashreplace")
        with suppress(BrokenPipeError, ValueError), lines:
            forward_without_banners(lines, emit)

    thread = threading.Thread(target=pump, daemon=True)
    thread.start()
    return thread


@contextmanager
def _forwarded(process: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """Passes signals on; yields those received. Whoever does not end in time is ended."""
    received: list[int] = []
    timers: list[threading.Timer] = []

    def later(seconds: float, number: int) -> None:
        timer = threading.Timer(seconds, _signal_group, (process, number))
        timer.daemon = True
        timer.start()
        timers.append(timer)

    def forward(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            # Launchers know what SIGTERM means; a lost terminal is none of theirs.
            process.send_signal(signal.SIGTERM if number == signal.SIGHUP else number)
            later(_patience_s, signal.SIGTERM)
            later(2 * _patience_s, signal.SIGKILL)

    before = {number: signal.getsignal(number) for number in _passed_on}
    before = {key: handler for key, handler in before.items() if handler is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, forward)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for timer in timers:
            timer.cancel()


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
