# SPDX-License-Identifier: Apache-2.0
"""What programs print, line by line: the only content that a program that writes nothing shows."""

from __future__ import annotations

from dataclasses import dataclass

_longest = 80


@dataclass(frozen=True)
class Printed:
    """Lines of one output that are the same in two runs of the default, and those that are not.

    steady: None where not even the number of lines is; then nothing can be compared.
    """

    lines: tuple[bytes, ...]
    unsteady: frozenset[int] | None

    @property
    def comparable(self) -> int:
        """Lines that say something and do not differ by themselves."""
        if self.unsteady is None:
            return 0
        kept = (line for at, line in enumerate(self.lines) if at not in self.unsteady)
        return sum(1 for line in kept if line.strip())


def steady(one: bytes, other: bytes) -> Printed:
    """From what two runs of the same command printed."""
    lines, others = tuple(one.split(b"\n")), tuple(other.split(b"\n"))
    if len(lines) != len(others):
        return Printed(lines, None)
    pairs = enumerate(zip(lines, others, strict=True))
    return Printed(lines, frozenset(at for at, (a, b) in pairs if a != b))


def together(one: Printed, other: Printed) -> Printed:
    """Of the same output, held against two others: what differs from either."""
    if one.unsteady is None or other.unsteady is None:
        return Printed(one.lines, None)
    return Printed(one.lines, one.unsteady | other.unsteady)


def differs(expected: Printed, text: bytes) -> str:
    """The first line that is another one, as the end of a sentence; "": none is, or none can be
    compared."""
    if expected.unsteady is None:
        return ""
    lines = text.split(b"\n")
    if len(lines) != len(expected.lines):
        return f"{len(lines)} lines and {len(expected.lines)} by default"
    for at, (was, now) in enumerate(zip(expected.lines, lines, strict=True)):
        if at not in expected.unsteady and was != now:
            return f"line {at + 1} is {_shown(now)} and {_shown(was)} by default"
    return ""


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _longest else text[: _longest - 3] + "...")
