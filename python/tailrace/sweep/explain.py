# SPDX-License-Identifier: Apache-2.0
"""Why one setting costs more than another, from counts; or that the counts do not tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tailrace.results.model import off_the_clock
from tailrace.sweep.counts import Counts, counts_of
from tailrace.sweep.data import Case
from tailrace.sweep.effects import Effect
from tailrace.units import mib, plural

_differs_by = 1.25  # numbers of calls, sizes: less is not called a difference
_share = 0.05  # of the data: bytes that are not worth a word
_phase_share = 0.4  # of the difference of times, that one phase has of it

Reader = Callable[[Case], Counts]


class Reading:
    """Counts of the typical repetition of a case, read once."""

    def __init__(self) -> None:
        self._known: dict[str, Counts] = {}

    def __call__(self, case: Case) -> Counts:
        if case.name not in self._known:
            self._known[case.name] = counts_of(case.typical())
        return self._known[case.name]


@dataclass(frozen=True)
class Explanation:
    """headline: what it costs. facts: what was counted otherwise, the strongest first. beside:
    the combination that the counts are of. separates: whether the counts tell the two apart."""

    headline: str
    facts: tuple[str, ...]
    separates: bool
    beside: str = ""

    @property
    def text(self) -> str:
        words = f"{self.headline}: {'; '.join(self.facts)}"
        return f"{words} ({self.beside})" if self.beside else words


def explain(effect: Effect, counts: Reader) -> Explanation:
    """By the pair of combinations whose ratio is nearest to the effect."""
    name = f"{effect.factor}={effect.level}"
    base, other = _representative(effect)
    facts = differences(counts(base), counts(other), effect)
    separated = sum(bool(differences(counts(a), counts(b), effect)) for a, b in effect.pairs[:16])
    several = len(effect.pairs) > 1
    beside = f"with {_rest(other, effect.factor)}" if several else ""
    if facts and several and separated < len(effect.pairs[:16]):
        beside += f"; in {separated} of {len(effect.pairs[:16])} combinations the counts differ"
    if not facts:
        where = _where_the_time_went(counts(base), counts(other))
        facts = [f"the counts do not separate them: {counts(other).who()} both times", *where]
        return Explanation(_cost(name, effect), tuple(facts), False, beside)
    if not effect.ratio.is_an_effect and not effect.ratio.too_few and not effect.turns:
        facts = ["although the counts differ", *facts]
    return Explanation(_cost(name, effect), tuple(facts), True, beside)


def _cost(name: str, effect: Effect) -> str:
    """Base is the faster value; by chance it may be the other way round where noise decides."""
    found = effect.ratio
    interval = f" ({found.interval[0]:.2f} to {found.interval[1]:.2f})" if found.interval else ""
    against = f"{effect.factor}={effect.base}"
    if effect.turns:
        return f"{name} against {against} is slower and faster: {_both_ways(effect)}"
    if found.too_few:
        return f"{name} took {found.value:.2f} times {against}, in too few runs to tell"
    if not found.is_an_effect:
        return f"{name} against {against}: no difference beyond noise{interval or ' is known'}"
    verb = "costs" if found.value > 1 else "takes"
    return f"{name} {verb} {found.value:.2f} times {against} here{interval}"


def _both_ways(effect: Effect) -> str:
    """The greatest of either way."""
    ways = [next(one for one in effect.turns if (one[1].value > 1) == slower) for slower in (1, 0)]
    return ", but ".join(
        f"{found.value:.2f} times with {_rest(other, effect.factor)}" for (_, other), found in ways
    )


def differences(
    base: Counts, other: Counts, effect: Effect | None = None, *, manner: bool = True
) -> list[str]:
    """What was counted otherwise, `other` first; empty where nothing was. manner: also what was
    in force, where that is not itself what was varied."""
    found = [
        *_writers(base, other), *_reads(base, other), *_moved(base, other),
        *_amounts(base, other), *(_manner(base, other) if manner else []),
    ]  # fmt: skip
    if effect is not None and not found:
        found += _ignored(other, effect)
    return found


def _writers(base: Counts, other: Counts) -> list[str]:
    if base.writers is None or other.writers is None:
        return []
    if (
        base.writers != other.writers
        or _apart(base.calls, other.calls)
        or _apart(base.call_bytes, other.call_bytes)
    ):
        return [f"{other.who()}, against {base.who_short()}"]
    return []


def _reads(base: Counts, other: Counts) -> list[str]:
    """While data was written: read-modify-write."""
    if max(base.read_bytes, other.read_bytes) < _share * max(other.logical_bytes, 1):
        return []
    if not _apart(base.read_bytes, other.read_bytes):
        return []

    def words(one: Counts) -> str:
        return f"{mib(one.read_bytes)} in {plural(one.reads, 'call')}" if one.reads else "none"

    return [f"read back while writing (read-modify-write): {words(other)}, against {words(base)}"]


def _moved(base: Counts, other: Counts) -> list[str]:
    """Two-phase writing sends data to the ranks that write."""
    if base.moved_bytes is None or other.moved_bytes is None:
        return []
    if abs(base.moved_bytes - other.moved_bytes) < _share * max(other.logical_bytes, 1):
        return []

    def words(moved: int) -> str:
        return f"at least {mib(moved)}" if moved else "nothing"

    return [f"{words(other.moved_bytes)} moved between ranks, against {words(base.moved_bytes)}"]


def _amounts(base: Counts, other: Counts) -> list[str]:
    found = []
    for what, get in (
        ("written as data", lambda one: one.data_bytes),
        ("written besides the data (fill values, metadata)", lambda one: one.besides_bytes),
        ("stored", lambda one: one.stored_bytes),
    ):  # fmt: skip
        one, two = get(base), get(other)
        if abs(one - two) > _share * max(other.logical_bytes, 1):
            found.append(f"{mib(two)} {what}, against {mib(one)}")
    return found


def _manner(base: Counts, other: Counts) -> list[str]:
    found = []
    if base.reserved != other.reserved:
        words = ("space was set aside beforehand", "no space was set aside beforehand")
        found.append(f"{words[not other.reserved]}, against {words[not base.reserved]}")
    if base.mpi_io != other.mpi_io:
        found.append(f"through {other.mpi_io or 'no MPI-IO'}, against {base.mpi_io or 'none'}")
    if base.mode != other.mode:
        found.append(f"transfers {other.mode or 'unknown'}, against {base.mode or 'unknown'}")
    return found


def _ignored(other: Counts, effect: Effect) -> list[str]:
    """A hint that was asked for and is not in force."""
    name = effect.factor.removeprefix("hint.")
    if name not in other.not_in_force:
        return []
    return [f"the hint is not in force: {other.mpi_io} says {other.not_in_force[name]}"]


def _where_the_time_went(base: Counts, other: Counts) -> list[str]:
    """The phase that has most of the difference, where one has."""
    names = sorted((base.phases_s.keys() | other.phases_s.keys()) - off_the_clock)
    by_phase = {n: other.phases_s.get(n, 0.0) - base.phases_s.get(n, 0.0) for n in names}
    whole = sum(by_phase.values())
    if not by_phase or abs(whole) <= 0:
        return []
    name = max(by_phase, key=lambda one: by_phase[one] / whole)
    share = by_phase[name] / whole
    return [f"the time went into {name} ({by_phase[name]:+.3g} s)"] if share > _phase_share else []


def _apart(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return high > low * _differs_by


def _representative(effect: Effect) -> tuple[Case, Case]:
    if effect.turns:
        return effect.turns[0][0]

    def distance(pair: tuple[Case, Case]) -> float:
        return abs(pair[1].median_s / pair[0].median_s - effect.ratio.value)

    return min(effect.pairs, key=distance)


def _rest(case: Case, factor: str) -> str:
    return " ".join(f"{one.name}={one.value}" for one in case.settings if one.name != factor)
