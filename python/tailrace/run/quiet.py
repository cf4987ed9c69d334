# SPDX-License-Identifier: Apache-2.0
"""A machine at rest before a measured run: no run pays for what the one before left behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

_quiet_bytes = 16 << 20
_pause_s = 0.1


def settle(limit_s: float = 30) -> bool:
    """Writes back what is dirty, and waits until less than 16 MiB are, at most `limit_s` seconds.
    False where that was not reached, or the system does not tell."""
    os.sync()
    end = time.monotonic() + limit_s
    while (dirty := _dirty_bytes()) is not None:
        if dirty < _quiet_bytes:
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(_pause_s)
    return False


def _dirty_bytes() -> int | None:
    """Dirty and in writeback; None where it is not known."""
    dirty, writeback = meminfo_bytes("Dirty"), meminfo_bytes("Writeback")
    return None if dirty is None or writeback is None else dirty + writeback


def meminfo_bytes(name: str) -> int | None:
    """A line of /proc/meminfo; None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}[name]
    except (OSError, KeyError, ValueError, IndexError):
        return None
