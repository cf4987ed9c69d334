# SPDX-License-Identifier: Apache-2.0
"""All that follows from the Records of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tailrace.sweep.data import Runs
from tailrace.sweep.effects import Effects, Interaction, effects
from tailrace.sweep.explain import Explanation, Reading, explain
from tailrace.sweep.ranking import Ranked, Ratio, ranking


@dataclass(frozen=True)
class Findings:
    """explanations: one for each of effects.alone."""

    runs: Runs
    ranked: list[Ranked]
    effects: Effects
    explanations: list[Explanation]

    def as_json(self) -> dict[str, Any]:
        alone = zip(self.effects.alone, self.explanations, strict=True)
        return {
            "ranking": [one.as_json() for one in self.ranked],
            "effects": [
                {**one.as_json(), "explanation": why.text, "counts_separate": why.separates}
                for one, why in alone
            ],
            "interactions": [
                {**one.as_json(), "words": interaction_words(one)} for one in self.effects.together
            ],
            "rounds": self.effects.rounds,
        }


def findings(runs: Runs) -> Findings:
    reading = Reading()
    found = effects(runs)
    return Findings(runs, ranking(runs), found, [explain(one, reading) for one in found.alone])


def interaction_words(one: Interaction) -> str:
    low, high = one.ratio.interval or (one.ratio.value, one.ratio.value)
    return (
        f"{one.factor}={one.level} takes {_times(one.beside_level)} {one.factor}={one.base} with "
        f"{one.other}={one.other_level}, but {_times(one.beside_base)} with "
        f"{one.other}={one.other_base}: {one.ratio.value:.2f} times as much "
        f"({low:.2f} to {high:.2f})"
    )


def _times(found: Ratio) -> str:
    return f"{found.value:.2f} times"
