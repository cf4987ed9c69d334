# SPDX-License-Identifier: Apache-2.0
"""The inputs of a job, before it waits in a queue."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.run.dry import dry_run
from tailrace.run.inputs import RunInputs, read_until_done


def self_contained(inputs: RunInputs, file: Path | None) -> RunInputs:
    """The lines of a file become standard input, which the script holds: the file may be another
    one when the job begins."""
    data = inputs.stdin
    words = inputs.arguments
    if data is None and file is not None:
        with file.open("rb") as stream:
            data = read_until_done(stream)
        bare = inputs.kernel.needs_inputs and not words[2:]
        words = [] if bare else ["--input", "-", *words[2:]]
    if data is None:
        return inputs
    if b"\0" in data:
        raise TailraceError("the lines hold a zero byte", where=str(file or "standard input"))
    *_, last = data.rstrip().split(b"\n")
    if last.split()[:1] != [b"DONE"]:
        data = data.rstrip(b"\n") + b"\nDONE\n"
    return replace(inputs, arguments=words, stdin=data)


def check_inputs(
    say: Callable[[str], None], path: Path, inputs: RunInputs, ranks: int, folder: Path
) -> None:
    """Lets the program look at its inputs, in the job's folder where that is there. It knows them
    all; raises its verdict. What it cannot do here (no MPI on this machine) is no verdict, and
    memory and disk are those of the nodes."""
    try:
        said = dry_run(
            path, ["--elsewhere", *inputs.arguments], ranks, {}, stdin=inputs.stdin or b"",
            folder=folder if folder.is_dir() else None,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"the inputs were not checked here: {error}")
        return
    if said.code == ExitCode.USAGE:
        first, _, hint = said.err.strip().partition("\n")
        raise TailraceError(
            first.removeprefix("tailrace: error: "),
            where="inputs",
            hint=f"{hint.strip().removeprefix('hint: ').rstrip('.')}; what is right on the nodes "
            "and wrong here goes with --no-check",
        )
    if said.code:
        say(f"the inputs were not checked here (exit code {said.code}): {_shortened(said.err)}")


def _shortened(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:2])[:300] or "without a word"


def text_of(data: bytes | None) -> str | None:
    return None if data is None else os.fsdecode(data)
