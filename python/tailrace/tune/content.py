# SPDX-License-Identifier: Apache-2.0
"""Whether a tuned run has left what the default leaves: the proof of content.

First the default against itself: what differs there differs by itself and is left out, by name.
Then tuned against default, over every file that was written and all that H5Dread gave; what is
printed counts where there is neither. Where nothing could be compared nothing is proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tailrace import interrupts
from tailrace.sandbox.name_patterns import Pattern, partners, patterns, the_one
from tailrace.tune import closed_files, delivered_reads, file_content, printed_lines
from tailrace.tune.delivered_reads import Reads
from tailrace.tune.file_content import Itself, compared, itself
from tailrace.tune.oldest_reader import newer_than
from tailrace.tune.printed_lines import Printed
from tailrace.units import mib, plural


@dataclass(frozen=True)
class Result:
    """What one run has left. files: by name, each where it is kept. stdout: what it printed.
    reads: what it was given; unseen: more than 0 where there was more than could be noted.
    notes: what else was not looked at."""

    files: dict[str, Path]
    removed: tuple[str, ...]
    stdout: bytes
    code: int
    reads: Reads = field(default_factory=dict)
    unseen: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ByItself:
    """What differs from run to run of the default. files: those that both wrote. only: names of
    files that one of them did not write; patterns: of those that differ by a number or by random
    letters. renamed: files whose names differ so, but of which each run has one: they are compared,
    by their names in the first run. reads: datasets that were not read alike; read_patterns:
    likewise."""

    files: dict[str, Itself]
    only: tuple[str, ...]
    printed: Printed
    reads: frozenset[str] = frozenset()
    patterns: tuple[Pattern, ...] = ()
    read_patterns: tuple[Pattern, ...] = ()
    renamed: dict[str, tuple[Pattern, ...]] = field(default_factory=dict)

    def forgives(self, file: str) -> bool:
        """A file of this name may be there or not."""
        return file in self.only or _fits(file, self.patterns)

    def by_first_names(self, default: Result, other: Result) -> Result:
        """A run, its files called as those of the first one, as far as that is certain."""
        new = [name for name in other.files if name not in self.files]
        names: dict[str, str] = {}
        for first, known in self.renamed.items():
            found = {name for pattern in known if (name := the_one(pattern, new))}
            is_wanted = first in default.files and first not in other.files
            if is_wanted and len(found) == 1 and found.isdisjoint(names):
                names[found.pop()] = first
        return replace(
            other, files={names.get(name, name): path for name, path in other.files.items()}
        )

    @property
    def names(self) -> list[str]:
        """What is left out, by name."""
        each = [name for file, known in self.files.items() for name in known.names(file)]
        reads = _by_pattern(sorted(self.reads), self.read_patterns)
        each += [f"values read from {name}" for name in reads]
        lines = self.printed.unsteady
        if lines is None:
            each.append("standard output")
        else:
            each += [f"standard output: line {at + 1}" for at in sorted(lines)]
        return [*_by_pattern(self.only, self.patterns), *each]


@dataclass
class Report:
    """Of one tuned run. closes_compared: copies of files as they were when they were closed, and
    are not any more in the end. what: what was compared, in words. differences: sentences, each
    with the file; files: names of those that differ."""

    files_compared: int = 0
    closes_compared: int = 0
    objects_compared: int = 0
    compared_bytes: int = 0
    datasets_read: int = 0
    reads_compared: int = 0
    read_bytes: int = 0
    printed_lines: int = 0
    what: str = ""
    differences: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        return not (
            self.files_compared or self.closes_compared or self.reads_compared or self.printed_lines
        )

    @property
    def equal(self) -> bool:
        return not self.differences and not self.nothing

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "equal": self.equal}


def by_itself(one: Result, other: Result) -> ByItself:
    """From two runs of the default."""
    both = one.files.keys() & other.files.keys()
    apart = sorted(one.files.keys() - both), sorted(other.files.keys() - both)
    same = partners(*apart)
    taken = {name for name, _ in same.values()}
    left = [name for name in apart[0] if name not in same], [n for n in apart[1] if n not in taken]
    pairs = {name: name for name in both} | {name: other for name, (other, _) in same.items()}
    alike_reads = patterns(
        sorted(one.reads.keys() - other.reads.keys()), sorted(other.reads.keys() - one.reads.keys())
    )
    return ByItself(
        {name: itself(one.files[name], other.files[pairs[name]]) for name in sorted(pairs)},
        tuple(sorted((*left[0], *left[1]))),
        printed_lines.steady(one.stdout, other.stdout),
        delivered_reads.unsteady(one.reads, other.reads),
        tuple(patterns(*left)),
        tuple(alike_reads),
        {name: (pattern,) for name, (_, pattern) in same.items()},
    )


def together(one: ByItself, other: ByItself) -> ByItself:
    """Of the same run of the default, held against two others: what differs from either."""
    both = one.files.keys() & other.files.keys()
    apart = one.files.keys() ^ other.files.keys()
    renamed = {
        name: _each_once(one.renamed.get(name, ()), other.renamed.get(name, ()))
        for name in sorted({*one.renamed, *other.renamed})
    }
    no_more = [pattern for name in apart for pattern in renamed.get(name, ())]
    return ByItself(
        {name: file_content.together(one.files[name], other.files[name]) for name in sorted(both)},
        tuple(sorted({*one.only, *other.only, *apart})),
        printed_lines.together(one.printed, other.printed),
        one.reads | other.reads,
        _each_once(one.patterns, other.patterns, no_more),
        _each_once(one.read_patterns, other.read_patterns),
        {name: known for name, known in renamed.items() if name in both},
    )


def _each_once(*groups: Iterable[Pattern]) -> tuple[Pattern, ...]:
    return tuple(dict.fromkeys(pattern for group in groups for pattern in group))


def against_default(default: Result, tuned: Result, known: ByItself) -> Report:
    """What a tuned run has left, held against a run of the default."""
    report = Report()
    tuned = known.by_first_names(default, tuned)
    if tuned.code != default.code:
        report.differences.append(f"exit code {tuned.code}, by default {default.code}")
    _same_files(default, tuned, known, report)
    has_content = bool(known.only)
    for name, expectation in known.files.items():
        if name in tuned.files and name in default.files:
            has_content |= _one_file(name, default, tuned, expectation, report)
    by_themselves = {name for name in tuned.reads if _fits(name, known.read_patterns)}
    given = delivered_reads.compared(default.reads, tuned.reads, known.reads | by_themselves)
    _same_reads(given, report)
    report.notes += [note for note in default.notes if note not in tuned.notes]
    report.notes += tuned.notes
    if default.unseen or tuned.unseen:
        report.notes.append("not compared: reads of some datasets, for want of room to note them")
    _same_print(tuned, known, report, counts=not (has_content or report.reads_compared))
    report.what = "; ".join(filter(None, [_what(report), given.what])) or "nothing"
    interrupts.check()  # one that was swallowed meanwhile: then this was cut short, and is no proof
    return report


def _fits(name: str, patterns: Sequence[Pattern]) -> bool:
    return any(pattern.fits(name) for pattern in patterns)


def _by_pattern(names: Sequence[str], patterns: Sequence[Pattern]) -> list[str]:
    """The patterns, and names that fit none."""
    return [
        *(pattern.shown for pattern in patterns),
        *(name for name in names if not _fits(name, patterns)),
    ]


def _same_files(default: Result, tuned: Result, known: ByItself, report: Report) -> None:
    for name in sorted(known.files.keys() - tuned.files.keys()):
        report.differences.append(f"{name}: was not written")
        report.files.append(name)
    more = tuned.files.keys() - default.files.keys()
    for name in sorted(name for name in more if not known.forgives(name)):
        report.differences.append(f"{name}: is not written by default")
        report.files.append(name)
    if set(default.removed) != set(tuned.removed):
        report.differences.append("other files were removed")


def _one_file(name: str, default: Result, tuned: Result, known: Itself, report: Report) -> bool:
    """Whether there is any content in it, compared or left out."""
    found = compared(default.files[name], tuned.files[name], known)
    if found.how == "left out":
        return True
    problems = list(found.differences)
    if not problems:
        problems += newer_than(default.files[name], tuned.files[name])
    if problems:
        report.files.append(name)
        report.differences += [f"{name}: {one}" for one in problems]
    if found.count and closed_files.is_close(name):
        report.closes_compared += 1
    elif found.count:
        report.files_compared += 1
    report.objects_compared += found.count if found.how == "objects" else 0
    report.compared_bytes += found.read_bytes
    return bool(found.count or known.ignore)


def _same_reads(given: delivered_reads.Compared, report: Report) -> None:
    report.datasets_read, report.reads_compared = given.datasets, given.calls
    report.read_bytes = given.bytes
    report.differences += given.differences
    report.files += given.files
    report.notes += given.notes


def _same_print(tuned: Result, known: ByItself, report: Report, *, counts: bool) -> None:
    """Where files are written, or what is read was hashed, that is the content, and what is printed
    is mostly about the run. Files without content are none."""
    why = printed_lines.differs(known.printed, tuned.stdout)
    if not counts:
        if why:
            report.notes.append(f"standard output: {why}")
        return
    report.printed_lines = known.printed.comparable
    if why:
        report.differences.append(f"standard output: {why}")


def _what(report: Report) -> str:
    counts = {
        "file": report.files_compared, "earlier close": report.closes_compared,
        "object": report.objects_compared,
    }  # fmt: skip
    if report.files_compared or report.closes_compared:
        named = [plural(count, one) for one, count in counts.items() if count]
        return ", ".join([*named, mib(report.compared_bytes)])
    if report.printed_lines:
        return f"standard output ({plural(report.printed_lines, 'line')})"
    return ""
