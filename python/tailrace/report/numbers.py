# SPDX-License-Identifier: Apache-2.0
"""Figures as the page writes them. Rates are in MiB/s (2^20 bytes per second) everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tailrace.report.model import Cell
from tailrace.units import grouped

mebi = float(1 << 20)
missing = "–"


def digits(value: float, significant: int = 4) -> str:
    """1234.5 as 1,235 and 0.012345 as 0.01235: all digits in front of the point stay."""
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    before = math.floor(math.log10(abs(value))) + 1
    return f"{value:,.{min(max(significant - before, 0), 9)}f}"


def cell(value: Cell) -> str:
    """Of a table."""
    if value is None:
        return missing
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return grouped(value) if isinstance(value, int) else digits(value)


def rate(bytes_per_s: float | None) -> str:
    return missing if bytes_per_s is None else f"{digits(bytes_per_s / mebi)} MiB/s"


def rate_range(low: float, high: float) -> str:
    """An interval of rates, the unit once."""
    return f"{digits(low / mebi)} to {digits(high / mebi)}"


def mib_per_s(bytes_per_s: float | None) -> float | None:
    return None if bytes_per_s is None else bytes_per_s / mebi


def seconds(value: float | None) -> str:
    if value is None:
        return missing
    return f"{digits(value)} s" if value >= 1 else f"{digits(value * 1e3)} ms"


def range_of(values: Sequence[float], text: Callable[[float], str]) -> str:
    """`3 ms` where all are equal, else `3 ms to 5 ms`."""
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} to {high}"


class TimeUnit:
    """One unit for all times of a plot, so that its axis has small numbers."""

    def __init__(self, values: Iterable[float]) -> None:
        highest = max(values, default=0.0)
        self.name, self.factor = (
            ("s", 1.0) if highest >= 1 else ("ms", 1e3) if highest >= 1e-3 else ("µs", 1e6)
        )

    def __call__(self, value_s: float) -> float:
        return value_s * self.factor

    def text(self, value_s: float) -> str:
        return f"{digits(self(value_s))} {self.name}"


class SizeUnit:
    """The same for sizes."""

    def __init__(self, values: Iterable[float]) -> None:
        highest = max(values, default=0.0)
        units = ("B", "KiB", "MiB", "GiB", "TiB")
        index = min(int(math.log2(highest) // 10) if highest >= 1 else 0, len(units) - 1)
        self.name, self.factor = units[index], 1.0 / 1024**index

    def __call__(self, value_bytes: float) -> float:
        return value_bytes * self.factor

    def text(self, value_bytes: float) -> str:
        return f"{digits(self(value_bytes))} {self.name}"


def exact_bytes(count: int) -> str:
    """4096 as 4 KiB, 5000 as 5000 B: powers of two short, nothing rounded."""
    for unit, size in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} B"


def spread(count: int, most: int) -> list[int]:
    """At most `most` places of 0..count-1, evenly spread, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(index * (count - 1) / (most - 1)) for index in range(most)})


def bins(count: int, most: int) -> list[range]:
    """0..count-1 cut into at most `most` stretches of nearly equal length."""
    parts = min(count, most)
    edges = [round(index * count / parts) for index in range(parts + 1)]
    return [range(low, high) for low, high in pairwise(edges)]
