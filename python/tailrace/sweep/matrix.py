# SPDX-License-Identifier: Apache-2.0
"""The table of the slab kernel: collective or independent, which dimension is fast and which is
shared, hints, and MPI-IO implementation; what each cell took, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tailrace import statistics
from tailrace.sweep.counts import Counts, counts_of
from tailrace.sweep.data import Case, Runs
from tailrace.sweep.explain import differences
from tailrace.sweep.ranking import Ratio, ratio_of
from tailrace.units import mib, plural

off = "*:romio_cb_write=disable:romio_ds_write=disable"
modes = {"1": "collective", "0": "independent"}
axes = ("long-fast", "long-slow", "short-split")
hints = {"none": "default hints", off: "buffering and sieving off"}


def factors(implementations: Sequence[str]) -> list[str]:
    """For --vary. implementations: of MPI-IO; fewer than two are no factor."""
    found = [
        f"collective_write={','.join(modes)}", f"axis={','.join(axes)}", f"hints={','.join(hints)}",
    ]  # fmt: skip
    return [*found, f"mpiio={','.join(implementations)}"] if len(implementations) > 1 else found


@dataclass(frozen=True)
class Cell:
    """Where it stands in the table, and what was measured."""

    mpi_io: str
    mode: str
    axis: str
    hints: str
    case: Case

    @property
    def name(self) -> str:
        return f"{self.mode} {self.axis}, {self.hints}"

    @property
    def rate_bytes_per_s(self) -> float:
        return self._bytes() / self.case.median_s

    def interval(self) -> tuple[float, float] | None:
        """95 %, of the rate; None for too few repetitions."""
        found = statistics.median_interval(self.case.values)
        return (self._bytes() / found[1], self._bytes() / found[0]) if found else None

    def counts(self) -> Counts:
        return counts_of(self.case.typical())

    def _bytes(self) -> int:
        return self.case.typical().logical_bytes or 0

    def as_json(self) -> dict[str, Any]:
        return {
            "mpi_io": self.mpi_io, "mode": self.mode, "axis": self.axis, "hints": self.hints,
            "seconds": self.case.values, "rate_bytes_per_s": self.rate_bytes_per_s,
            "interval_bytes_per_s": self.interval(), "why": facts(self.counts()),
        }  # fmt: skip


def cells_of(runs: Runs) -> list[Cell]:
    """In the order of the table; what was not measured is not there."""
    found = [_cell(case) for case in runs.measured]
    return sorted(
        found,
        key=lambda one: (
            one.mpi_io, list(modes.values()).index(one.mode), axes.index(one.axis),
            list(hints.values()).index(one.hints),
        ),
    )  # fmt: skip


def _cell(case: Case) -> Cell:
    given = {one.name: one.value for one in case.settings}
    in_use = case.typical().full()["mpi_io"]["implementation"] or "no MPI-IO"
    return Cell(
        in_use, modes[given["collective_write"]], given["axis"], hints[given["hints"]], case
    )


def facts(counts: Counts) -> str:
    """Who wrote, in which pieces; what was read for it, and what went between ranks."""
    words = [counts.who()]
    if counts.reads:
        words.append(
            f"read-modify-write: {mib(counts.read_bytes)} in {plural(counts.reads, 'call')}"
        )
    if counts.moved_bytes is not None:
        moved = counts.moved_bytes
        words.append(f"at least {mib(moved)} moved between ranks" if moved else "nothing moved")
    return "; ".join(words)


@dataclass(frozen=True)
class Pair:
    """Two cells that differ in one thing. differs: what was counted otherwise in the second."""

    first: Cell
    second: Cell
    ratio: Ratio | None
    differs: list[str]

    @property
    def text(self) -> str:
        why = "; ".join(self.differs) or "the counts do not separate the two"
        return f"{self.second.name} {self._took()}: {why}"

    def _took(self) -> str:
        """As a sweep says it: what noise explains is no difference."""
        ratio, what = self.ratio, self._what()
        if ratio is None:
            return f"beside {what}"
        took = f"took {ratio.value:.2f} times {what}"
        if ratio.interval is None:
            return f"{took} (too few runs to tell)"
        interval = f"({ratio.interval[0]:.2f} to {ratio.interval[1]:.2f})"
        if not ratio.is_an_effect:
            return f"against {what}, no difference beyond noise {interval}"
        return f"{took} {interval}"

    def _what(self) -> str:
        same = self.first.mode == self.second.mode
        return self.first.hints if same else self.first.mode

    def as_json(self) -> dict[str, Any]:
        return {
            "first": self.first.name, "second": self.second.name, "mpi_io": self.first.mpi_io,
            "ratio": self.ratio.value if self.ratio else None,
            "interval": self.ratio.interval if self.ratio else None,
            "separated": bool(self.differs), "why": self.differs,
        }  # fmt: skip


def pairs_of(cells: Sequence[Cell]) -> list[Pair]:
    """Hints off against default, and independent against collective; in each row of the table."""
    at = {(one.mpi_io, one.mode, one.axis, one.hints): one for one in cells}
    default, without = hints.values()
    found = []
    for one in cells:
        row = (one.mpi_io, one.mode, one.axis)
        if one.hints == default and (*row, without) in at:
            found.append(_pair(one, at[*row, without]))
        other = (one.mpi_io, "independent", one.axis, one.hints)
        if one.mode == "collective" and one.hints == default and other in at:
            found.append(_pair(one, at[other]))
    return found


def _pair(first: Cell, second: Cell) -> Pair:
    found = differences(first.counts(), second.counts(), manner=False)
    return Pair(first, second, ratio_of(first.case, second.case), found)
