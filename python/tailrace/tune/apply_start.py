# SPDX-License-Identifier: Apache-2.0
"""What `tailrace apply` takes to start, beside what a plan saves: the times of a tune are those of
the program alone."""

from __future__ import annotations

import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tailrace import own_python

_most_s = 1.0  # of a start, on a slow machine
_worth_saying = 0.1  # of what a plan saves


def start_note(plan: Path, saved_s: float, *, is_collective: bool) -> str:
    """Measured by runs of a command that does nothing; "": little of what the plan saves."""
    if saved_s * _worth_saying > _most_s:
        return ""
    start_s = statistics.median(_start_s(plan) for _ in range(3))
    if start_s < saved_s * _worth_saying:
        return ""
    left = f"{saved_s - start_s:.2g} s of the {saved_s:.2g} s that the plan saves are left"
    if start_s >= saved_s:
        left = f"that is more than the {saved_s:.2g} s that the plan saves in so short a run"
    words = f"`tailrace apply` itself takes {start_s:.2g} s to start, beside these times: {left}"
    if is_collective:
        return words
    once = f'eval "$(tailrace env {shlex.quote(str(plan))})"'
    return f"{words}. `{once}`, once in the shell, costs no run anything"


def _start_s(plan: Path) -> float:
    began = time.monotonic()
    command = [sys.executable, "-m", "tailrace", "apply", str(plan), "--", "true"]
    subprocess.run(
        command, cwd=plan.parent, env=own_python.environment(), capture_output=True, check=False
    )
    return time.monotonic() - began
