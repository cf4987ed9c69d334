# SPDX-License-Identifier: Apache-2.0
"""Combinations of a sweep by their time, and which of them noise keeps apart from the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tailrace import statistics
from tailrace.sweep.data import Case, Runs

trusted_rounds = 6  # an interval of fewer is too narrow (docs/user/statistics.md)


@dataclass(frozen=True)
class Ratio:
    """A time by another, with its 95 % interval; None for fewer pairs than can be trusted."""

    value: float
    interval: tuple[float, float] | None
    pairs: int

    @property
    def too_few(self) -> bool:
        return self.pairs < trusted_rounds

    @property
    def is_an_effect(self) -> bool:
        """Large enough to be called one, and not by chance alone: the interval leaves out 1, and
        is of enough pairs to be one."""
        if self.interval is None or self.too_few:
            return False
        low, high = self.interval
        large = abs(math.log(self.value)) >= math.log1p(statistics.effect)
        return large and (low > 1 or high < 1)


@dataclass(frozen=True)
class Ranked:
    """against: its time by that of the best in the same rounds; None for the best itself.
    among_best: nothing tells it from the best; None: too few rounds to tell."""

    place: int
    case: Case
    median_s: float
    interval_s: tuple[float, float] | None
    rate_bytes_per_s: float
    against: Ratio | None
    among_best: bool | None

    @property
    def stall_s(self) -> float | None:
        """Of a model, the median; None for other kernels."""
        found = [one.stall_s for one in self.case.records if one.stall_s is not None]
        return statistics.median(found) if found else None

    def as_json(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "name": self.case.name,
            "settings": {one.name: one.value for one in self.case.settings},
            "repetitions": len(self.case.values),
            "failed": len(self.case.failed),
            "seconds": self.case.values,
            "median_s": self.median_s,
            "interval_s": self.interval_s,
            "rate_bytes_per_s": self.rate_bytes_per_s,
            "stall_s": self.stall_s,
            "against_best": asdict(self.against) if self.against else None,
            "among_best": self.among_best,
        }


def ratio_of(base: Case, other: Case) -> Ratio | None:
    """Other by base, over the rounds that both have; None where there is none."""
    shared = sorted(base.seconds.keys() & other.seconds.keys())
    if not shared:
        return None
    return ratio([base.seconds[k] for k in shared], [other.seconds[k] for k in shared])


def ratio(base: Sequence[float], other: Sequence[float]) -> Ratio:
    """Over pairs."""
    enough = len(base) >= trusted_rounds
    interval = statistics.median_ratio_interval(base, other) if enough else None
    return Ratio(statistics.median_ratio(base, other), interval, len(base))


def ranking(runs: Runs) -> list[Ranked]:
    """The fastest first. The best is the fastest of those with at least half of the most
    repetitions: one that was given up early may only have been lucky."""
    measured = runs.measured
    if not measured:
        return []
    most = max(len(case.values) for case in measured)
    candidates = [case for case in measured if 2 * len(case.values) >= most]
    best = min(candidates, key=lambda c: c.median_s)
    rest = sorted((case for case in measured if case is not best), key=lambda c: c.median_s)
    found = []
    for place, case in enumerate([best, *rest], 1):
        against = None if case is best else ratio_of(best, case)
        found.append(
            Ranked(
                place, case, case.median_s, bootstrap_interval(case.values),
                statistics.median([_rate(runs, one) for one in case.records]),
                against,
                case is best or _alike(against),
            )
        )  # fmt: skip
    return found


def _alike(against: Ratio | None) -> bool | None:
    if against is None or against.too_few:
        return None
    return not (against.is_an_effect and against.value > 1)


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Of the median; None for fewer values than can be trusted."""
    if len(values) < trusted_rounds:
        return None
    return statistics.median_ratio_interval([1.0] * len(values), list(values))


def _rate(runs: Runs, record: object) -> float:
    return float(getattr(record, f"{runs.metric}_bytes_per_s"))
