# SPDX-License-Identifier: Apache-2.0
"""The Records of a sweep as figures: seconds per combination and round."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from tailrace import statistics
from tailrace.results import Record
from tailrace.sweep.plan import prefix

metrics = ("durable", "write", "aggregate")


@dataclass(frozen=True)
class Setting:
    """Name and value of a factor as they were typed."""

    name: str
    value: str


def settings_of(name: str) -> tuple[Setting, ...]:
    """Of a combination's name: `collective=on cb_nodes=2`."""
    pairs = (word.partition("=") for word in shlex.split(name))
    return tuple(Setting(key, value) for key, _, value in pairs)


@dataclass
class Case:
    """A combination that was run. seconds: by round, as if each had written the same bytes;
    Records: of its measured repetitions that ended well, in the order of the rounds."""

    name: str
    settings: tuple[Setting, ...]
    seconds: dict[int, float] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    warm_ups: int = 0
    warm_up_s: float | None = None  # of the last one, as the others
    failed: list[Record] = field(default_factory=list)
    without: frozenset[str] = frozenset()
    default: bool = False  # it runs as if nothing was varied
    shown: str = ""  # Arm.shown

    @property
    def wrong(self) -> bool:
        """Whether a file of it was read back and had wrong elements."""
        return any((one.error or "").startswith("verification:") for one in self.failed)

    @cached_property
    def values(self) -> list[float]:
        return [self.seconds[number] for number in sorted(self.seconds)]

    @property
    def median_s(self) -> float:
        return statistics.median(self.values)

    def typical(self) -> Record:
        """The Record with the median (of two the shorter) time."""
        ordered = sorted(self.records, key=lambda one: one.durable_s or 0.0)
        return ordered[(len(ordered) - 1) // 2]


@dataclass
class Runs:
    """metric: whose rate is judged. same_bytes: every case wrote as many."""

    sweep: str
    metric: str
    cases: dict[str, Case]
    same_bytes: bool = True

    @property
    def measured(self) -> list[Case]:
        """Fast and wrong is no result."""
        return [case for case in self.cases.values() if case.seconds and not case.wrong]

    @property
    def wrong(self) -> list[Case]:
        return [case for case in self.cases.values() if case.wrong]

    def full_rounds(self) -> list[int]:
        """Rounds in which every measured case ran well: only those compare everything."""
        sets = [set(case.seconds) for case in self.measured]
        return sorted(set.intersection(*sets)) if sets else []


def is_sweep(record: Record) -> bool:
    return record.arm is not None and record.arm.comparison.startswith(f"{prefix}-")


def runs_of(records: Iterable[Record], metric: str = "durable") -> Runs:
    """Of the Records of one sweep. Times are those of the metric, for the bytes that the first
    case wrote: then settings that write different amounts can be ranked too."""
    figure = f"{metric}_bytes_per_s"
    runs = Runs("", metric, {})
    sizes: dict[int, None] = {}
    counted: list[tuple[Case, Record, float]] = []
    for record in records:
        if record.arm is None:
            continue
        runs.sweep = record.arm.comparison
        name = record.arm.name
        case = runs.cases.setdefault(name, Case(name, settings_of(name)))
        case.without |= frozenset(record.arm.without)
        case.default |= record.arm.default
        case.shown = case.shown or record.arm.shown
        rate = getattr(record, figure)
        if not record.ok:
            case.failed.append(record)
        elif record.warm_up:
            case.warm_ups += 1
            case.warm_up_s = 1 / rate if rate else None
        elif rate and record.logical_bytes:
            sizes[record.logical_bytes] = None
            counted.append((case, record, rate))
    reference = next(iter(sizes), 0)
    runs.same_bytes = len(sizes) < 2
    for case in runs.cases.values():
        if case.warm_up_s is not None:
            case.warm_up_s *= reference
    for case, record, rate in counted:
        assert record.arm is not None
        if record.arm.round not in case.seconds:
            case.seconds[record.arm.round] = reference / rate
            case.records.append(record)
    return runs
