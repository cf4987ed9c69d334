# SPDX-License-Identifier: Apache-2.0
"""Axes: from values to places, and the round values that are written beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# A logarithmic axis where the greatest value is so many times the smallest: below, the smaller
# ones can still be told apart.
log_from = 40.0


@dataclass(frozen=True)
class Scale:
    """Values `low`..`high` at the places `start`..`end`."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        if self.logarithmic:
            value = max(value, self.low)
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def labels(self) -> list[str]:
        if self.logarithmic or len(self.ticks) < 2:
            return [f"{tick:,.10g}" for tick in self.ticks]
        step = self.ticks[1] - self.ticks[0]
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        if round(step * 10**decimals, 6) != round(step * 10**decimals):  # 2.5, 0.25
            decimals += 1
        return [f"{tick:,.{decimals}f}" for tick in self.ticks]


def from_zero(highest: float, start: float, end: float, wanted: int = 5) -> Scale:
    """A linear axis that begins at 0: lengths on it are proportional to values."""
    step = _round_step(highest / wanted if highest > 0 else 1.0 / wanted)
    count = max(1, math.ceil(highest / step - 1e-9))
    ticks = tuple(step * index for index in range(count + 1))
    return Scale(0.0, ticks[-1], start, end, ticks)


def for_values(values: Sequence[float], start: float, end: float) -> Scale:
    """From 0, or logarithmic where the values lie far apart."""
    positive = [value for value in values if value > 0]
    if not positive or max(positive) < log_from * min(positive):
        return from_zero(max(values, default=0.0), start, end)
    return logarithmic(min(positive), max(positive), start, end)


def logarithmic(lowest: float, highest: float, start: float, end: float) -> Scale:
    """Between round values (1, 2 or 5 times a power of ten)."""
    low, high = _round_below(lowest), _round_above(highest)
    decades = math.log10(high / low)
    digits = (1, 2, 5) if decades <= 2 else (1, 3) if decades <= 3.5 else (1,)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [digit * 10.0**power for power in range(first, last + 1) for digit in digits]
    inside = tuple(tick for tick in ticks if low * 0.999 <= tick <= high * 1.001)
    return Scale(low, high, start, end, inside, logarithmic=True)


def counting(first: int, last: int, start: float, end: float, wanted: int = 7) -> Scale:
    """Whole numbers (repetitions, steps, ranks), half a place free at both ends."""
    step = max(1, int(_round_step((last - first) / wanted))) if last > first else 1
    begin = first if first + step > last else math.ceil(first / step) * step
    ticks = tuple(float(value) for value in range(begin, last + 1, step))
    return Scale(first - 0.5, last + 0.5, start, end, ticks)


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1.0, 2.0, 2.5, 5.0, 10.0):
        if factor * power >= rough * (1 - 1e-9):
            return factor * power
    return 10.0 * power


def _round_below(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return max(digit * power for digit in (1, 2, 5) if digit * power <= value * (1 + 1e-9))


def _round_above(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return min(digit * power for digit in (1, 2, 5, 10) if digit * power >= value * (1 - 1e-9))
