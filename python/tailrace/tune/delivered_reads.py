# SPDX-License-Identifier: Apache-2.0
"""What `H5Dread` gave to a program, as the connector hashed it in a run of the proof: for programs
that read this is the content."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.tune import relocation
from tailrace.units import mib, plural

Document = dict[str, Any]


@dataclass(frozen=True)
class Read:
    """All reads of one dataset together. hash: of those that were hashed, whatever their order."""

    calls: int
    bytes: int
    hash: str
    not_hashed: int

    @property
    def hashed(self) -> int:
        """Calls that are in the hash."""
        return self.calls - self.not_hashed


# By `file:dataset`.
Reads = dict[str, Read]


def reads_of(document: Sequence[Document]) -> Reads:
    """From what a run has noted."""
    return {
        f"{one['file']}:{one['dataset'] or 'what references lead to'}": Read(
            one["calls"], one["bytes"], one["hash"], one["not_hashed"]
        )
        for one in document
    }


def at_home(document: Sequence[Document], homes: Sequence[tuple[Path, Path]]) -> list[Document]:
    """What a run in a scratch folder has noted, with the files where the user has them."""
    return [{**one, "file": relocation.at_home(one["file"], homes)} for one in document]


def unsteady(one: Mapping[str, Read], other: Mapping[str, Read]) -> frozenset[str]:
    """Datasets of which two runs of the default did not read the same."""
    return frozenset(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@dataclass
class Compared:
    """datasets and calls: of which what was read was held side by side. files: of differences.
    notes: what was not looked at."""

    datasets: int = 0
    calls: int = 0
    bytes: int = 0
    differences: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def what(self) -> str:
        """In words; "": nothing."""
        if not self.datasets:
            return ""
        reads, datasets = plural(self.calls, "read"), plural(self.datasets, "dataset")
        return f"the values of {reads} of {datasets} ({mib(self.bytes)})"


def compared(
    default: Mapping[str, Read], tuned: Mapping[str, Read], left_out: Collection[str]
) -> Compared:
    """What a tuned run was given, held against the default."""
    found = Compared()
    for name in sorted(default.keys() | tuned.keys()):
        if name in left_out:
            continue
        was, now = default.get(name), tuned.get(name)
        if was is not None and was == now:
            _note_equal(name, was, found)
            continue
        found.differences.append(f"{name}: {_difference(was, now)}")
        found.files.append(name.rpartition(":")[0])
    return found


def _note_equal(name: str, read: Read, found: Compared) -> None:
    if read.hashed and read.bytes:
        found.datasets += 1
        found.calls += read.hashed
        found.bytes += read.bytes
    if read.not_hashed:
        found.notes.append(
            f"not compared: {read.not_hashed} of {plural(read.calls, 'read')} of {name} "
            "(lists, references, or still under way)"
        )


def _difference(was: Read | None, now: Read | None) -> str:
    if was is None:
        return "is not read by default"
    if now is None:
        return "was not read"
    if (was.calls, was.bytes, was.not_hashed) == (now.calls, now.bytes, now.not_hashed):
        return f"H5Dread gave other values, in {plural(was.calls, 'read')}"
    return (
        f"is read in another way: {plural(now.calls, 'read')}, {mib(now.bytes)}; by default "
        f"{plural(was.calls, 'read')}, {mib(was.bytes)}"
    )
