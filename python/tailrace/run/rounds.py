# SPDX-License-Identifier: Apache-2.0
"""What commands that make many runs have in common: how long they take, how far they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tailrace import statistics


@dataclass(frozen=True)
class HowFar:
    """of: runs that are to be made, those done included. left_s: None: not known."""

    done: int
    of: int
    text: str
    left_s: float | None


@dataclass
class Pace:
    """How long runs take, to say how long the rest will. Seconds by the name of what ran."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, seconds: float) -> None:
        self.seconds.setdefault(name, []).append(seconds)

    def of(self, name: str) -> float | None:
        """Of one run; of one that never ran that of the others."""
        known = self.seconds.get(name)
        known = known or [one for each in self.seconds.values() for one in each]
        return statistics.median(known) if known else None

    def of_all(self, names: Iterable[str]) -> float | None:
        """Of one run of each."""
        each = [self.of(name) for name in names]
        return sum(one for one in each if one is not None) if None not in each else None
