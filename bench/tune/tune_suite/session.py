# SPDX-License-Identifier: Apache-2.0
"""A session: the machine and the build, and the file that its lines go into."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tailrace_bench.machine import Machine, turn

from .programs import Places

__all__ = ["begin", "turn"]


def begin(build: Path, folder: Path, pairs: int) -> tuple[Places, dict[str, Any]]:
    """Where everything lies, and the first line of the session."""
    machine = Machine(build, folder, build / "bench", 2)
    launcher = (machine.mpiexec, "--oversubscribe")
    head = {
        "schema": "tailrace-tune-suite/1",
        "session": time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime()),
        "settings": {"pairs": pairs, "where": str(folder)},
        "context": machine.context(),
    }
    return Places(machine.build, launcher), head
