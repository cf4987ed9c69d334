# SPDX-License-Identifier: Apache-2.0
"""Which repetitions of A and B ran next to each other: only then they are pairs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from tailrace import statistics
from tailrace.compare.sides import Side
from tailrace.results import Record


@dataclass(frozen=True)
class Pairs:
    """The k-th values belong together. how: `rounds` of one comparison, or `alternation` of the
    times of start. dropped: pairs of which a side has no figure. same: A again, round by round."""

    a: list[float]
    b: list[float]
    how: str
    dropped: int = 0
    same: tuple[list[float], list[float]] | None = None


def find_pairs(a: Side, b: Side, figure: str, everything: list[Record]) -> Pairs | None:
    """None where the runs were not interleaved, or there is no evidence of it."""
    if _comparison(a) and _comparison(a) == _comparison(b):
        return _by_rounds(a, b, figure, everything)
    return _by_alternation(a, b, figure)


def _comparison(side: Side) -> str | None:
    """The comparison by `tailrace compare --run` that all Records of one arm come from."""
    arms = {(one.arm.comparison, one.arm.name) if one.arm else None for one in side.records}
    only = arms.pop() if len(arms) == 1 else None
    return only[0] if only else None


def _by_rounds(a: Side, b: Side, figure: str, everything: list[Record]) -> Pairs | None:
    of_a, of_b = _rounds(a.records, figure), _rounds(b.records, figure)
    pairs, dropped = _joined(of_a, of_b)
    if not pairs:
        return None
    same, _ = _joined(*(_rounds(_again(a, number, everything), figure) for number in (1, 2)))
    return Pairs(
        [one for one, _ in pairs],
        [other for _, other in pairs],
        "rounds",
        dropped,
        ([one for one, _ in same], [other for _, other in same]) if same else None,
    )


def _again(side: Side, number: int, everything: list[Record]) -> list[Record]:
    """The runs of A against A of the comparison that `side` comes from: arms A1 and A2."""
    arm = side.records[0].arm
    return [
        record
        for record in everything
        if arm is not None and record.arm is not None
        and record.arm.comparison == arm.comparison and record.arm.name == f"{arm.name}{number}"
    ]  # fmt: skip


def _rounds(records: list[Record], figure: str) -> dict[int, float | None]:
    """Of each round the median of its repetitions; None where one failed."""
    found: dict[int, list[float | None]] = {}
    for record in records:
        if record.arm and not record.warm_up:
            value = getattr(record, figure) if record.ok else None
            found.setdefault(record.arm.round, []).append(value)
    return {
        number: None if None in values else statistics.median([v for v in values if v is not None])
        for number, values in found.items()
    }


def _joined(
    a: dict[int, float | None], b: dict[int, float | None]
) -> tuple[list[tuple[float, float]], int]:
    """In the order of the rounds; and how many rounds of either lack the other."""
    pairs = []
    numbers = sorted(a.keys() | b.keys())
    for number in numbers:
        one, other = a.get(number), b.get(number)
        if one is not None and other is not None:
            pairs.append((one, other))
    return pairs, len(numbers) - len(pairs)


def _by_alternation(a: Side, b: Side, figure: str) -> Pairs | None:
    """By the times of start each two that follow each other are one of A and one of B, all along;
    a failed one makes its pair drop out."""
    if a.texts(lambda record: record.settings.context["host"]) != b.texts(
        lambda record: record.settings.context["host"]
    ):
        return None
    marked = [(_time(record), side, record) for side in (a, b) for record in _counted(side)]
    marked.sort(key=lambda one: one[0])
    if len(marked) % 2:
        return None
    found = Pairs([], [], "alternation")
    dropped = 0
    for (_, first, record), (_, second, other) in zip(marked[::2], marked[1::2], strict=True):
        if first is second:
            return None
        one, two = (record, other) if first is a else (other, record)
        values = getattr(one, figure), getattr(two, figure)
        if not (one.ok and two.ok) or None in values:
            dropped += 1
            continue
        found.a.append(values[0])
        found.b.append(values[1])
    return Pairs(found.a, found.b, found.how, dropped) if found.a else None


def _counted(side: Side) -> list[Record]:
    return [record for record in side.records if not record.warm_up]


def _time(record: Record) -> datetime:
    """Without a zone it is UTC, as the programs write it."""
    try:
        found = datetime.fromisoformat(record.started)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
