# SPDX-License-Identifier: Apache-2.0
"""What came out of a suite: each case's rates here beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tailrace import statistics
from tailrace.results import Record
from tailrace.suite.experiment import Job, Plan
from tailrace.suite.table import Case

# Which phases of a Record a figure is of, where the Record has no rate of that name.
_phases = {"open_to_close": ("open_file", "open_dataset", "write", "close")}


@dataclass(frozen=True)
class Rate:
    """Of the repetitions here: median and 95 % interval; None for fewer than six of them."""

    median: float
    interval: tuple[float, float] | None
    values: list[float]

    def as_json(self) -> dict[str, Any]:
        return {
            "median_bytes_per_s": self.median,
            "interval_bytes_per_s": self.interval,
            "values_bytes_per_s": self.values,
        }


@dataclass(frozen=True)
class Row:
    """figure: what the rates are of. published: in bytes per second; None: none is known.
    here, durable: None where the case was not run."""

    job: Job
    figure: str
    published: float | None
    here: Rate | None
    durable: Rate | None

    def as_json(self) -> dict[str, Any]:
        case, scaled = self.job.case, self.job.scaled
        return {
            "case": case.name,
            "kernel": case.kernel,
            "figure": self.figure,
            "published_bytes_per_s": self.published,
            "machine": case.machine,
            "year": case.year or None,
            "source": case.source,
            "here": self.here.as_json() if self.here else None,
            "durable": self.durable.as_json() if self.durable else None,
            "scaled_by": scaled.by,
            "bytes": scaled.bytes,
            "published_bytes": scaled.published_bytes,
            "ranks": scaled.ranks,
            "published_ranks": scaled.published_ranks,
            "inputs": scaled.words,
            "not_run": self.job.why_not or None,
        }


def rows_of(plan: Plan) -> list[Row]:
    """One for each published figure; of a case without any one for its write calls."""
    records = plan.records()
    return [
        Row(
            job,
            figure,
            job.case.published_bytes_per_s(figure),
            _rate(records.get(job.case.name, []), figure),
            _rate(records.get(job.case.name, []), "durable"),
        )
        for job in plan.jobs
        for figure in figures_of(job.case)
    ]


def figures_of(case: Case) -> Sequence[str]:
    return list(case.figures) or ["write"]


def _rate(records: Sequence[Record], figure: str) -> Rate | None:
    values = [rate for record in records if (rate := _of(record, figure)) is not None]
    if not values:
        return None
    return Rate(statistics.median(values), statistics.median_interval(values), values)


def _of(record: Record, figure: str) -> float | None:
    if figure not in _phases:
        rate: float | None = getattr(record, f"{figure}_bytes_per_s")
        return rate
    spent = {name: longest for name, _, _, longest in record.phases()}
    seconds = sum(spent.get(name, 0.0) for name in _phases[figure])
    return record.logical_bytes / seconds if record.logical_bytes and seconds else None
