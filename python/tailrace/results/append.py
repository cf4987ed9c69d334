# SPDX-License-Identifier: Apache-2.0
"""Appends Records as the programs do it: whole lines under a lock, synced."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.results.model import Json

_patience_s = 10.0
_pause_s = 0.02


def append_records(file: Path, records: Iterable[Json]) -> None:
    """Raises TailraceError where they cannot be stored. A half-written line that a killed program
    has left is closed off first."""
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records).encode()
    try:
        with file.open("ab+") as stream:
            _lock(stream.fileno(), file)
            stream.seek(0, os.SEEK_END)
            if stream.tell() > 0:
                stream.seek(-1, os.SEEK_END)
                text = text if stream.read(1) == b"\n" else b"\n" + text
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise TailraceError(
            f"the results cannot be written: {os.strerror(error.errno or 0)}",
            where=str(file),
            hint="choose another results file (results=FILE), or make room",
            code=ExitCode.RUN_FAILED,
        ) from error


def _lock(descriptor: int, file: Path) -> None:
    """Where the file system has no locks, appending has to do."""
    end = time.monotonic() + _patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() >= end:
                raise TailraceError(
                    f"another process has held the lock of the results file for {_patience_s:.0f} "
                    "s",
                    where=str(file),
                    hint="end that process (`fuser` names it), or choose another results file",
                    code=ExitCode.RUN_FAILED,
                ) from error
            time.sleep(_pause_s)
        except OSError:
            return
