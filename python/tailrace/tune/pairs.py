# SPDX-License-Identifier: Apache-2.0
"""Arms in turns with the default, decided at fixed looks. The statistics are those of `tailrace
compare`, with two looks before: two pairs are enough for a very large difference, three for a large
one, and to give up where there is none.

How often that is wrong: bench/tune/error_rates.py, docs/decisions/0013-few-runs.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tailrace import statistics
from tailrace.sandbox.ledger import Ledger
from tailrace.statistics import Comparison

# Seconds of one run: of which arm, and under which name it is kept.
Run = Callable[[str, str], float]
Document = dict[str, Any]
Say = Callable[[str], None]
# A against A, which is measured when it is asked for.
Same = Callable[[], "Times"]

# By the number of pairs: every run of one arm takes so many times as long as every run of the
# other. Without a gap three pairs without a difference would be so once in ten, two once in three.
gaps = {2: 2.5, 3: 1.25}
looks = (*gaps, *statistics.looks)


@dataclass
class Times:
    """Seconds of the k-th pair of each arm."""

    one: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)

    @property
    def pairs(self) -> list[list[float]]:
        return [[one, other] for one, other in zip(self.one, self.other, strict=True)]


class Misbehaved(Exception):
    """A run with a plan did not go well after one before did. plan: the one that it had; None: it
    was on copies of its inputs, without one."""

    def __init__(self, words: str, plan: Document | None = None) -> None:
        super().__init__(words)
        self.plan = plan


@dataclass
class Trial:
    """What an arm has come to in its rounds. wrong: what ended them for it."""

    times: Times = field(default_factory=Times)
    found: Comparison | None = None
    wrong: Misbehaved | None = None

    @property
    def is_decided(self) -> bool:
        undecided = self.found is None or self.found.verdict == "more_pairs_needed"
        return self.wrong is not None or not undecided

    def outcome(self) -> tuple[Comparison, Times]:
        """After the rounds. Raises Misbehaved."""
        if self.wrong is not None:
            raise self.wrong
        assert self.found is not None
        return self.found, self.times


def alternate(
    ledger: Ledger, stage: str, arms: tuple[str, str], times: Times, wanted: int, run: Run, say: Say
) -> None:
    """Pairs until there are so many; which arm is first is random."""
    while len(times.one) < wanted:
        number = len(times.one) + 1
        seconds = {
            arm: run(arm, f"{stage}/{number}/{arm}")
            for arm in ledger.shuffled(f"{stage}/{number}", list(arms))
        }
        _note(times, seconds, arms)
        _tell(stage, number, wanted, arms, seconds, say)


def _note(times: Times, seconds: Mapping[str, float], arms: tuple[str, str]) -> None:
    times.one.append(seconds[arms[0]])
    times.other.append(seconds[arms[1]])


def _tell(
    stage: str, number: int, wanted: int, arms: Sequence[str], seconds: Mapping[str, float],
    say: Say,
) -> None:  # fmt: skip
    kind = "pair" if len(arms) == 2 else "round"
    shown = ", ".join(f"{arm} {seconds[arm]:.3f} s" for arm in arms)
    say(f"{stage.partition(' (')[0]}, {kind} {number} of {wanted}: {shown}")


def decide(
    ledger: Ledger, stage: str, base: str, trials: Mapping[str, Trial], run: Run, say: Say,
    same: Same,
) -> None:  # fmt: skip
    """Rounds of one run of each arm, in random order, up to the look at which the last verdict
    falls. Each arm makes pairs with the same runs of `base`; one that is decided, or goes wrong,
    runs no more. same: asked if a small difference has to be told from a machine that is not
    steady."""
    for number in range(1, looks[-1] + 1):
        going = [arm for arm, trial in trials.items() if not trial.is_decided]
        seconds: dict[str, float] = {}
        for arm in ledger.shuffled(f"{stage}/{number}", [base, *going]):
            if all(trials[one].is_decided for one in going):
                return
            try:
                seconds[arm] = run(arm, f"{stage}/{number}/{arm}")
            except Misbehaved as error:
                if arm == base:
                    raise
                trials[arm].wrong = error
        going = [arm for arm in going if arm in seconds]
        wanted = min(look for look in looks if look >= number)
        _tell(stage, number, wanted, [base, *going], seconds, say)
        for arm in going:
            _note(trials[arm].times, seconds, (base, arm))
            if number == wanted:
                trials[arm].found = _at_look(trials[arm].times, same)


def _at_look(times: Times, same: Same) -> Comparison:
    found = verdict(times)
    if found.verdict in {"faster", "slower"} and len(times.one) not in gaps:
        return verdict(times, same())
    return found


def until_decided(
    ledger: Ledger, stage: str, arms: tuple[str, str], run: Run, say: Say, same: Same
) -> tuple[Comparison, Times]:
    """Pairs of two arms to the verdict."""
    trial = Trial()
    decide(ledger, stage, arms[0], {arms[1]: trial}, run, say, same)
    return trial.outcome()


def against_itself(
    ledger: Ledger, stage: str, arms: tuple[str, str], run: Run, say: Say
) -> tuple[Comparison, Times]:
    """Two arms that are the same. Where their medians are near each other the first look is enough:
    the test itself would say so only at the last."""
    times = Times()
    for look in statistics.looks:
        alternate(ledger, stage, arms, times, look, run, say)
        found = statistics.compare(times.one, times.other, "smaller")
        is_near = abs(math.log(found.ratio)) < math.log1p(statistics.effect)
        if is_near or found.verdict != "more_pairs_needed":
            break
    return found, times


def verdict(times: Times, same: Times | None = None) -> Comparison:
    """Of the second arm's time against the first's: the smaller the better. Where the second is not
    even a little faster, nobody waits for more pairs."""
    if same is not None:
        return statistics.compare_checked(same.one, same.other, times.one, times.other, "smaller")
    found = statistics.compare(times.one, times.other, "smaller")
    if found.verdict != "more_pairs_needed":
        return found
    pairs = len(times.one)
    if pairs < statistics.looks[0]:
        found = replace(found, interval=None)  # it would hold the truth in three of four cases
    gap = gaps.get(pairs)
    if gap and (apart := _apart(times, gap)):
        reason = f"every run took at least {gap:.3g} times as long as any of the other"
        return replace(found, pairs=pairs, verdict=apart, reason=reason)
    if pairs < max(gaps):  # too few to give up
        return found
    least = 1 if pairs < statistics.looks[0] else 1 - statistics.effect
    if found.ratio >= least:
        reason = f"after {pairs} pairs it is not faster by {statistics.effect:.0%}"
        if pairs < statistics.looks[0]:
            reason = f"of {pairs} pairs most were not faster"
        return replace(found, pairs=pairs, verdict="no_difference_beyond_noise", reason=reason)
    return found


def _apart(times: Times, gap: float) -> str:
    """faster or slower where no run of an arm comes near one of the other; "": they do."""
    if max(times.other) * gap < min(times.one):
        return "faster"
    return "slower" if max(times.one) * gap < min(times.other) else ""


def is_clear(found: Comparison) -> bool:
    """Whether one of the first looks was enough."""
    return found.pairs in gaps and found.verdict == "faster"


def speedup(found: Comparison, times: Times) -> Document:
    """How many times faster: the median of the ratios of times upside down, its 95 % interval,
    which fewer than six pairs do not have, and the range that the ratios are in."""
    ratios = [one / other for one, other in times.pairs]
    interval = None
    if found.interval is not None and found.interval[0] > 0:
        interval = [1 / found.interval[1], 1 / found.interval[0]]
    return {
        "median": 1 / found.ratio,
        "ci95": interval,
        "range": [min(ratios), max(ratios)],
        "pairs": found.pairs,
    }


def ratio_of_few(times: Times) -> float:
    """Median of other / one: for decisions that a confirmation follows."""
    ratios: Sequence[float] = [b / a for a, b in zip(times.one, times.other, strict=True)]
    return statistics.median(ratios)
