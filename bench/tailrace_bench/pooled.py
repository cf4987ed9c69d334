# SPDX-License-Identifier: Apache-2.0
"""All pairs of a case together, from every session that measured it in the same way.

One session on a small machine leaves intervals of several per cent. More pairs narrow them; that
the sessions ran at different times makes them wider than a single session would, rightly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tailrace import statistics

Json = dict[str, Any]


@dataclass(frozen=True)
class Pooled:
    """Median ratio of the durable rates with its 95 % interval, over the pairs of all sessions."""

    ratio: float
    interval: tuple[float, float]
    pairs: int
    sessions: int


def pooled(cases: Sequence[Json]) -> Pooled | None:
    """Of one case in several sessions, oldest first. Sessions count that have the sizes and
    repetitions of the newest; None where those are fewer than two."""
    with_pairs = [case for case in cases if "interval" in case]
    alike = [case for case in with_pairs if _way(case) == _way(with_pairs[-1])]
    if len(alike) < 2:
        return None
    key = "per_s" if "unit" in alike[-1] else "durable_bytes_per_s"
    a = [one[key] for case in alike for one in case["arms"]["baseline"]]
    c = [one[key] for case in alike for one in case["arms"]["candidate"]]
    interval = statistics.median_ratio_interval(a, c)
    return Pooled(statistics.median_ratio(a, c), interval, len(a), len(alike))


def _way(case: Json) -> object:
    """Bytes and repetitions of a run of each arm."""
    firsts = [case["arms"][arm][0] for arm in ("baseline", "candidate")]
    return [(one.get("bytes"), len(one.get("all_durable_s", ()))) for one in firsts]
