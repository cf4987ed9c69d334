# SPDX-License-Identifier: Apache-2.0
"""One file of two runs: by what it says where its format is known, else by its bytes."""

from __future__ import annotations

import glob
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from tailrace import interrupts
from tailrace.errors import TailraceError
from tailrace.tune import printed_lines
from tailrace.tune.printed_lines import Printed
from tailrace.verify.compare import CompareOptions, compare_files
from tailrace.verify.differences import CompareReport, Difference
from tailrace.verify.files import format_of

_most_differences = 1000  # more than these in one file: it differs as a whole
_most_text_bytes = 1 << 20


@dataclass(frozen=True)
class Itself:
    """What of a file differs from run to run of the default. whole: nothing of it is compared.
    ignore: patterns of objects and attributes. lines: of a file of text; None: it is none."""

    whole: bool = False
    ignore: tuple[str, ...] = ()
    lines: Printed | None = None

    def names(self, file: str) -> list[str]:
        """What is left out, by name."""
        if self.whole:
            return [file]
        if self.lines is not None:
            return [f"{file}: line {at + 1}" for at in sorted(self.lines.unsteady or ())]
        return [f"{file}: {pattern}" for pattern in self.ignore]


def together(one: Itself, other: Itself) -> Itself:
    """Of the same file, held against two others: what differs from either."""
    lines = one.lines or other.lines
    if one.lines and other.lines:
        lines = printed_lines.together(one.lines, other.lines)
    whole = one.whole or other.whole or (lines is not None and not lines.comparable)
    return Itself(whole, tuple(dict.fromkeys((*one.ignore, *other.ignore))), lines)


@dataclass
class Compared:
    """how: objects (and attributes, of a container), lines (of text), bytes, or left out; count:
    how many, 0 where there is no content: an empty file, bare groups. differences: sentences."""

    how: str
    count: int = 0
    read_bytes: int = 0
    differences: list[str] = field(default_factory=list)


def itself(one: Path, other: Path) -> Itself:
    """What differs between two runs of the default in one file."""
    if not _is_container(one) or not _is_container(other):
        return _itself_of_bytes(one, other)
    options = CompareOptions(most=_most_differences, elements_of_each=1, trusts_bytes=True)
    try:
        report = compare_files(one, other, options, _hear)
    except TailraceError:  # not whole, as a file may be at a close in between
        return Itself(whole=True)
    patterns = tuple(dict.fromkeys(_pattern(difference) for difference in report.first))
    listed = len({(one.path, one.kind, one.attribute) for one in report.first})
    if report.total > listed or "/" in patterns:
        return Itself(whole=True)
    return Itself(ignore=patterns)


def compared(default: Path, tuned: Path, known: Itself) -> Compared:
    """A file of the tuned run against that of the default one."""
    if known.whole:
        return Compared("left out")
    if known.lines is not None:
        return _compared_text(default, tuned, known.lines)
    if _is_container(default):
        return _compared_container(default, tuned, known)
    same = _hash(default) == _hash(tuned)
    size = default.stat().st_size
    return Compared("bytes", size, size, [] if same else ["has other bytes"])


def _compared_container(default: Path, tuned: Path, known: Itself) -> Compared:
    try:
        report = compare_files(
            default, tuned, CompareOptions(ignore=known.ignore, trusts_bytes=True), _hear
        )
    except TailraceError as error:
        return Compared("objects", differences=[f"cannot be read: {error.what}"])
    count = report.objects - 1 + report.attributes  # that there is a root says nothing
    has_content = report.read_bytes or report.attributes
    return Compared("objects", count if has_content else 0, report.read_bytes, _sentences(report))


def _hear(_done: int, _total: int) -> None:
    """Raises where an interrupt was swallowed by a library that calls back."""
    interrupts.check()


def _sentences(report: CompareReport) -> list[str]:
    found = list(dict.fromkeys(_sentence(difference) for difference in report.first))
    if report.total > len(found):
        found.append(f"{report.total - len(found)} more differences")
    return found


def _sentence(difference: Difference) -> str:
    place = difference.path
    if difference.attribute:
        place += f"@{difference.attribute}"
    return f"{place}: {difference.kind}: {difference.other}, by default {difference.one}"


def _pattern(difference: Difference) -> str:
    """The name of what differs, as a pattern that matches just that."""
    path = glob.escape(difference.path)
    return f"{path}@{glob.escape(difference.attribute)}" if difference.attribute else path


def _is_container(path: Path) -> bool:
    try:
        format_of(path)
    except TailraceError:
        return False
    return True


def _itself_of_bytes(one: Path, other: Path) -> Itself:
    if _hash(one) == _hash(other):
        return Itself()
    text, again = _text(one), _text(other)
    if text is None or again is None:
        return Itself(whole=True)
    lines = printed_lines.steady(text, again)
    return Itself(lines=lines) if lines.comparable else Itself(whole=True)


def _text(path: Path) -> bytes | None:
    """The content of a file of text that is not large."""
    if path.stat().st_size > _most_text_bytes:
        return None
    content = path.read_bytes()
    return None if b"\0" in content else content


def _compared_text(default: Path, tuned: Path, lines: Printed) -> Compared:
    text = _text(tuned)
    why = printed_lines.differs(lines, text) if text is not None else "is not text any more"
    size = default.stat().st_size
    return Compared("lines", lines.comparable, size, [why] if why else [])


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, xxhash.xxh3_128).hexdigest()
