# SPDX-License-Identifier: Apache-2.0
"""The memory that a process of this machine may have, as the hooks see it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


def _limits() -> Iterator[int]:
    """Those of the control groups, and of all that they lie in."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = Path("/sys/fs/cgroup", "memory" if controllers else "")
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        path = PurePosixPath(group)
        for one in (path, *path.parents):
            file = top / str(one).strip("/") / name
            if file.exists() and file.read_text().strip() != "max":
                yield int(file.read_text())


def memory_of_node() -> int:
    return min(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"), *_limits())
