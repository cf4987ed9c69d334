# SPDX-License-Identifier: Apache-2.0
"""The text of a job script: what every scheduler's has in common."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.submit.request import Request


@dataclass(frozen=True)
class Work:
    """What the job runs, in its own folder.

    program and words: what is started on all ranks, or once where it starts them itself (`once`).
    stdin: lines for its standard input, None for none.
    """

    kernel: str
    folder: Path
    program: list[str]
    words: list[str]
    stdin: str | None
    results: str
    once: bool = False

    @property
    def name(self) -> str:
        return f"tailrace-{self.kernel}"


def script(directives: Sequence[str], context: str, start: str, request: Request, work: Work,
           version: str) -> str:  # fmt: skip
    """directives: lines for the scheduler. context: shell lines that tell where the job runs.
    start: the shell function `start`, which puts a command on all ranks."""
    return "\n".join(
        [
            "#!/bin/sh",
            *directives,
            f"# Written by `tailrace submit` ({version}).",
            "set -eu",
            "",
            f"folder={shlex.quote(str(work.folder))}",
            'mkdir -p "$folder"',
            'cd "$folder"',
            *_striping(request),
            "",
            context,
            'echo "started: $(date -u +%Y-%m-%dT%H:%M:%SZ)"',
            "df -P .",
            # For the log alone: without a launcher MPI may fail to start, now and then.
            f"{shlex.join(work.program)} --version || :",
            "",
            f"results={shlex.quote(work.results)}",
            'size() { if [ -f "$results" ]; then wc -c <"$results"; else echo 0; fi; }',
            "before=$(size)",
            *([] if work.once else [start]),
            "",
            "code=0",
            _run(work),
            "",
            _check,
            'echo "ended: $(date -u +%Y-%m-%dT%H:%M:%SZ), exit code $code"',
            "printf 'Records: %s\\n' \"$results\"",
            'exit "$code"',
            "",
        ]
    )


# Seen with srun: the ranks could not be started, and its exit code was 0.
_check = """\
if [ "$code" -eq 0 ] && [ "$(size)" -le "$before" ]; then
    echo "tailrace: error: the exit code is 0, but no Record came: nothing was run" >&2
    echo "       hint: see what the launcher said above; --launcher names another." >&2
    code=1
fi"""


def _striping(request: Request) -> list[str]:
    """New files of the folder are striped so. It may lie elsewhere than on Lustre by mistake."""
    words = []
    if request.stripe_count is not None:
        words += ["-c", str(request.stripe_count)]
    if request.stripe_size_bytes is not None:
        words += ["-S", str(request.stripe_size_bytes)]
    if not words:
        return []
    command = " ".join(["lfs setstripe", *words, "."])
    return [
        "if command -v lfs >/dev/null; then",
        f"    if ! {command}; then",
        f'        echo "tailrace: error: {command} failed: is the run folder on Lustre?" >&2',
        '        echo "       hint: give --run-folder on Lustre, or no --stripe option." >&2',
        "        exit 1",
        "    fi",
        "    lfs getstripe -d .",
        "else",
        '    echo "tailrace: there is no lfs here: the striping stays as it is" >&2',
        "fi",
    ]


def _run(work: Work) -> str:
    words = ("" if work.once else "start ") + shlex.join([*work.program, *work.words])
    if work.stdin is None:
        return f"{words} </dev/null || code=$?"
    end = _end_mark(work.stdin)
    return f"{words} <<'{end}' || code=$?\n{work.stdin.removesuffix(chr(10))}\n{end}"


def _end_mark(text: str) -> str:
    """A line that the text does not have."""
    lines = set(text.split("\n"))
    mark = "END_OF_INPUT"
    while mark in lines:
        mark += "_"
    return mark
