# SPDX-License-Identifier: Apache-2.0
"""Times and efficiencies over the ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tailrace import statistics
from tailrace.sweep.data import Case, Runs
from tailrace.sweep.ranking import bootstrap_interval, ratio_of

weak, strong = "weak", "strong"


@dataclass(frozen=True)
class Point:
    """efficiency: of the first point 1. weak: its time by this one's; strong: that by the ranks
    as well; both by the bytes. oversubscribed: more ranks than cores, so its time tells of waiting
    for a core."""

    ranks: int
    case: Case
    median_s: float
    interval_s: tuple[float, float] | None
    rate_bytes_per_s: float
    logical_bytes: int
    efficiency: float
    efficiency_interval: tuple[float, float] | None
    oversubscribed: bool

    def as_json(self) -> dict[str, Any]:
        found = {key: value for key, value in vars(self).items() if key != "case"}
        return {**found, "seconds": self.case.values}


def curve(runs: Runs, mode: str) -> list[Point]:
    """By rising ranks. Times are those that were measured: data of weak scaling grows."""
    cases = sorted(runs.measured, key=ranks_of_case)
    return [_point(runs, cases[0], case, mode) for case in cases]


def ranks_of_case(case: Case) -> int:
    return int(next(one.value for one in case.settings if one.name == "ranks"))


def _point(runs: Runs, first: Case, case: Case, mode: str) -> Point:
    """Record times are per equal bytes in `Runs`; here they are the real ones."""
    record = case.records[0]
    ranks, context = ranks_of_case(case), record.settings.context
    measured = real_seconds(runs, case)
    found = ratio_of(_real(runs, case), _real(runs, first))
    share = _share(first, case, mode)
    interval = found.interval if found else None
    rates = [getattr(one, f"{runs.metric}_bytes_per_s") for one in case.records]
    return Point(
        ranks, case, statistics.median(measured), bootstrap_interval(measured),
        statistics.median(rates), record.logical_bytes or 0,
        (found.value if found else 1.0) * share,
        (interval[0] * share, interval[1] * share) if interval and case is not first else None,
        context["ranks_per_node"] > context["cores"],
    )  # fmt: skip


def _share(first: Case, case: Case, mode: str) -> float:
    """What a rank of this case has to do, of what one of the first has: by bytes, since a domain
    that the ranks do not divide is not all written."""
    ranks, ranks_first = ranks_of_case(case), ranks_of_case(first)
    done, done_first = case.records[0].logical_bytes, first.records[0].logical_bytes
    if done and done_first:
        return done / ranks / (done_first / ranks_first)
    return ranks_first / ranks if mode == strong else 1.0


def real_seconds(runs: Runs, case: Case) -> list[float]:
    """In the order of the rounds."""
    return _real(runs, case).values


def _real(runs: Runs, case: Case) -> Case:
    seconds = {
        one.arm.round: (one.logical_bytes or 0) / getattr(one, f"{runs.metric}_bytes_per_s")
        for one in case.records if one.arm is not None
    }  # fmt: skip
    return Case(case.name, case.settings, seconds, case.records)
