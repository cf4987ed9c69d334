# SPDX-License-Identifier: Apache-2.0
"""Files that our own words go to: they grow meanwhile, and no run has to do with them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.sandbox.ledger import Ledger

_fact = "streams"


def ours(ledger: Ledger) -> set[Path]:
    """Of this process, and of those that this tune was begun or gone on with before."""
    known = {Path(name) for name in ledger.known(_fact) or []}
    found = known | of_this_process()
    if found != known:
        with suppress(TailraceError):  # a full disk: files of the user may still be put back
            ledger.note(_fact, sorted(map(str, found)))
    return found


def of_this_process() -> set[Path]:
    """Standard output and error; where they go through pipes, what the readers write (`tee`)."""
    return _behind(Path("/proc/self"), set())


def _behind(process: Path, pipes: set[str]) -> set[Path]:
    found: set[Path] = set()
    for number in (1, 2):
        with suppress(OSError):
            there = str((process / "fd" / str(number)).readlink())
            if not there.startswith("pipe:"):
                found |= {Path(there)} if process.name == "self" or Path(there).is_file() else set()
            elif there not in pipes:
                pipes.add(there)
                for reader in _readers(there):
                    found |= _named_and_written(reader) | _behind(reader, pipes)
    return found


def _readers(pipe: str) -> list[Path]:
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            with suppress(OSError):  # gone, or somebody else's
                if str((process / "fd/0").readlink()) == pipe:
                    found.append(process)
    return found


def _named_and_written(process: Path) -> set[Path]:
    """Files that its command names and that it only writes to; others are its own affair."""
    found: set[Path] = set()
    with suppress(OSError):
        home = (process / "cwd").readlink()
        words = (process / "cmdline").read_bytes().split(b"\0")
        named = {os.path.realpath(home / os.fsdecode(word)) for word in words[1:] if word}
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):
                file = descriptor.readlink()
                flags = (process / "fdinfo" / descriptor.name).read_text().split("flags:")[1]
                only_written = int(flags.split()[0], 8) & os.O_ACCMODE == os.O_WRONLY
                if only_written and file.is_file() and str(file) in named:
                    found.add(file)
    return found
