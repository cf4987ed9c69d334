# SPDX-License-Identifier: Apache-2.0
"""One of several sets of inputs for a kernel that are run side by side: of a comparison, a sweep.

Every run of one gets a fresh folder, so `filename` and `results` are given to it anew each time.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.run.inputs import RunInputs, gather
from tailrace.run.kernels import Kernel, seism
from tailrace.run.launcher import Launch


@dataclass(frozen=True)
class Variant:
    """words: the inputs, without `filename` and `results`."""

    words: list[str]
    filename: Path
    launch: Launch

    def arguments(self, folder: Path, results: Path) -> list[str]:
        return [*self.words, f"filename={folder / self.filename.name}", f"results={results}"]

    def command(self, program: Path, folder: Path, results: Path) -> list[str]:
        return [*self.launch.words, str(program), *self.arguments(folder, results)]


def gathered(words: list[str], kernel: Kernel = seism) -> RunInputs:
    """With the environment, and nothing on standard input."""
    return gather(words, None, io.BytesIO(), kernel=kernel)


def joined(
    common: Sequence[str], own: Sequence[str], without: Collection[str] = ("results",)
) -> list[str]:
    """A key of one's own takes the place of the common one; hints are joined name by name.
    without: keys of the common ones that are left out in any case."""
    keys = {key_of(word) for word in own} | set(without)
    return [*(word for word in common if key_of(word) not in keys), *own]


def key_of(word: str) -> str:
    """`chunk` of `chunk=8x8x8`, `hint=cb_nodes` of `hint=cb_nodes=2`."""
    key, _, value = word.partition("=")
    return f"hint={value.partition('=')[0]}" if key == "hint" else key


def variant(words: list[str], inputs: RunInputs, launch: Launch) -> Variant:
    filename = inputs.path("filename", inputs.kernel.fresh_name)
    if not filename.name:
        filename /= inputs.kernel.fresh_name
    return Variant([word for word in words if key_of(word) != "filename"], filename, launch)
