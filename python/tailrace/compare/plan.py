# SPDX-License-Identifier: Apache-2.0
"""What `tailrace compare --run` is going to run: two sets of inputs for one kernel."""

from __future__ import annotations

import io
import secrets
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.results import Selection
from tailrace.run import programs
from tailrace.run.execute import execute
from tailrace.run.inputs import RunInputs, gather
from tailrace.run.launcher import Launch, launch_for

_default_name = "out"


@dataclass(frozen=True)
class Variant:
    """A or B. words: its inputs, without `filename` and `results`, which every run gets anew."""

    words: list[str]
    filename: Path
    launch: Launch

    def arguments(self, folder: Path, results: Path) -> list[str]:
        name = self.filename.name or _default_name
        return [*self.words, f"filename={folder / name}", f"results={results}"]


@dataclass(frozen=True)
class Plan:
    """comparison: the name under which the Records are kept."""

    kernel: str
    program: Path
    a: Variant
    b: Variant
    results: Path
    comparison: str

    def command(self, variant: Variant, folder: Path, results: Path) -> list[str]:
        arguments = variant.arguments(folder, results)
        return [*variant.launch.words, str(self.program), *arguments]

    def selection(self, arm: str) -> Selection:
        return Selection(self.results, (("comparison", self.comparison), ("arm", arm)))


def make_plan(
    kernel: str, program: Path, a: str, b: str, common: list[str], ranks: int | None, launcher: str
) -> Plan:
    """Raises TailraceError for inputs that are none; what they mean the program has to say."""
    mpi = programs.mpi_library(program)
    if "-" in common:
        raise TailraceError("inputs of a comparison are words, not standard input", where="compare")
    results = _gathered(common or ["results=results.jsonl"]).path("results", "results.jsonl")
    variants = []
    for name, text in (("A", a), ("B", b)):
        own = _split(name, text)
        words = _joined(common, own)
        if not words:
            raise TailraceError("there are no inputs", where=f"side {name}", hint=_hint)
        inputs = _gathered(words)
        count = ranks or inputs.ranks() or 1  # where there is no number the program says why
        variants.append(_variant(words, inputs, launch_for(mpi, count, launcher)))
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return Plan(
        kernel, program, variants[0], variants[1], results, f"{stamp}-{secrets.token_hex(3)}"
    )


def check_inputs(plan: Plan) -> int:
    """The programs look at both sets of inputs before anything is run; they say what is wrong.
    The exit code of the first that does not like them."""
    for variant in (plan.a, plan.b):
        words = variant.arguments(variant.filename.parent, plan.results)
        ended = execute(
            [str(plan.program), "--dry-run", *words],
            stdin=None,
            environment=variant.launch.environment,
            line=lambda _line: None,
        )
        if ended.code:
            return ended.code
    return 0


_hint = 'for example tailrace compare --run "chunk=64x64x64" "collective_write" -- seism time=4 ...'


def _gathered(words: list[str]) -> RunInputs:
    """With the environment, and nothing on standard input."""
    return gather(words, None, io.BytesIO())


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


def _joined(common: Sequence[str], own: Sequence[str]) -> list[str]:
    """A key of one's own takes the place of the common one."""
    keys = {word.partition("=")[0] for word in own} | {"results"}
    return [*(word for word in common if word.partition("=")[0] not in keys), *own]


def _variant(words: list[str], inputs: RunInputs, launch: Launch) -> Variant:
    filename = inputs.path("filename", _default_name)
    without = [word for word in words if word.partition("=")[0] != "filename"]
    return Variant(without, filename, launch)
