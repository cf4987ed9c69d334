# SPDX-License-Identifier: Apache-2.0
"""What `tailrace compare --run` is going to run: two sets of inputs for one kernel."""

from __future__ import annotations

import secrets
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.results import Selection
from tailrace.run import programs
from tailrace.run.execute import execute
from tailrace.run.kernels import kernels
from tailrace.run.launcher import launch_for
from tailrace.run.variant import Variant, gathered, joined, variant


@dataclass(frozen=True)
class Plan:
    """comparison: the name under which the Records are kept."""

    kernel: str
    program: Path
    a: Variant
    b: Variant
    results: Path
    comparison: str

    def command(self, side: Variant, folder: Path, results: Path) -> list[str]:
        return side.command(self.program, folder, results)

    def selection(self, arm: str) -> Selection:
        return Selection(self.results, (("comparison", self.comparison), ("arm", arm)))


def make_plan(
    kernel: str, program: Path, a: str, b: str, common: list[str], ranks: int | None, launcher: str
) -> Plan:
    """Raises TailraceError for inputs that are none; what they mean the program has to say."""
    mpi = programs.mpi_library(program)
    if "-" in common:
        raise TailraceError("inputs of a comparison are words, not standard input", where="compare")
    results = gathered(common or ["results=results.jsonl"], kernels[kernel]).path(
        "results", "results.jsonl"
    )
    variants = []
    for name, text in (("A", a), ("B", b)):
        own = _split(name, text)
        words = joined(common, own)
        if not words:
            raise TailraceError("there are no inputs", where=f"side {name}", hint=_hint)
        inputs = gathered(words, kernels[kernel])
        count = (
            ranks or inputs.ranks() or kernels[kernel].usual_ranks() or 1
        )  # where there is no number the program says why
        variants.append(variant(words, inputs, launch_for(mpi, count, launcher)))
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return Plan(
        kernel, program, variants[0], variants[1], results, f"{stamp}-{secrets.token_hex(3)}"
    )


def check_inputs(plan: Plan) -> int:
    """The programs look at both sets of inputs before anything is run; they say what is wrong.
    The exit code of the first that does not like them."""
    for side in (plan.a, plan.b):
        words = side.arguments(side.filename.parent, plan.results)
        ended = execute(
            [str(plan.program), "--dry-run", *words],
            stdin=None,
            environment=side.launch.environment,
            line=lambda _line: None,
        )
        if ended.code:
            return ended.code
    return 0


_hint = 'for example tailrace compare --run "chunk=64x64x64" "collective_write" -- seism time=4 ...'


def _split(name: str, text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise TailraceError(f"{text!r}: {error}", where=f"side {name}", hint=_hint) from error
    for word in words:
        if word.startswith("-") or word.partition("=")[0] == "results":
            raise TailraceError(
                f'"{word}" is no input that can differ between A and B', where=f"side {name}",
                hint="give KEY=VALUE words in quotes; options and results=FILE come elsewhere",
            )  # fmt: skip
    return words
