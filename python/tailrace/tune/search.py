# SPDX-License-Identifier: Apache-2.0
"""Better numbers for a plan, by successive halving: all variants run once, the better half of them
again, and so on. What wins has to win against the plan once more, and leave the same content."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tailrace import statistics
from tailrace.sandbox.ledger import Ledger
from tailrace.tune.budget import BudgetEnded
from tailrace.tune.pairs import Misbehaved, Times, ratio_of_few
from tailrace.tune.variants import Variant, around

Document = dict[str, Any]

prefix = "search "  # of the names of all its runs
most_variants = 16
most_generations = 6
_most_runs = 4  # of one variant in one round
_as_it_is = "as it is"


@dataclass(frozen=True)
class Means:
    """What a search needs of its surroundings.

    seconds: of a run with a plan under a name, infinite where it goes wrong. pairs: of two plans.
    is_good: whether a plan leaves the same content. has_time: whether a round may begin.
    """

    seconds: Callable[[str, Document], float]
    pairs: Callable[[str, Document, Document], Times]
    is_good: Callable[[str, Document], bool]
    has_time: Callable[[], bool]
    say: Callable[[str], None]


def spent_s(ledger: Ledger) -> float:
    """What the runs of searches have taken so far."""
    facts = ledger.all().items()
    runs = (run for name, run in facts if name.startswith(prefix) and isinstance(run, dict))
    return sum(float(run["elapsed_s"]) for run in runs)


def better(plan: Document, ledger: Ledger, stage: str, means: Means) -> tuple[Document, list[str]]:
    """The plan with better numbers, or as it was; and what was changed, a sentence each. Where the
    budget ends it is the best so far."""
    changes: list[str] = []
    with suppress(BudgetEnded):
        for generation in range(most_generations):
            name = f"{stage}/{generation}"
            winner = _winner(plan, ledger, name, means)
            if winner is None:
                break
            ratio = _final(plan, winner, ledger, f"{name}/final", means)
            if ratio >= 1 - statistics.effect or not means.is_good(f"{name}/content", winner.plan):
                break
            plan = winner.plan
            changes.append(f"{winner.name}: {1 / ratio:.3g} times as fast as before")
            means.say(changes[-1])
    return plan, changes


def _final(plan: Document, winner: Variant, ledger: Ledger, stage: str, means: Means) -> float:
    """How many times as long as the plan it takes; infinite where it goes wrong: then it has lost,
    and the plan is as good as before."""

    def find() -> float | str:
        try:
            return ratio_of_few(means.pairs(stage, plan, winner.plan))
        except Misbehaved as error:
            means.say(f"search: {winner.name} has lost: {error}")
            return "inf"

    return float(ledger.fact(f"{stage}/ratio", find))


def _winner(plan: Document, ledger: Ledger, stage: str, means: Means) -> Variant | None:
    """The best variant where it is better than the plan as it is; None: none is, or no time."""
    chosen = ledger.shuffled(stage, sorted(variant.name for variant in around(plan)))
    by_name = {variant.name: variant for variant in around(plan)}
    alive = [_as_it_is, *chosen[:most_variants]]
    plans = {_as_it_is: plan, **{name: by_name[name].plan for name in alive[1:]}}
    medians: dict[str, float] = {}
    runs = 1
    for number in range(len(alive).bit_length()):
        if len(alive) < 2 or not ledger.fact(f"{stage}/{number}/goes on", means.has_time):
            break
        medians = _medians(alive, plans, ledger, f"{stage}/{number}", runs, means)
        ordered = sorted(alive, key=lambda name: medians[name])
        kept = ordered[: math.ceil(len(alive) / 2)]
        alive = kept if _as_it_is in kept else [*kept, _as_it_is]
        runs = min(2 * runs, _most_runs)
        means.say(f"search: {len(alive) - 1} of {len(ordered) - 1} numbers are left")
    if not medians:
        return None
    best = min(alive, key=lambda name: medians[name])
    return None if best == _as_it_is or math.isinf(medians[best]) else by_name[best]


def _medians(
    names: list[str],
    plans: dict[str, Document],
    ledger: Ledger,
    stage: str,
    runs: int,
    means: Means,
) -> dict[str, float]:
    """Of so many runs of each, in turns and in random order; what goes wrong once is out."""
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(runs):
        for name in ledger.shuffled(f"{stage}/{turn}", names):
            if math.inf not in seconds[name]:
                seconds[name].append(means.seconds(f"{stage}/{turn}/{name}", plans[name]))
    return {
        name: math.inf if math.inf in values else statistics.median(values)
        for name, values in seconds.items()
    }
