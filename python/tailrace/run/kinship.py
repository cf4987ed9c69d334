# SPDX-License-Identifier: Apache-2.0
"""A child that does not outlive its parent, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_set_parent_death_signal = 1  # PR_SET_PDEATHSIG of <linux/prctl.h>


def ends_with_parent(number: int = signal.SIGTERM) -> Callable[[], None] | None:
    """For `preexec_fn`: the child gets a signal when its parent ends, by SIGKILL too.

    None where the system has no such thing. Everything is looked up here, before the fork: the
    child does nothing but two system calls.
    """
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return None
    parent = os.getpid()

    def ask() -> None:
        prctl(_set_parent_death_signal, number, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the system was asked
            os.kill(os.getpid(), number)

    return ask
