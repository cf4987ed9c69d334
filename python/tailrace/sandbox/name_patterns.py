# SPDX-License-Identifier: Apache-2.0
"""Names of files that differ by themselves from run to run: a process number, a time, a UUID, the
random letters of mkstemp. Two such names give a pattern, which the name of a third run fits. Where
only one file of each run fits it they are the same file of the program, whatever its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_uuid = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
# Of a time to the second all is one: two runs in one minute would have the minute in the pattern.
_time = re.compile(
    r"(?<![0-9])(?:[0-9]{4}[-_.]?[0-9]{2}[-_.]?[0-9]{2}[-_.T ])?"
    r"[0-2][0-9][-_.:h][0-5][0-9][-_.:m][0-5][0-9](?![0-9])"
)
_whole = rf"{_uuid.pattern}|{_time.pattern}"
# Each of them is one word, also where another is right before it.
_words = re.compile(rf"{_whole}|[A-Za-z0-9_]+?(?={_whole})|[A-Za-z0-9_]+|[^A-Za-z0-9_]+")
_digits = re.compile(r"[0-9]+|[^0-9]+")
_hex = re.compile(r"[0-9a-f]{6,}|[0-9A-F]{6,}")
_random = re.compile(r"[A-Za-z0-9_]{6,}")
_random_lengths = {6, 8, 10}  # of mkstemp in C, in Python, and of mktemp in the shell
_of_python = re.compile(r"(tmp)[a-z0-9_]{8}")
_most_pairs = 10_000  # of names of two runs that are held against each other


@dataclass(frozen=True)
class Pattern:
    """shown: with * for what differs."""

    shown: str
    expression: str

    def fits(self, name: str) -> bool:
        return re.fullmatch(self.expression, name) is not None


def pattern_of(one: str, other: str) -> Pattern | None:
    """None: the names differ otherwise, so that they say something."""
    words, others = _words.findall(one), _words.findall(other)
    if one == other or len(words) != len(others):
        return None
    pieces = [_piece(*pair) for pair in zip(words, others, strict=True)]
    if any(piece is None for piece in pieces):
        return None
    known = [piece for piece in pieces if piece is not None]
    return Pattern("".join(one for one, _ in known), "".join(other for _, other in known))


def patterns(names: Iterable[str], others: Iterable[str]) -> list[Pattern]:
    """Of the names that only one of two runs wrote, each with one of the other run."""
    found = {}
    there = list(others)
    for name in names:
        for other in there:
            if pattern := pattern_of(name, other):
                found[pattern.expression] = pattern
                break
    return sorted(found.values(), key=lambda pattern: pattern.shown)


def partners(names: Collection[str], others: Collection[str]) -> dict[str, tuple[str, Pattern]]:
    """Of the names that only one of two runs wrote: those that are the only ones of their pattern
    on either side, each with that of the other run."""
    if len(names) * len(others) > _most_pairs:
        return {}
    found: dict[str, tuple[str, Pattern]] = {}
    for name in names:
        fitting = [
            (other, pattern)
            for other in others
            if (pattern := pattern_of(name, other))
            and the_one(pattern, names) == name
            and the_one(pattern, others) == other
        ]
        if len(fitting) == 1:
            found[name] = fitting[0]
    taken = Counter(other for other, _ in found.values())
    return {name: partner for name, partner in found.items() if taken[partner[0]] == 1}


def the_one(pattern: Pattern, names: Iterable[str]) -> str | None:
    """Which of them fits, where just one does."""
    fitting = [name for name in names if pattern.fits(name)]
    return fitting[0] if len(fitting) == 1 else None


def _piece(one: str, other: str) -> tuple[str, str] | None:
    """What is shown, and the expression, of one word of two names."""
    if one == other:
        return one, re.escape(one)
    for kind in (_uuid, _time):
        if kind.fullmatch(one) and kind.fullmatch(other):
            return "*", kind.pattern
    return _numbered(one, other) or _lettered(one, other)


def _numbered(one: str, other: str) -> tuple[str, str] | None:
    parts, others = _digits.findall(one), _digits.findall(other)
    if len(parts) != len(others):
        return None
    shown = expression = ""
    for part, another in zip(parts, others, strict=True):
        if part == another:
            shown, expression = shown + part, expression + re.escape(part)
        elif part.isdigit() and another.isdigit():
            shown, expression = shown + "*", expression + "[0-9]+"
        else:
            return None
    return shown, expression


def _lettered(one: str, other: str) -> tuple[str, str] | None:
    """Letters at random at the end of a word, as many in each."""
    if _of_python.fullmatch(one) and _of_python.fullmatch(other):
        return "tmp*", _of_python.pattern
    if len(one) != len(other):
        return None
    same = next(at for at, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
    # By chance digits are the same too: the hex may begin before the first that differ.
    for begin in range(same + 1):
        if _are_hex(one[begin:], other[begin:]):
            return _tail(one, begin, "[0-9a-fA-F]")
    for begin in range(same, -1, -1):  # their number is known: the least that it can be
        if _are_random(one[begin:], other[begin:]):
            return _tail(one, begin, "[A-Za-z0-9_]")
    return None


def _tail(word: str, begin: int, kind: str) -> tuple[str, str]:
    start = word[:begin]
    return f"{start}*", f"{re.escape(start)}{kind}{{{len(word) - begin}}}"


def _are_hex(one: str, other: str) -> bool:
    """Words without digits say something."""
    both = _hex.fullmatch(one) and _hex.fullmatch(other)
    return bool(both and re.search("[0-9]", one + other))


def _are_random(one: str, other: str) -> bool:
    return len(one) in _random_lengths and _looks_random(one) and _looks_random(other)


def _looks_random(letters: str) -> bool:
    """Digits among letters, or large ones after small ones, as words do not have them."""
    if not _random.fullmatch(letters):
        return False
    return bool(re.search("[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]", letters))
