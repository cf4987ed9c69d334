# SPDX-License-Identifier: Apache-2.0
"""Where runs work: a scratch folder for each, or the user's own, put right after each."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Left:
    """What a run has left. folder: where it is kept. altered: inputs that it wrote to by a link;
    strays: files that it made beside its inputs."""

    folder: Path
    written: list[str]
    removed: list[str]
    altered: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)


class Ground(Protocol):
    """folder: where the next run works. copies: files that it gets a copy of."""

    folder: Path
    copies: set[str]

    def fill(self) -> int:
        """Copies what has to be copied once; how many files share their blocks."""
        ...

    def begin(self) -> Path:
        """A fresh working folder."""
        ...

    def written(self) -> list[Path]:
        """Files that the run has written."""
        ...

    def end(self, name: str) -> Left:
        """Keeps what the run has left, under a name."""
        ...

    def read_files(self) -> list[Path]:
        """What runs may read."""
        ...

    def places(self) -> list[Path]:
        """Where the files of the working folder are while a run works."""
        ...

    def put_back(self) -> None:
        """Leaves the user's files as they were; what a tune needs to go on stays."""
        ...

    def close(self) -> None:
        """Leaves the user's files as they were, and nothing else."""
        ...
