# SPDX-License-Identifier: Apache-2.0
"""What differs between two sides beside the headline: phases, writers, steps, settings, context."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from tailrace import statistics
from tailrace.compare.sides import Side
from tailrace.results.model import Json, lasting_context
from tailrace.results.texts import text_of
from tailrace.units import mib

_least_share = 0.01  # of the durable time: phases that differ by less are not listed
_writers = {
    "ranks that wrote": "ranks_that_wrote",
    "calls": "calls",
    "bytes": "bytes_done",
    "smallest call": "smallest_bytes",
    "largest call": "largest_bytes",
}
_load_that_counts = 0.5


@dataclass(frozen=True)
class PhaseDifference:
    """Medians over repetitions of the mean over ranks. apart: the ranges do not touch."""

    name: str
    a_s: float
    b_s: float
    apart: bool

    @property
    def difference_s(self) -> float:
        return self.b_s - self.a_s

    def as_json(self) -> Json:
        return {**asdict(self), "difference_s": self.difference_s}


@dataclass(frozen=True)
class Difference:
    """Of one key; a value that varies on a side is shown with all its values."""

    key: str
    a: str
    b: str


def phases(a: Side, b: Side) -> list[PhaseDifference]:
    """Greatest difference first; those of under 1 % of the durable time are left out."""
    of_a, of_b = _phase_times(a), _phase_times(b)
    whole = max(statistics.median(side.values("durable_s") or [0.0]) for side in (a, b))
    found = []
    for name in sorted(of_a.keys() | of_b.keys()):
        one, other = of_a.get(name, [0.0]), of_b.get(name, [0.0])
        apart = max(one) < min(other) or max(other) < min(one)
        found.append(PhaseDifference(name, statistics.median(one), statistics.median(other), apart))
    found = [one for one in found if abs(one.difference_s) > _least_share * whole]
    return sorted(found, key=lambda one: -abs(one.difference_s))


def _phase_times(side: Side) -> dict[str, list[float]]:
    """A repetition without a phase counts as 0 s in it."""
    names = {name for record in side.timed for name in record.phase_names}
    times: dict[str, list[float]] = {name: [] for name in sorted(names)}
    for record in side.timed:
        path = record.path()
        for name, values in times.items():
            values.append(path.get(name, 0.0))
    return times


def writers(a: Side, b: Side) -> list[Difference]:
    """Who wrote, counted below all libraries, by timed repetitions."""

    def text(side: Side, title: str) -> str:
        name = _writers[title]
        values = [getattr(one, name) for one in side.timed if one.ranks_that_wrote is not None]
        show: Callable[[float], str] = mib if "bytes" in name else lambda value: f"{value:,.0f}"
        if not values:
            return "not counted"
        low, high = show(min(values)), show(max(values))
        return low if low == high else f"{low} to {high}"

    return _differing(tuple(_writers), lambda name: text(a, name), lambda name: text(b, name))


def steps(a: Side, b: Side) -> list[Difference]:
    """Of the repetition with the median durable time: how many, and write time per step."""
    one, other = _step_texts(a), _step_texts(b)
    return _differing(tuple(one), one.__getitem__, other.__getitem__)


def _step_texts(side: Side) -> dict[str, str]:
    typical = side.typical()
    times = [step["write_s"]["max"] for step in typical.full()["steps"]]
    middle = f"{statistics.median(times):.3g} s" if times else "none"
    return {
        "steps": str(typical.steps),
        "write per step, median": middle,
        "write per step, slowest": f"{max(times):.3g} s" if times else "none",
    }


def configuration(a: Side, b: Side) -> list[Difference]:
    """Keys of the effective configuration; names of files apart."""
    one, other = a.records[0].settings.configuration, b.records[0].settings.configuration
    return _differing(
        tuple(sorted(one.keys() | other.keys())),
        lambda key: text_of(one[key]) if key in one else "absent",
        lambda key: text_of(other[key]) if key in other else "absent",
    )


def in_force(a: Side, b: Side) -> list[Difference]:
    """What was read back from the library and the file, of the typical repetition."""
    one, other = _in_force(a.typical().full()), _in_force(b.typical().full())
    return _differing(
        tuple(sorted(one.keys() | other.keys())),
        lambda key: one.get(key, "absent"),
        lambda key: other.get(key, "absent"),
    )


def _in_force(record: Json) -> dict[str, str]:
    transfers = record["transfers"]
    collective = transfers["collective_actual"]
    found = {
        "transfers": transfers["mode"] or "not reported",
        "collective transfers": "not measured" if collective is None else text_of(collective),
        "mpi_io": record["mpi_io"]["implementation"] or "none",
        "reservation": record["reservation"]["how"],
    }
    found |= {f"hint {k}": text for k, text in record["mpi_io"]["hints_in_force"].items()}
    return found | {f"file {k}": text for k, text in record["file"]["settings"].items()}


def context(a: Side, b: Side) -> list[Difference]:
    """Machine, file system, libraries, build, environment; and load where it was another one."""

    def lasting(side: Side, key: str) -> str:
        return side.texts(lambda record: record.settings.context[key]) or "none"

    found = _differing(lasting_context, lambda key: lasting(a, key), lambda key: lasting(b, key))
    variables = {
        name for side in (a, b) for one in side.records for name in one.settings.environment
    }

    def variable(side: Side, name: str) -> str:
        return side.texts(lambda record: record.settings.environment.get(name, "absent"))

    found += [
        Difference(f"environment {one.key}", one.a, one.b)
        for one in _differing(
            tuple(sorted(variables)), lambda key: variable(a, key), lambda key: variable(b, key)
        )
    ]
    return found + _load(a, b)


def _load(a: Side, b: Side) -> list[Difference]:
    loads = [side.values("load_1m") for side in (a, b)]
    if abs(statistics.median(loads[0]) - statistics.median(loads[1])) < _load_that_counts:
        return []
    texts = [f"{min(values):.1f} to {max(values):.1f}" for values in loads]
    return [Difference("load over one minute", *texts)]


def _differing(
    keys: tuple[str, ...], of_a: Callable[[str], str], of_b: Callable[[str], str]
) -> list[Difference]:
    found = (Difference(key, of_a(key), of_b(key)) for key in keys)
    return [one for one in found if one.a != one.b]


def as_json(found: list[Difference]) -> list[dict[str, Any]]:
    return [asdict(one) for one in found]
