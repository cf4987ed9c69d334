# SPDX-License-Identifier: Apache-2.0
"""The one door to the statistics, which are compiled (src/core/statistics.hpp): summaries,
intervals and verdicts. What they mean: docs/user/statistics.md."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import comb
from types import ModuleType
from typing import Any, Literal

from tailrace.native import core, missing

Better = Literal["smaller", "larger"]
Values = Sequence[float]

looks = (6, 10, 16)  # numbers of pairs at which a verdict may fall
effect = 0.03  # medians nearer to each other than that are never called different
error_rate = 0.05


@dataclass(frozen=True)
class Summary:
    count: int
    min: float
    p25: float
    median: float
    mean: float
    p75: float
    max: float


@dataclass(frozen=True)
class Comparison:
    """Of pairs that ran next to each other, or (`interleaved` False) of two samples without pairs.

    ratio: candidate / baseline; of pairs the median of their ratios, else the ratio of the medians.
    interval: of it, 95 %; None for fewer than two values. verdict: faster, slower,
    no_difference_beyond_noise, more_pairs_needed, no_verdict; not interleaved: faster_or_drift,
    slower_or_drift, no_difference_beyond_noise, no_verdict. pairs: that were looked at.
    """

    interleaved: bool
    baseline_count: int
    candidate_count: int
    pairs: int | None
    ratio: float
    interval: tuple[float, float] | None
    p_faster: float
    p_slower: float
    p_needed: float
    verdict: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def summarize(values: Values) -> Summary:
    """Zeros for no values."""
    return Summary(**_core().summarize(list(values)))


def percentile(values: Values, percent: float) -> float:
    """With linear interpolation between order statistics; raises ValueError for no values."""
    return float(_core().percentile(list(values), percent))


def median(values: Values) -> float:
    return percentile(values, 50)


def median_interval(values: Values) -> tuple[float, float] | None:
    """95 % interval of the median of one sample: the k-th smallest and the k-th greatest value,
    k as large as the binomial distribution allows, whatever the noise is. Not compiled.

    None below six values, where not even smallest and greatest hold it often enough (1 - 2 / 2^n).
    """
    ordered = sorted(values)
    rank = _rank_of_interval(len(ordered))
    return (ordered[rank - 1], ordered[-rank]) if rank else None


def bootstrap_intervals(
    count: int, figures: Callable[[Sequence[int]], Sequence[float]], draws: int = 999
) -> list[tuple[float, float]]:
    """95 % bootstrap intervals of figures that are computed from `count` rounds: they are drawn
    with replacement, and `figures` gets their places. The seed is fixed. Not compiled: it is for
    figures that the core does not know, such as the parts of a fitted model."""
    generator = random.Random(20260101)
    drawn = [figures([generator.randrange(count) for _ in range(count)]) for _ in range(draws)]
    return [
        (percentile(values, 2.5), percentile(values, 97.5)) for values in zip(*drawn, strict=True)
    ]


def wilcoxon_greater(differences: Values) -> float:
    """p of the exact one-sided signed-rank test for differences above 0."""
    return float(_core().wilcoxon_greater(list(differences)))


def rank_sum_greater(values: Values, others: Values) -> float:
    """p of the one-sided rank-sum test (Mann-Whitney) for values above the others."""
    return float(_core().rank_sum_greater(list(values), list(others)))


def median_ratio(baseline: Values, candidate: Values) -> float:
    """Median of candidate / baseline over pairs."""
    return median([b / a for a, b in zip(baseline, candidate, strict=True)])


def median_ratio_interval(baseline: Values, candidate: Values) -> tuple[float, float]:
    """95 % bootstrap interval of the median of candidate / baseline, of at least two pairs."""
    low, high = _core().median_ratio_interval(list(baseline), list(candidate))
    return low, high


def unpaired_ratio_interval(baseline: Values, candidate: Values) -> tuple[float, float]:
    """95 % bootstrap interval of median(candidate) / median(baseline), at least two of each."""
    low, high = _core().unpaired_ratio_interval(list(baseline), list(candidate))
    return low, high


def compare(baseline: Values, candidate: Values, better: Better) -> Comparison:
    """Decides on pairs at the looks. better: smaller for times, larger for rates."""
    found = _core().compare(
        list(baseline), list(candidate), better, list(looks), error_rate, effect
    )
    return _of_pairs(found, len(baseline), baseline, candidate)


def compare_checked(
    same_first: Values, same_second: Values, baseline: Values, candidate: Values, better: Better
) -> Comparison:
    """The same after A against A (`same_first`, `same_second`): no verdict where that differs."""
    found = _core().compare_checked(
        list(same_first), list(same_second), list(baseline), list(candidate), better, list(looks),
        error_rate, effect,
    )  # fmt: skip
    return _of_pairs(found, len(baseline), baseline, candidate)


def compare_unpaired(baseline: Values, candidate: Values, better: Better) -> Comparison:
    """Two samples that were not made in pairs; what differs may also be the machine's drift."""
    found = _core().compare_unpaired(list(baseline), list(candidate), better, error_rate, effect)
    return Comparison(
        interleaved=False,
        pairs=None,
        ratio=found.pop("median_ratio"),
        **found,
    )


def _rank_of_interval(count: int) -> int:
    """The greatest k for which fewer than k values lie below the median with p <= 0.025; exact up
    to 1000 values, by the normal curve beyond. 0: none."""
    if count > 1000:
        return int(count / 2 - 0.98 * count**0.5)
    tail, rank = 0.0, 0
    while rank < count:
        tail += comb(count, rank) / 2.0**count
        if tail > 0.025:
            break
        rank += 1
    return rank


def _of_pairs(found: dict[str, Any], count: int, baseline: Values, candidate: Values) -> Comparison:
    """Before the first look the core says nothing of the ratio; here it is that of all pairs."""
    looked_at = found.pop("pairs")
    ratio, interval = found.pop("median_ratio"), found.pop("interval")
    if looked_at == 0:
        ratio = median_ratio(baseline, candidate) if count else 1.0
        interval = median_ratio_interval(baseline, candidate) if count > 1 else None
    return Comparison(
        interleaved=True,
        baseline_count=count,
        candidate_count=count,
        pairs=looked_at,
        ratio=ratio,
        interval=interval,
        **found,
    )


def _core() -> ModuleType:
    found = core()
    if found is None or not hasattr(found, "compare_unpaired"):
        what = "is not there" if found is None else "is of an older tailrace"
        raise missing(f"the compiled helper _core, which holds the statistics, {what}")
    return found
