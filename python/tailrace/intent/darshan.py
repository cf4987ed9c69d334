# SPDX-License-Identifier: Apache-2.0
"""Darshan logs as profiles.

PyDarshan's library can crash on a damaged log; it reads in a process of its own, so that this is an
error with the name of the log and nothing more.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tailrace import own_python
from tailrace.errors import ExitCode, TailraceError
from tailrace.intent.darshan_log import Json
from tailrace.intent.given_files import LOG, check_it_is_a_file


def read_darshan(logs: Sequence[Path], *, partial: bool = False) -> list[Json]:
    """The profile of each log, in their order.

    Args:
        logs: the files.
        partial: take what can be read of a damaged log, and note what is missing.

    Raises:
        TailraceError: a log cannot be read, or PyDarshan is not there.
    """
    for log in logs:
        check_it_is_a_file(log, LOG)
    words = [sys.executable, "-m", "tailrace.intent.darshan_child"]
    words += ["--partial"] * partial + [str(log) for log in logs]
    run = subprocess.run(
        words, capture_output=True, text=True, check=False, env=own_python.environment()
    )
    found: list[Json] = []
    for line in run.stdout.splitlines():
        one = json.loads(line)
        if "error" in one:
            told = one["error"]
            raise TailraceError(
                told["what"],
                where=told["where"],
                hint=told["hint"],
                code=ExitCode(told["exit_code"]),
            )
        found.append(one["profile"])
    if run.returncode < 0 and len(found) < len(logs):
        raise TailraceError(
            "the log is truncated or damaged: the library that reads it crashed "
            f"({signal.Signals(-run.returncode).name})",
            where=str(logs[len(found)]),
            hint="copy it anew, or wait until the job has ended",
        )
    if run.returncode != 0 or len(found) != len(logs):
        raise TailraceError(
            f"reading Darshan logs failed: {run.stderr.strip()[-300:] or 'no reason given'}",
            where=str(logs[min(len(found), len(logs) - 1)]),
            code=ExitCode.RUN_FAILED,
        )
    return found
