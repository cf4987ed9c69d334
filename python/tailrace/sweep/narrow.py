# SPDX-License-Identifier: Apache-2.0
"""An ever narrower sweep: which combinations to begin with, and which to give up."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tailrace import statistics
from tailrace.sweep.data import Case
from tailrace.sweep.plan import Combination

first_round = 2  # before, there is no interval
_near = 1.5  # times the best: what is expected to take less is worth a try
_hopeless_from = 2.0  # times the best, in the warm-up and in the first round


@dataclass(frozen=True)
class Dropped:
    """A combination that was given up after a round, and why."""

    name: str
    round: int
    why: str


def narrowed(cases: Sequence[Case], number: int) -> tuple[set[str], list[Dropped]]:
    """After a round: names of those that stay, and those that do not. The slower half goes, as far
    as each is worse than the best by the whole of its interval: what noise may have put there
    stays. Two stay in any case."""
    ordered = sorted(cases, key=lambda one: one.median_s)
    kept = [one.name for one in ordered]
    dropped = []
    for one in ordered[max(2, (len(ordered) + 1) // 2) :]:
        why = _hopeless(ordered[0], one) if number < first_round else _worse(ordered[0], one)
        if why:
            dropped.append(Dropped(one.name, number, why))
            kept.remove(one.name)
    return set(kept), dropped


def _hopeless(best: Case, one: Case) -> str:
    """After one round there is no interval; but what took many times as long twice has lost."""
    if best.warm_up_s is None or one.warm_up_s is None:
        return ""
    ratios = one.warm_up_s / best.warm_up_s, one.median_s / best.median_s
    if min(ratios) <= _hopeless_from:
        return ""
    return "{:.2f} times the time of the best in the warm-up, {:.2f} in the round".format(*ratios)


def _worse(best: Case, one: Case) -> str:
    """By the interval of the ratio."""
    shared = sorted(best.seconds.keys() & one.seconds.keys())
    if len(shared) < first_round:
        return ""
    base, other = [best.seconds[k] for k in shared], [one.seconds[k] for k in shared]
    low, high = statistics.median_ratio_interval(base, other)
    if low <= 1:
        return ""
    ratio = statistics.median_ratio(base, other)
    return f"{ratio:.2f} times the time of the best, {low:.2f} to {high:.2f}"


class Latin:
    """The first part of a sweep that is too long for its budget."""

    @staticmethod
    def affordable(budget_s: float, run_s: float, levels: int) -> int:
        """As many as half of the budget lets have a warm-up and two rounds: with fewer rounds
        there is no interval. In any case as many as the greatest number of values of a factor, so
        that each can be among them."""
        return max(2, levels, int(budget_s / 2 / (run_s * (1 + first_round))))

    @staticmethod
    def part(
        among: Sequence[Combination], most: int, seed: int, always: Combination
    ) -> list[Combination]:
        """At most so many, chosen one by one so that each value of each factor, and then each pair
        of values, is there as evenly as can be; ties by chance. In the order of `among`."""
        if len(among) <= most:
            return list(among)
        left = [one for one in among if one is not always]
        random.Random(f"{seed}/part").shuffle(left)
        chosen = [always]
        single: Counter[tuple[int, int]] = Counter(enumerate(always.places))
        pairs: Counter[tuple[object, object]] = Counter(_pairs(always))
        while len(chosen) < most:
            best = min(
                left,
                key=lambda one: (
                    sum(single[value] for value in enumerate(one.places)),
                    sum(pairs[pair] for pair in _pairs(one)),
                ),
            )
            left.remove(best)
            chosen.append(best)
            single.update(enumerate(best.places))
            pairs.update(_pairs(best))
        names = {one.name for one in chosen}
        return [one for one in among if one.name in names]


def promising(
    among: Sequence[Combination], cases: Mapping[str, Case], most: int
) -> list[tuple[Combination, float]]:
    """Combinations that have not run and that should be the fastest, with the seconds expected of
    them: what each value costs is taken from those that ran, as if it were the same beside all
    others. Those only that are expected to come near the best of those that ran."""
    ran = [one for one in among if one.name in cases and cases[one.name].seconds]
    levels = sorted({value for one in ran for value in enumerate(one.places)})
    if len(ran) < 2:
        return []

    def row(one: Combination) -> list[float]:
        return [1.0, *(float(one.places[at] == place) for at, place in levels)]

    times = np.log([cases[one.name].median_s for one in ran])
    solution = np.linalg.lstsq(np.array([row(one) for one in ran]), times, rcond=None)[0]
    # Of a value that has never run nothing is known.
    left = [one for one in among if one not in ran and set(enumerate(one.places)) <= set(levels)]
    expected = [(one, float(np.exp(np.array(row(one)) @ solution))) for one in left]
    bound = _near * float(np.exp(np.min(times)))
    return sorted((e for e in expected if e[1] < bound), key=lambda e: e[1])[:most]


def not_tried(
    among: Sequence[Combination], cases: Mapping[str, Case], given_up: Sequence[Dropped]
) -> list[Combination]:
    """Combinations of which there is no time: a budget was over before their first round."""
    gone = {one.name for one in given_up}
    measured = {name for name, case in cases.items() if case.seconds}
    return [one for one in among if one.name not in gone | measured]


def _pairs(one: Combination) -> list[tuple[object, object]]:
    values = list(enumerate(one.places))
    return [(a, b) for at, a in enumerate(values) for b in values[at + 1 :]]
