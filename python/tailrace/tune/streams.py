# SPDX-License-Identifier: Apache-2.0
"""Files that our own words go to: they grow meanwhile, and no run has to do with them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tailrace.tune.ledger import Ledger

_fact = "streams"


def ours(ledger: Ledger) -> set[Path]:
    """Of this process, and of those that this tune was begun or gone on with before."""
    known = {Path(name) for name in ledger.known(_fact) or []}
    found = known | of_this_process()
    if found != known:
        ledger.note(_fact, sorted(map(str, found)))
    return found


def of_this_process() -> set[Path]:
    """Standard output and error; where they go through a pipe, what its reader writes (`tee`)."""
    found: set[Path] = set()
    for number in (1, 2):
        with suppress(OSError):
            there = Path(f"/proc/self/fd/{number}").readlink()
            found |= _beyond(str(there)) if str(there).startswith("pipe:") else {there}
    return found


def _beyond(pipe: str) -> set[Path]:
    found: set[Path] = set()
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            with suppress(OSError):  # gone, or somebody else's
                if str((process / "fd/0").readlink()) == pipe:
                    found |= _written_by(process)
    return found


def _written_by(process: Path) -> set[Path]:
    found = set()
    for descriptor in (process / "fd").iterdir():
        with suppress(OSError):
            file = descriptor.readlink()
            flags = (process / "fdinfo" / descriptor.name).read_text().split("flags:")[1].split()[0]
            if file.is_file() and int(flags, 8) & os.O_ACCMODE != os.O_RDONLY:
                found.add(file)
    return found
