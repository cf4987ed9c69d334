# SPDX-License-Identifier: Apache-2.0
"""What is kept of a Record: its figures. The whole of it is read again from its line when asked."""

from __future__ import annotations

import math
import shlex
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError
from tailrace.results.raw import parsed

Json = dict[str, Any]

# Phases outside of the durable total, which is from the create to the synced close.
off_the_clock = frozenset({"fill", "compute", "verify", "read_back", "read"})

# Names of files and how often: they say nothing about how a file is written.
keys_without_effect = frozenset({"filename", "results", "repeat"})

# Parts of the context that stay while the same program runs at the same place.
lasting_context = (
    "host", "os_kernel", "cores", "memory_bytes", "file_system", "mount_point", "mount_options",
    "file_system_source", "file_system_total_bytes", "striping", "mpi_library", "mpi_io",
    "hdf5_version", "compiler", "tailrace_version", "commit", "ranks", "nodes", "ranks_per_node",
)  # fmt: skip


@dataclass(eq=False)
class Settings:
    """What was run where: equal for all repetitions of a run, and held once for all of them.

    Compared by identity: read_results gives Records of equal settings the same object.
    configuration: without the keys in keys_without_effect. context: the keys of lasting_context.
    """

    kernel: str
    configuration: Json
    context: Json
    environment: dict[str, str]
    hints_requested: dict[str, str]

    @cached_property
    def flat(self) -> Json:
        """Everything under one name each: configuration keys as they are, `host`, `ranks`, ...,
        and `environment.NAME`. A key of the configuration hides one of the context."""
        environment = {f"environment.{name}": text for name, text in self.environment.items()}
        return {"kernel": self.kernel, **self.context, **environment, **self.configuration}


@dataclass(frozen=True)
class Arm:
    """The place of a run in a comparison that `tailrace compare --run` has made."""

    comparison: str
    name: str
    round: int
    without: tuple[str, ...] = ()  # factors of a sweep that have no effect in it
    default: bool = False  # of a sweep: it runs as if nothing was varied

    @property
    def words(self) -> list[str]:
        """Of a sweep: its settings, NAME=VALUE each; else the name."""
        try:
            return shlex.split(self.name)
        except ValueError:  # a name of somebody's own
            return [self.name]

    @property
    def shown(self) -> str:
        """The name, without factors that have no effect, and whether it is the default."""
        kept = [word for word in self.words if word.partition("=")[0] not in self.without]
        name = shlex.join(kept) or self.name
        return f"{name} (default)" if self.default else name


