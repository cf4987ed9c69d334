# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM.

An exception that is raised while a library's callback runs can be swallowed there; so it is also
remembered, and raised again where the command comes by.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

from tailrace.errors import ExitCode

_received: list[int] = []


def install() -> None:
    """The first signal interrupts, the third ends at once.

    A signal that is ignored (a command in the background, nohup) stays so.
    """
    _received.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _receive)


def received() -> bool:
    return bool(_received)


def check() -> None:
    """Raises where an interrupt was swallowed."""
    if _received:
        raise KeyboardInterrupt


def _receive(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    if len(_received) > 2:
        os._exit(ExitCode.INTERRUPTED)
    raise KeyboardInterrupt
