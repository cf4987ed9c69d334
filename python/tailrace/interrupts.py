# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM, and SIGHUP of a terminal that is closed.

An exception that is raised while a library's callback runs can be swallowed there; so it is also
remembered, and raised again where the command comes by.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tailrace.errors import ExitCode

signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_received: list[int] = []
_held: list[bool] = []  # by whom signals are held; each: whether one came
_patient: list[bool] = []


def install() -> None:
    """The first signal interrupts, the third ends at once.

    A signal that is ignored (a command in the background, nohup) stays so.
    """
    _received.clear()
    sys.unraisablehook = _swallowed
    for number in signals:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _receive)


def ignore() -> None:
    """The command is ending because of one; more would only cut its last words short."""
    for number in signals:
        if signal.getsignal(number) is _receive:
            signal.signal(number, signal.SIG_IGN)


def forget() -> None:
    """What came is dealt with."""
    _received.clear()


def received() -> bool:
    return bool(_received)


def check() -> None:
    """Raises where an interrupt was swallowed."""
    if _received:
        raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """What is done within is done to its end; a signal that came meanwhile is raised afterwards,
    where nothing else is raised: that says more."""
    _held.append(False)
    try:
        yield
    except BaseException:
        _end_hold()
        raise
    if _end_hold():
        raise KeyboardInterrupt


def _end_hold() -> bool:
    """Whether a signal is to be raised now."""
    came = _held.pop()
    if came and _held:
        _held[-1] = True
    return came and not _held


@contextmanager
def patient() -> Iterator[None]:
    """Within, also the third signal only interrupts: there is something to be put back."""
    _patient.append(True)
    try:
        yield
    finally:
        _patient.pop()


def _swallowed(what: sys.UnraisableHookArgs) -> None:
    """An interrupt within a library's callback is remembered and raised later: nothing to be told
    with a traceback."""
    if not (_received and issubclass(what.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(what)


def _receive(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    if _held:
        _held[-1] = True
        return
    if len(_received) > 2 and not _patient:
        os._exit(ExitCode.INTERRUPTED)
    raise KeyboardInterrupt
