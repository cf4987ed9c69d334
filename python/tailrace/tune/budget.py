# SPDX-License-Identifier: Apache-2.0
"""How long a tune may take in all, from its first look at the folder on."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

least_s = 120.0
times_a_run = 15.0  # by default
_over = 0.1  # by which the last run may pass the end


class BudgetEnded(Exception):
    """The next run would end too late."""


@dataclass
class Budget:
    """seconds: in all; 0: so many times as long as a run, which start() is told. spent_s: by the
    runs of a tune that is gone on with. more_s: that are given besides, for a search.
    kept_back_s: for a run that has to be made in the end. is_default: nobody has given it."""

    seconds: float = 0.0
    spent_s: float = 0.0
    more_s: float = 0.0
    kept_back_s: float = 0.0
    began: float = field(default_factory=time.monotonic)
    is_default: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_default = not self.seconds

    def start(self, run_s: float) -> None:
        """After the run that was recorded."""
        if self.is_default:
            self.seconds = max(least_s, times_a_run * run_s)

    def hung(self, whole_s: float) -> None:
        """A run was ended at its limit, which no default reckons with."""
        if self.is_default:
            self.spent_s -= whole_s

    @property
    def all_s(self) -> float:
        return self.seconds + self.more_s

    @property
    def left_s(self) -> float:
        gone_s = self.spent_s + time.monotonic() - self.began
        return self.all_s - gone_s - self.kept_back_s

    def check(self, next_s: float) -> None:
        """Raises BudgetEnded: a run that takes so long would not end in time."""
        if self.seconds and next_s > self.left_s + _over * self.all_s:
            raise BudgetEnded

    @property
    def most_s(self) -> float | None:
        """What the next run may take at most; None: as long as it likes."""
        return max(1.0, self.left_s + _over * self.all_s) if self.seconds else None

    @property
    def words(self) -> str:
        """'2.0 minutes'."""
        return f"{self.all_s / 60:.3g} minutes"
