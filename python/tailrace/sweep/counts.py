# SPDX-License-Identifier: Apache-2.0
"""What a Record counted and read back: the causes that a difference of times can have."""

from __future__ import annotations

from dataclasses import dataclass

from tailrace.results.model import Json, Record
from tailrace.units import mib, plural


@dataclass(frozen=True)
class Counts:
    """Of one repetition. Calls and bytes are those made while data was written, below all
    libraries; besides: all other bytes written (fill values, metadata). None: not counted."""

    ranks: int
    writers: int | None
    calls: int
    data_bytes: int
    besides_bytes: int
    reads: int
    read_bytes: int
    moved_bytes: int | None  # at least so many went from one rank to another; None: not known
    logical_bytes: int
    stored_bytes: int
    reserved: bool
    mode: str
    mpi_io: str
    not_in_force: dict[str, str]  # hints that were asked for: what is in force instead
    phases_s: dict[str, float]  # of the rank that the others waited for

    @property
    def call_bytes(self) -> float:
        """In the mean."""
        return self.data_bytes / self.calls if self.calls else 0.0

    def who(self) -> str:
        """`1 of 4 ranks wrote everything (24 calls of 16.0 MiB)`."""
        if self.writers is None:
            return "who wrote was not counted"
        everything = "wrote everything" if self.writers == 1 < self.ranks else "wrote"
        return f"{self.writers} of {plural(self.ranks, 'rank')} {everything} ({self.size()})"

    def size(self) -> str:
        return f"{plural(self.calls, 'call')} of {mib(self.call_bytes)}"

    def who_short(self) -> str:
        """For the other side of a comparison."""
        if self.writers is None:
            return "not counted"
        return f"{self.writers} of {self.ranks} ({self.size()})"


def _moved(everybody: list[Json]) -> int | None:
    """What ranks wrote, while data was written, beyond what the kernel had given them. Not known
    where bytes were read to be modified: those are written too; nor where no phase holds the data.
    """
    given = [one.get("bytes_given") for one in everybody]
    writes = [one["by_phase"].get("write", {}) for one in everybody]
    if any(one is None for one in given) or not any(writes):
        return None
    if any(one.get("read_bytes") for one in writes):
        return None
    return sum(
        max(0, wrote.get("bytes_done", 0) - had) for wrote, had in zip(writes, given, strict=True)
    )


def counts_of(of: Record) -> Counts:
    record = of.full()
    writers = record["writers"]
    subfiled = record["file"]["settings"].get("driver") == "subfiling"
    data = [one["by_phase"]["write"] for one in writers["list"] if "write" in one["by_phase"]]
    if subfiled or not any(one["bytes_done"] for one in data):
        data = writers["list"]  # a format that writes at other times only, or threads that do
    data = [one for one in data if one["bytes_done"]]
    written = sum(one["bytes_done"] for one in data)
    everything = sum(one["bytes_done"] for one in writers["list"])
    in_force = record["mpi_io"]["hints_in_force"]
    return Counts(
        ranks=record["context"]["ranks"],
        writers=len(data) if writers["measured"] else None,
        calls=sum(one["calls"] for one in data),
        data_bytes=written,
        besides_bytes=everything - written,
        reads=sum(one.get("read_calls", 0) for one in data),
        read_bytes=sum(one.get("read_bytes", 0) for one in data),
        moved_bytes=_moved(writers["list"]) if writers["measured"] else None,
        logical_bytes=record["bytes"]["logical"] or 0,
        stored_bytes=record["bytes"]["stored"] or 0,
        reserved=record["reservation"]["reserved"],
        mode=record["transfers"]["mode"],
        mpi_io=record["mpi_io"]["implementation"],
        not_in_force={
            name: in_force.get(name, "nothing")
            for name, value in record["mpi_io"]["hints_requested"].items()
            if in_force.get(name) != value and record["mpi_io"]["implementation"]
        },
        phases_s=of.path(),
    )