@dataclass(slots=True)
class Record:
    """One repetition. Times in seconds, sizes in bytes, rates in bytes per second; None: not
    measured, or the repetition failed."""

    source: Path
    line: int  # counted from 1
    offset: int  # of the line in the file, in bytes
    length: int

    settings: Settings
    run_id: str
    repetition: int
    warm_up: bool
    status: str
    error: str | None  # "code: message" of a failed one
    started: str
    arm: Arm | None
    filename: str  # as configured

    load_1m: float
    dirty_bytes: int
    page_cache_bytes: int
    memory_available_bytes: int
    file_system_free_bytes: int

    logical_bytes: int | None
    stored_bytes: int | None
    allocated_bytes: int | None
    durable_s: float | None
    write_s: float | None
    aggregate_s: float | None
    durable_bytes_per_s: float | None
    write_bytes_per_s: float | None
    aggregate_bytes_per_s: float | None

    phase_names: tuple[str, ...]  # sorted; shared between Records
    # Of each phase, one after the other: min, mean, max over ranks, and on the path
    phase_s: array[float]

    limit_names: tuple[str, ...]  # arms of the limit, sorted; empty: not asked for
    limit_bytes_per_s: array[float]  # of each; NaN where it was not measured

    ranks_that_wrote: int | None  # None: calls were not counted; the next four are 0 then
    calls: int
    bytes_done: int
    smallest_bytes: int  # asked by the smallest call of a rank that made one
    largest_bytes: int

    steps: int
    collective_actual: bool | None
    verification: str
    peak_above_init_bytes: int | None
    read_bytes_per_s: float | None
    stall_s: float | None  # of a model, on the rank that waited longest

    @property
    def kernel(self) -> str:
        return self.settings.kernel

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def timed(self) -> bool:
        """Whether statistics may use it: it ended well, and is no warm-up."""
        return self.ok and not self.warm_up

    @property
    def where(self) -> str:
        return f"{self.source}:{self.line}"

    def phases(self) -> Iterator[tuple[str, float, float, float]]:
        """Name, min, mean and max over ranks, in seconds."""
        for at, name in enumerate(self.phase_names):
            low, mean, high, _path = self.phase_s[4 * at : 4 * at + 4]
            yield name, low, mean, high

    def path(self) -> dict[str, float]:
        """Seconds of each phase on the rank that the others waited for, until the file had its
        name; of an average rank in a failed run, and in Records of before this was noted."""
        return dict(zip(self.phase_names, self.phase_s[3::4], strict=True))

    def limits(self) -> dict[str, float]:
        """Rates of the arms of the limit that were measured, in bytes per second."""
        pairs = zip(self.limit_names, self.limit_bytes_per_s, strict=True)
        return {name: rate for name, rate in pairs if not math.isnan(rate)}

    def full(self) -> Json:
        """The whole Record, read again from its file."""
        with self.source.open("rb") as stream:
            stream.seek(self.offset)
            data = parsed(stream.read(self.length))
        if not isinstance(data, dict) or data.get("run_id") != self.run_id:
            raise TailraceError(
                "the file has changed while it was read",
                where=self.where,
                hint="read it again when nothing writes it anew",
                code=ExitCode.RUN_FAILED,
            )
        return data


most_places = 5


@dataclass
class Problem:
    """Lines that are no Record of ours; they are left out, and counted."""

    kind: str  # empty, damaged, too_long, other, incomplete
    count: int = 0
    first: list[str] = field(default_factory=list)  # file:line of the first most_places


@dataclass
class Problems:
    """What was left out while reading, by kind."""

    by_kind: dict[str, Problem] = field(default_factory=dict)

    def add(self, kind: str, where: str) -> None:
        problem = self.by_kind.setdefault(kind, Problem(kind))
        problem.count += 1
        if len(problem.first) < most_places:
            problem.first.append(where)

    def join(self, others: Problems) -> None:
        """Adds those of another reading."""
        for kind, other in others.by_kind.items():
            mine = self.by_kind.setdefault(kind, Problem(kind))
            mine.count += other.count
            mine.first = [*mine.first, *other.first][:most_places]

    def __bool__(self) -> bool:
        return bool(self.by_kind)

    @property
    def count(self) -> int:
        return sum(problem.count for problem in self.by_kind.values())

    def texts(self) -> list[str]:
        """A line for each kind."""
        return [
            f"{_words[one.kind][one.count > 1].format(count=one.count)} left out: "
            + ", ".join(one.first)
            + (", ..." if one.count > len(one.first) else "")
            for one in self.by_kind.values()
        ]

    def as_json(self) -> list[Json]:
        return [vars(one) for one in self.by_kind.values()]


_words = {
    "empty": ("{count} empty line is", "{count} empty lines are"),
    "damaged": (
        "{count} damaged or truncated line is",
        "{count} damaged or truncated lines are",
    ),
    "too_long": ("{count} line of over 64 MiB is", "{count} lines of over 64 MiB are"),
    "other": ("{count} line that is no Record is", "{count} lines that are no Record are"),
    "incomplete": (
        "{count} Record that lacks what every Record has is",
        "{count} Records that lack what every Record has are",
    ),
}


@dataclass
class ResultSet:
    """Records in the order of the files and lines."""

    records: list[Record]
    problems: Problems
    sources: list[Path]
