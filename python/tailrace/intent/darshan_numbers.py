# SPDX-License-Identifier: Apache-2.0
"""What the records of several ranks have in common: sums, spans, most frequent values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tailrace.intent.darshan_log import Json, Record

_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30
# Darshan's classes of sizes: name, first size, first size beyond.
SIZE_CLASSES: tuple[tuple[str, int, int | None], ...] = (
    ("0_100", 0, 101),
    ("100_1K", 101, _KIB + 1),
    ("1K_10K", _KIB + 1, 10 * _KIB + 1),
    ("10K_100K", 10 * _KIB + 1, 100 * _KIB + 1),
    ("100K_1M", 100 * _KIB + 1, _MIB + 1),
    ("1M_4M", _MIB + 1, 4 * _MIB + 1),
    ("4M_10M", 4 * _MIB + 1, 10 * _MIB + 1),
    ("10M_100M", 10 * _MIB + 1, 100 * _MIB + 1),
    ("100M_1G", 100 * _MIB + 1, _GIB + 1),
    ("1G_PLUS", _GIB + 1, None),
)
FREQUENT = 8


def without_nothing(values: Json) -> Json:
    """Without keys whose value is not known or holds nothing."""
    return {key: value for key, value in values.items() if value is not None and value != []}


def total(records: Sequence[Record], name: str) -> int | None:
    """The sum of a counter over the ranks; None where none of them counted it."""
    known = [value for record in records if (value := record.count(name)) is not None]
    return sum(known) if known else None


def largest(records: Sequence[Record], name: str) -> int | None:
    """The greatest of a counter over the ranks."""
    known = [value for record in records if (value := record.count(name)) is not None]
    return max(known) if known else None


def total_time(records: Sequence[Record], name: str) -> float | None:
    """The sum of a time over the ranks."""
    known = [value for record in records if (value := record.time(name)) is not None]
    return sum(known) if known else None


def joined_span(records: Sequence[Record], stem: str) -> Json | None:
    """From the first begin to the last end over the ranks."""
    return cover(record.span(stem) for record in records)


def cover(spans: Iterable[Json | None]) -> Json | None:
    """From the first begin to the last end."""
    known = [span for span in spans if span is not None]
    if not known:
        return None
    return {
        "start_s": min(span["start_s"] for span in known),
        "end_s": max(span["end_s"] for span in known),
    }


def sizes(records: Sequence[Record], stem: str) -> list[Json]:
    """The classes with calls of counters such as POSIX_SIZE_READ_0_100."""
    found = []
    for name, first, beyond in SIZE_CLASSES:
        calls = total(records, f"{stem}_{name}")
        if calls:
            bounds = {"from_bytes": first, "below_bytes": beyond}
            found.append(without_nothing({**bounds, "calls": calls}))
    return found


def most_frequent(records: Sequence[Record], stem: str, value: str) -> list[Json]:
    """The pairs <stem>1_<value>, <stem>1_COUNT to 4, over the ranks."""
    calls: Counter[int] = Counter()
    for record in records:
        for place in range(1, 5):
            times = record.count(f"{stem}{place}_COUNT")
            if times:
                calls[record.counters[f"{stem}{place}_{value}"]] += times
    return [{"bytes": size, "calls": times} for size, times in ranked(calls) if size >= 0]


def ranked(calls: Counter[Any]) -> list[tuple[Any, int]]:
    """Most frequent first, the greater value first among equals."""
    return sorted(calls.items(), key=lambda one: (-one[1], _negative(one[0])))[:FREQUENT]


def _negative(value: Any) -> Any:
    return -value if isinstance(value, int) else value


def extremes(records: Sequence[Record], prefix: str) -> Json:
    """The fastest and the slowest rank, which Darshan finds for records shared by all."""
    shared = [record for record in records if record.rank == -1]
    if len(shared) != 1:
        return {}
    found: Json = {}
    for word in ("FASTEST", "SLOWEST"):
        process = shared[0].count(f"{prefix}_{word}_RANK")
        elapsed_s = shared[0].time(f"{prefix}_F_{word}_RANK_TIME")
        if process is not None and elapsed_s is not None:
            moved = shared[0].count(f"{prefix}_{word}_RANK_BYTES")
            found[word.lower()] = without_nothing(
                {"process": process, "bytes": moved, "elapsed_s": elapsed_s}
            )
    return found


def processes_of(records: Iterable[Record], ranks: int) -> set[int]:
    """Which ranks have a record; all where one is shared."""
    found: set[int] = set()
    for record in records:
        if record.rank < 0:
            return set(range(ranks))
        found.add(record.rank)
    return found


def process_text(processes: Iterable[int]) -> str:
    """ "0-39,41"."""
    ranges: list[list[int]] = []
    for one in sorted(set(processes)):
        if ranges and one == ranges[-1][1] + 1:
            ranges[-1][1] = one
        else:
            ranges.append([one, one])
    return ",".join(f"{a}-{b}" if b > a else f"{a}" for a, b in ranges)
