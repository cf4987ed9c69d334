# SPDX-License-Identifier: Apache-2.0
"""A cost model fitted to a curve, with its uncertainty, and what it foretells beyond it.

    strong:  T(p) = a + b / p + c p        b / p: each rank's share of the fixed data
    weak:    T(p) = a + c p                c p: data and contention grow with the ranks

a: what does not depend on p. No part is negative: none of them saves time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailrace import statistics
from tailrace.scale.curve import Point
from tailrace.sweep.ranking import trusted_rounds

Part = Callable[[float], float]
_parts: dict[str, Part] = {"a": lambda _p: 1.0, "b": lambda p: 1.0 / p, "c": float}
_of_mode = {"weak": ("a", "c"), "strong": ("a", "b", "c")}
_spare_points = 1  # more points than parts: else any curve fits
_fits_within = 0.2  # of each time
_beyond = (2, 4, 8)  # times the greatest number of ranks


@dataclass(frozen=True)
class Foretold:
    """Extrapolated: nobody has measured it. interval_s: 95 %; None for too few rounds."""

    ranks: int
    seconds: float
    interval_s: tuple[float, float] | None


@dataclass(frozen=True)
class Model:
    """parts: seconds of each part. intervals: theirs, 95 % over the rounds; empty for fewer than
    six rounds. worst: the greatest difference of the model from a median, as a share of it."""

    mode: str
    parts: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    fitted_ranks: tuple[int, ...]
    worst: float
    beyond: tuple[Foretold, ...]

    @property
    def describes(self) -> bool:
        return self.worst <= _fits_within

    def at(self, ranks: float) -> float:
        return sum(seconds * _parts[name](ranks) for name, seconds in self.parts.items())

    def text(self) -> str:
        terms = {"a": "{} s", "b": "{} s / p", "c": "{} s p"}
        return "T(p) = " + " + ".join(
            terms[name].format(f"{seconds:.3g}") for name, seconds in self.parts.items()
        )

    def as_json(self) -> dict[str, Any]:
        return {
            **vars(self), "beyond": [vars(one) for one in self.beyond], "describes": self.describes
        }  # fmt: skip


@dataclass(frozen=True)
class NoModel:
    """why: a sentence without its full stop."""

    why: str


def fit(points: Sequence[Point], mode: str, seconds: Sequence[Sequence[float]]) -> Model | NoModel:
    """seconds: of each point by round. Points with more ranks than cores are left out."""
    used = [(p, s) for p, s in zip(points, seconds, strict=True) if not p.oversubscribed]
    names = _of_mode[mode]
    while len(used) < len(names) + _spare_points and len(names) > 2:
        names = names[:-1]  # without contention, which needs a point more
    needed = len(names) + _spare_points
    if len(used) < needed:
        apart = len(points) - len(used)
        more = f" ({apart} with more ranks than cores left out)" if apart else ""
        return NoModel(f"{len(used)} points{more}, and {needed} are needed for a model")
    ranks = [point.ranks for point, _ in used]
    rounds = min(len(values) for _, values in used)
    beyond = [factor * max(ranks) for factor in _beyond]

    def figures(places: Sequence[int]) -> list[float]:
        medians = [statistics.median([values[k] for k in places]) for _, values in used]
        parts = _fitted(ranks, medians, names)
        made = Model(mode, parts, {}, (), 0.0, ())
        return [*parts.values(), *(made.at(one) for one in beyond)]

    medians = [statistics.median(values) for _, values in used]
    parts = _fitted(ranks, medians, names)
    found = Model(mode, parts, {}, (), 0.0, ())
    enough = rounds >= trusted_rounds
    intervals = statistics.bootstrap_intervals(rounds, figures) if enough else []
    worst = max(abs(found.at(p) - t) / t for p, t in zip(ranks, medians, strict=True))
    of_beyond: list[tuple[float, float] | None] = [*intervals[len(names) :]]
    told = zip(beyond, of_beyond or [None] * len(beyond), strict=True)
    return Model(
        mode, parts, dict(zip(names, intervals, strict=False)), tuple(ranks), worst,
        tuple(Foretold(count, found.at(count), interval) for count, interval in told),
    )  # fmt: skip


def _fitted(
    ranks: Sequence[int], medians: Sequence[float], names: Sequence[str]
) -> dict[str, float]:
    """Least squares of the relative errors, no part below 0: the best of all choices of parts
    whose plain solution is not negative."""
    weights = 1.0 / np.array(medians)
    columns = np.array([[_parts[name](p) for name in names] for p in ranks]) * weights[:, None]
    best: tuple[float, dict[str, float]] | None = None
    for count in range(1, len(names) + 1):
        for chosen in itertools.combinations(range(len(names)), count):
            part = columns[:, chosen]
            solution = np.linalg.lstsq(part, np.ones(len(ranks)), rcond=None)[0]
            if (solution < 0).any():
                continue
            error = float(((part @ solution - 1.0) ** 2).sum())
            if best is None or error < best[0] - 1e-12:
                values = dict(zip(chosen, solution, strict=True))
                best = error, {name: float(values.get(k, 0.0)) for k, name in enumerate(names)}
    assert best is not None  # `a` alone is never negative
    return best[1]
