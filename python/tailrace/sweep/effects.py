# SPDX-License-Identifier: Apache-2.0
"""What each factor does to the time, and which two do something else together than apart.

Everything is paired: within a round, between combinations that differ in the factor alone, so that
the machine's drift cancels. The values of a round are then one figure (their geometric mean), and
an interval is about the noise between rounds. A sweep that gave combinations up has too few rounds
for that: there each combination of each round is a figure of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from tailrace.sweep.data import Case, Runs
from tailrace.sweep.ranking import Ratio, ratio, ratio_of, trusted_rounds


@dataclass(frozen=True)
class Effect:
    """The time with `level` by that with `base`, the fastest value of the factor in the mean over
    the other factors. pairs: combinations that differ in nothing else: (base, level)."""

    factor: str
    level: str
    base: str
    ratio: Ratio
    pairs: tuple[tuple[Case, Case], ...]

    @cached_property
    def turns(self) -> list[tuple[tuple[Case, Case], Ratio]]:
        """The pairs beyond noise, the greatest first, where some are slower with the level and some
        faster: its mean then says nothing. Empty where none is, or all go one way."""
        found = [(pair, ratio_of(*pair)) for pair in self.pairs]
        clear = [(pair, one) for pair, one in found if one is not None and one.is_an_effect]
        clear.sort(key=lambda one: -abs(math.log(one[1].value)))
        return clear if len({one.value > 1 for _, one in clear}) > 1 else []

    def as_json(self) -> dict[str, Any]:
        return {
            "factor": self.factor, "level": self.level, "base": self.base,
            "combinations": len(self.pairs), **asdict(self.ratio),
            "is_an_effect": self.ratio.is_an_effect, "changes_sign": bool(self.turns),
        }  # fmt: skip


@dataclass(frozen=True)
class Interaction:
    """What `level` of `factor` costs beside `other_level` of `other`, by what it costs beside
    `other_base`."""

    factor: str
    level: str
    base: str
    other: str
    other_level: str
    other_base: str
    beside_level: Ratio
    beside_base: Ratio
    ratio: Ratio

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self)}


@dataclass(frozen=True)
class Effects:
    """levels: of each factor, the fastest first. alone: main effects, the greatest first.
    together: interactions whose interval leaves out 1. crossed: pairs of factors of which four
    combinations could tell; told: those of them with enough runs. rounds: in which every case
    ran. unpaired: values that no pair of combinations tells of."""

    levels: dict[str, list[str]]
    alone: list[Effect]
    together: list[Interaction]
    crossed: set[frozenset[str]]
    told: set[frozenset[str]]
    rounds: int
    unpaired: list[tuple[str, str]]


class _Grid:
    """Cases by the values of their factors."""

    def __init__(self, runs: Runs) -> None:
        self.cases = {tuple(one.value for one in case.settings): case for case in runs.measured}
        first = next(iter(runs.measured), None)
        self.factors = [one.name for one in first.settings] if first else []
        self.levels = [
            list(dict.fromkeys(values[at] for values in self.cases))
            for at in range(len(self.factors))
        ]
        self.rounds = runs.full_rounds()

    def at(self, rest: tuple[str, ...], changed: dict[int, str]) -> Case | None:
        values = tuple(changed.get(at, value) for at, value in enumerate(rest))
        return self.cases.get(values)

    def rests(self, *without: int) -> Iterator[tuple[str, ...]]:
        """The values of the other factors that occur; those without have an empty text."""
        return iter(dict.fromkeys(_blanked(values, without) for values in self.cases))

    def pairs(self, at: int, base: str, level: str) -> list[tuple[Case, Case]]:
        found = []
        for rest in self.rests(at):
            one, other = self.at(rest, {at: base}), self.at(rest, {at: level})
            if one is not None and other is not None:
                found.append((one, other))
        return found

    def figures(self, *corners: Sequence[Case]) -> list[list[float]]:
        """Of each corner as many figures, those at one place to be compared: the cases of the
        corners belong together one by one. With enough full rounds a figure is the geometric mean
        of a round; else it is that of one case in one round that its companions have too."""
        if len(self.rounds) >= trusted_rounds:
            return [[_mean(corner, number) for number in self.rounds] for corner in corners]
        found: list[list[float]] = [[] for _ in corners]
        for together in zip(*corners, strict=True):
            for number in sorted(set.intersection(*(set(one.seconds) for one in together))):
                for values, one in zip(found, together, strict=True):
                    values.append(one.seconds[number])
        return found

    def by_speed(self, at: int) -> list[str]:
        """Values of a factor, the fastest first, by the rests in which all of them occur."""
        complete = [
            rest for rest in self.rests(at)
            if all(self.at(rest, {at: level}) for level in self.levels[at])
        ]  # fmt: skip

        def speed(level: str) -> float:
            cases = [
                case for values, case in self.cases.items()
                if values[at] == level and (not complete or _blanked(values, (at,)) in complete)
            ]  # fmt: skip
            return sum(math.log(case.median_s) for case in cases) / len(cases)

        return sorted(self.levels[at], key=speed)


def _mean(cases: Sequence[Case], number: int) -> float:
    """Geometric, in a round."""
    logs = [math.log(case.seconds[number]) for case in cases]
    return math.exp(sum(logs) / len(logs))


def _blanked(values: tuple[str, ...], without: Sequence[int]) -> tuple[str, ...]:
    return tuple("" if at in without else value for at, value in enumerate(values))


def effects(runs: Runs) -> Effects:
    """Nothing where no round ran whole."""
    grid = _Grid(runs)
    if not grid.rounds:
        return Effects({}, [], [], set(), set(), 0, [])
    ordered = [grid.by_speed(at) for at in range(len(grid.factors))]
    alone, unpaired = [], []
    for at, (factor, levels) in enumerate(zip(grid.factors, ordered, strict=True)):
        for level in levels[1:]:
            pairs = grid.pairs(at, levels[0], level)
            if not pairs:
                unpaired.append((factor, level))
                continue
            found = ratio(*grid.figures([a for a, _ in pairs], [b for _, b in pairs]))
            alone.append(Effect(factor, level, levels[0], found, tuple(pairs)))
    alone.sort(key=lambda one: -abs(math.log(one.ratio.value)))
    tested = list(_interactions(grid, ordered))
    crossed = {frozenset((one.factor, one.other)) for one in tested}
    few = {frozenset((one.factor, one.other)) for one in tested if one.ratio.too_few}
    together = [one for one in tested if one.ratio.is_an_effect]
    together.sort(key=lambda one: -abs(math.log(one.ratio.value)))
    levels_of = dict(zip(grid.factors, ordered, strict=True))
    return Effects(levels_of, alone, together, crossed, crossed - few, len(grid.rounds), unpaired)


def _interactions(grid: _Grid, ordered: list[list[str]]) -> Iterator[Interaction]:
    """Of two values by the fastest ones beside which they occur: a value that is missing beside
    some of the other factor's (posix knows no collective writes) is no base for these."""
    for one, other in itertools.combinations(range(len(grid.factors)), 2):
        places = itertools.product(range(1, len(ordered[one])), range(1, len(ordered[other])))
        for at, other_at in places:
            for base, other_base in itertools.product(ordered[one][:at], ordered[other][:other_at]):
                levels = (base, ordered[one][at]), (other_base, ordered[other][other_at])
                found = _interaction(grid, one, levels[0], other, levels[1])
                if found is not None:
                    yield found
                    break


def _interaction(
    grid: _Grid, one: int, levels: tuple[str, str], other: int, other_levels: tuple[str, str]
) -> Interaction | None:
    """Of base and level of either factor. None where the four combinations never occur together."""
    (base, level), (other_base, other_level) = levels, other_levels
    corners: list[list[Case]] = [[], [], [], []]
    for rest in grid.rests(one, other):
        places = itertools.product((base, level), (other_base, other_level))
        four = [grid.at(rest, {one: a, other: b}) for a, b in places]
        if None not in four:
            for corner, case in zip(corners, four, strict=True):
                if case is not None:
                    corner.append(case)
    if not corners[0]:
        return None
    plain, beside, alone, both = grid.figures(*corners)
    quotient = [
        [b / a for a, b in zip(x, y, strict=True)] for x, y in ((plain, alone), (beside, both))
    ]
    return Interaction(
        grid.factors[one], level, base, grid.factors[other], other_level, other_base,
        beside_level=ratio(beside, both), beside_base=ratio(plain, alone), ratio=ratio(*quotient),
    )  # fmt: skip
