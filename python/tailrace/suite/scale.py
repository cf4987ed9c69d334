# SPDX-License-Identifier: Apache-2.0
"""A published configuration made as small as this machine wants it, and no smaller."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tailrace.run.launcher import cores
from tailrace.run.quiet import meminfo_bytes
from tailrace.suite.table import Case
from tailrace.units import mib

ranks_per_core = 4
_share = 4  # a file may take a fourth of the memory and of the disk that are free
_place = re.compile(r"\{(\w+)(?:\*(\d+))?\}")


@dataclass(frozen=True)
class Limits:
    """bytes: of a file; why: what limits it."""

    bytes: int
    why: str
    ranks: int


@dataclass(frozen=True)
class Scaled:
    """words: inputs of the kernel. bytes, ranks: of the run here, and as published."""

    words: list[str]
    ranks: int
    published_ranks: int
    bytes: int
    published_bytes: int

    @property
    def by(self) -> str:
        """`1` for a configuration as it was published."""
        parts = []
        if self.bytes < self.published_bytes:
            factor = self.published_bytes / self.bytes
            parts.append(f"bytes / {factor:.3g}" if factor < 100 else f"bytes / {factor:,.0f}")
        if self.ranks < self.published_ranks:
            parts.append(f"{self.ranks} of {self.published_ranks} ranks")
        return ", ".join(parts) or "1"


def limits_of(folder: Path, most_bytes: int | None) -> Limits:
    """Page cache and buffers of the ranks have to fit as well; others use the machine too."""
    found = [(shutil.disk_usage(folder).free // _share, "a fourth of the free disk space")]
    available = meminfo_bytes("MemAvailable")
    if available is not None:
        found.append((available // _share, "a fourth of the available memory"))
    if most_bytes is not None:
        found.append((most_bytes, "the suite's limit"))
    least, why = min(found)
    return Limits(least, f"{why}, {mib(least)}", ranks_per_core * cores())


def scaled(case: Case, limits: Limits) -> Scaled:
    """Sizes shrink one after the other, each as far as its step allows, until the file fits. What
    does not fit at its smallest is left so: the kernel says what it thinks of it."""
    ranks = min(case.ranks, limits.ranks) if case.fewer_ranks else case.ranks
    sizes = {name: value for name, (value, _) in case.sizes.items()}
    for name, (value, step) in case.sizes.items():
        power = case.bytes.count(name)
        excess = _bytes(case, sizes, ranks) / limits.bytes
        if excess > 1 and power:
            wanted = value / excess ** (1 / power)
            sizes[name] = max(step, math.floor(wanted / step) * step)
    published = {name: value for name, (value, _) in case.sizes.items()}
    return Scaled(
        [_filled(text, sizes) for text in case.inputs],
        ranks,
        case.ranks,
        _bytes(case, sizes, ranks),
        _bytes(case, published, case.ranks),
    )


def _bytes(case: Case, sizes: Mapping[str, int], ranks: int) -> int:
    values = {**sizes, "ranks": ranks}
    return math.prod(one if isinstance(one, int) else values[one] for one in case.bytes)


def _filled(text: str, sizes: Mapping[str, int]) -> str:
    return _place.sub(lambda match: str(sizes[match[1]] * int(match[2] or 1)), text)
