# SPDX-License-Identifier: Apache-2.0
"""What the user asks of a tune."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.intent import proof

Document = dict[str, Any]
longest_s = 3600.0


@dataclass(frozen=True)
class Asked:
    """output: the folder of the results. scratch: where runs work, below it unless named. allow:
    classes of rules beside safe and layout. linked: patterns of files that are only read.
    limit_s: None: the first runs may take longest_s, later ones some times what those took.
    allow_outside: folders that runs may write to. budget_minutes: for all runs; 0: so many times as
    long as the program runs. version: of tailrace, whose rules these
    are."""

    command: list[str]
    home: Path
    output: Path
    scratch: Path
    limit_s: float | None = None
    allow: tuple[str, ...] = ()
    rules: tuple[Path, ...] = ()
    declared: tuple[Path, ...] = ()
    linked: tuple[str, ...] = ()
    stdin: Path | None = None
    is_cold: bool = False
    in_place: bool = False
    allow_outside: tuple[Path, ...] = ()
    search_minutes: float = 0.0
    budget_minutes: float = 0.0
    version: str = ""

    @property
    def most_s(self) -> float:
        """What one run may take, as long as nothing is known of others."""
        return longest_s if self.limit_s is None else self.limit_s

    @property
    def state(self) -> Path:
        """Where what is needed to go on is kept."""
        return self.output / "state"

    def as_fact(self) -> Document:
        """What makes it the same tune: only then a killed one is gone on with."""
        return {
            "argv": self.command,
            "home": str(self.home),
            "scratch": str(self.scratch),
            "allow": sorted(self.allow),
            "rules": [str(file) for file in self.rules],
            "declared": [str(file) for file in self.declared],
            "linked": list(self.linked),
            "stdin": str(self.stdin) if self.stdin else None,
            "cold": self.is_cold,
            "in_place": self.in_place,
            "allow_outside": [str(folder) for folder in self.allow_outside],
            "search": self.search_minutes,
            "version": self.version,
            "files": self._given_files(),
        }

    def _given_files(self) -> list[Document]:
        """What the plan and each run come from, beside the command: by content."""
        stdin = [self.stdin] if self.stdin else []
        return proof.files_of([], [*self.rules, *self.declared, *stdin])


@dataclass
class Verdict:
    """kept, nothing_to_gain, no_verdict or not_proven; and why, as a sentence."""

    name: str
    reason: str
    notes: list[str] = field(default_factory=list)
