# SPDX-License-Identifier: Apache-2.0
"""The time lines of a Record: which rank was in which phase when, and what that comes to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tailrace.results.model import Json, off_the_clock
from tailrace.units import plural

# All that a Sink does with data: what the write time of a step is made of, too.
_writing = frozenset({"write", "encode", "exchange", "allocate", "pack"})
_reading = frozenset({"read"})
_by_the_way = 0.02  # of the time: not worth a word
_uneven = 0.05  # of the time, between two ranks
_most_named = 4


@dataclass(frozen=True)
class Stretch:
    phase: str
    start_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Line:
    """Of one rank."""

    rank: int
    stretches: Sequence[Stretch]
    resolution_s: float

    def seconds(self, phases: Collection[str]) -> float:
        return sum(one.seconds for one in self.stretches if one.phase in phases)

    def by_phase(self) -> dict[str, float]:
        """In the order in which they began."""
        found: dict[str, float] = {}
        for one in self.stretches:
            found[one.phase] = found.get(one.phase, 0.0) + one.seconds
        return found


@dataclass(frozen=True)
class Lines:
    """Those of a Record within a stretch of time that begins at 0 and ends at `end_s`.

    ranks: of the run; lines may be fewer. shifted_s: how far nodes may be apart; 0: one clock.
    bytes_done: what each rank wrote; None: not counted.
    """

    ranks: int
    lines: Sequence[Line]
    end_s: float
    shifted_s: float
    bytes_done: dict[int, int] | None
    reading: bool

    def names(self) -> list[str]:
        """Phases in the order in which they began, the rank that began one first deciding."""
        began: dict[str, float] = {}
        for line in self.lines:
            for one in line.stretches:
                began[one.phase] = min(began.get(one.phase, one.start_s), one.start_s)
        return sorted(began, key=lambda name: began[name])


def writing(record: Json) -> Lines | None:
    """From the create to the last phase on the clock; None for a Record without time lines."""
    lines = _lines(record)
    ends = [one.end_s for line in lines for one in line.stretches if _counts(one.phase)]
    if not ends:
        return None
    return _within(record, lines, 0.0, max(ends), reading=False)


def reading(record: Json) -> Lines | None:
    """All that was read apart from the verification; None where nothing was."""
    lines = _lines(record)
    times = [
        (one.start_s, one.end_s)
        for line in lines for one in line.stretches if one.phase == "read_back"
    ]  # fmt: skip
    if not times:
        return None
    first, last = min(start for start, _ in times), max(end for _, end in times)
    return _within(record, lines, first, last, reading=True)


def _counts(phase: str) -> bool:
    return phase not in off_the_clock


def _lines(record: Json) -> list[Line]:
    found = record.get("time_lines")
    if not found:
        return []
    names = found["phases"]
    return [
        Line(
            line["rank"],
            [Stretch(names[one[0]], one[1], one[2]) for one in line["stretches"]],
            line["resolution_s"],
        )
        for line in found["list"]
    ]


def _within(record: Json, lines: list[Line], first: float, last: float, *, reading: bool) -> Lines:
    def cut(line: Line) -> Line:
        inside = [
            Stretch(one.phase, max(one.start_s, first) - first, min(one.end_s, last) - first)
            for one in line.stretches
            if one.start_s < last and one.end_s > first
        ]
        return Line(line.rank, inside, line.resolution_s)

    about = record["time_lines"]
    shifted_s = 0.0 if about["clock"] == "one" else about["clock_uncertainty_s"]
    return Lines(
        record["context"]["ranks"], [cut(line) for line in lines], last - first, shifted_s,
        None if reading else _bytes(record), reading,
    )  # fmt: skip


def _bytes(record: Json) -> dict[int, int] | None:
    """Of the data; where no phase holds it, of everything."""
    writers = record["writers"]
    if not writers["measured"]:
        return None
    data = {one["rank"]: one["by_phase"].get("write", {}).get("bytes_done", 0)
            for one in writers["list"]}  # fmt: skip
    if any(data.values()):
        return data
    return {one["rank"]: one["bytes_done"] for one in writers["list"]}


def sentence(found: Lines) -> str:
    """Who worked and who waited, from the times and, where they are known, the counts."""
    if found.reading:
        return _read(found)
    counted = found.bytes_done
    if counted is None:
        return f"Who wrote was not counted. {_alike(found, '')}"
    wrote = [rank for rank, size in counted.items() if size > 0]
    if not wrote:
        return "No rank wrote."
    said = _alike(found, "wrote") if len(wrote) == found.ranks else _apart(found, wrote)
    return f"{said}{_elsewhere(found)}"


def _apart(found: Lines, wrote: list[int]) -> str:
    """Some wrote everything."""
    writers = set(wrote)
    who = [line for line in found.lines if line.rank in writers]
    rest = [line for line in found.lines if line.rank not in writers]
    others = [rank for rank in range(found.ranks) if rank not in writers]
    said = f"{capital(ranks_words(wrote))} wrote everything"
    if who:
        said += f" and spent {_shares(found, who, _writing)} of the time in write calls"
    said += f"; {ranks_words(others)} wrote nothing"
    if not rest:
        return f"{said}."
    inside = [_share(found, line, _writing) for line in rest]
    waited = [_waited(found, line) for line in rest]
    if max(inside) < _by_the_way:
        return f"{said} and waited {_percent(waited)} of it."
    return (
        f"{said}: {_percent(inside)} of the time they were in write calls all the same, waiting "
        f"there, and {_percent(waited)} they waited elsewhere."
    )


def _alike(found: Lines, did: str) -> str:
    """All did the same."""
    times = f"{_shares(found, found.lines, _writing)} of the time in write calls"
    said = f"{_everybody(found)} {did}, {times}" if did else f"{_everybody(found)} spent {times}"
    if len(found.lines) == 1:
        return f"{said}."
    waited = [(_waited(found, line), line.rank) for line in found.lines]
    low, high = min(waited), max(waited)
    if high[0] - low[0] < _uneven:
        return f"{said}, and waited {_percent([low[0], high[0]])} of it for each other."
    return (
        f"{said}; rank {high[1]} waited longest for the others ({_percent([high[0]])}), rank "
        f"{low[1]} shortest ({_percent([low[0]])})."
    )


def _read(found: Lines) -> str:
    shares = [(_share(found, line, _reading), line.rank) for line in found.lines]
    low, high = min(shares), max(shares)
    said = (
        f"{_everybody(found)} read, {_percent([low[0], high[0]])} of the time in read calls; the "
        "rest went into opening, comparing and waiting"
    )
    if high[0] - low[0] < _uneven:
        return f"{said}."
    return f"{said}. Rank {high[1]} read longest, rank {low[1]} shortest."


def _everybody(found: Lines) -> str:
    if len(found.lines) == found.ranks > 1:
        return "Both ranks" if found.ranks == 2 else f"All {found.ranks} ranks"
    return capital(ranks_words([line.rank for line in found.lines]))


def _elsewhere(found: Lines) -> str:
    """The phase of work that took most, where that is not writing."""
    sums: dict[str, float] = {}
    for line in found.lines:
        for name, seconds in line.by_phase().items():
            if _counts(name) and name != "agree":
                sums[name] = sums.get(name, 0.0) + seconds
    if not sums:
        return ""
    most = max(sums, key=lambda name: sums[name])
    if most in _writing:
        return ""
    shares = [_share(found, line, {most}) for line in found.lines]
    share = _percent([sum(shares) / len(shares)])
    return f" The phase that took most was {most}: {share} of the time in the mean."


def _time(found: Lines, line: Line) -> float:
    """Of the rank, without what is off the clock."""
    if found.reading:
        return found.end_s
    return found.end_s - line.seconds(off_the_clock)


def _share(found: Lines, line: Line, phases: Collection[str]) -> float:
    time = _time(found, line)
    return line.seconds(phases) / time if time > 0 else 0.0


def _waited(found: Lines, line: Line) -> float:
    """In the agreement, and in no phase."""
    busy = sum(
        seconds for name, seconds in line.by_phase().items() if _counts(name) and name != "agree"
    )
    time = _time(found, line)
    return max(0.0, 1 - busy / time) if time > 0 else 0.0


def _shares(found: Lines, lines: Sequence[Line], phases: Collection[str]) -> str:
    return _percent([_share(found, line, phases) for line in lines])


def _percent(shares: Sequence[float]) -> str:
    low, high = f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def ranks_words(ranks: Sequence[int]) -> str:
    """`rank 0`, `ranks 1 to 3`, `ranks 1, 4 and 6`, `16 ranks (0, 4, 8, ...)`."""
    ordered = sorted(ranks)
    if len(ordered) == 1:
        return f"rank {ordered[0]}"
    if all(b - a == 1 for a, b in pairwise(ordered)):
        joint = "and" if len(ordered) == 2 else "to"
        return f"ranks {ordered[0]} {joint} {ordered[-1]}"
    if len(ordered) <= _most_named:
        return f"ranks {', '.join(map(str, ordered[:-1]))} and {ordered[-1]}"
    first = ", ".join(map(str, ordered[:3]))
    return f"{plural(len(ordered), 'rank')} ({first}, ...)"


def capital(words: str) -> str:
    """With a capital letter in front."""
    return words[:1].upper() + words[1:]
