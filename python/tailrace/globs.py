# SPDX-License-Identifier: Apache-2.0
"""Patterns of plans, which are those of fnmatch in the C library: a backslash before a character
takes it literally. Python's fnmatch knows brackets alone."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

_special = "*?["


def _characters(pattern: str) -> Iterator[tuple[str, bool]]:
    """Each character, and whether it stands for itself."""
    literally = False
    for character in pattern:
        if literally or character != "\\":
            yield character, literally
            literally = False
        else:
            literally = True


@lru_cache(4096)
def for_python(pattern: str) -> str:
    """The same for Python's fnmatch."""
    return "".join(
        f"[{character}]" if literally and character in _special else character
        for character, literally in _characters(pattern)
    )


def matches(name: str, pattern: str) -> bool:
    """Whether a name, or a path of datasets, is of a pattern."""
    return fnmatchcase(name, for_python(pattern))


def fits(path: str, pattern: str) -> bool:
    """Whether a pattern of a plan is for this file; no part of it goes beyond a folder."""
    if "/" not in pattern:
        return matches(path.rpartition("/")[2], pattern)
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(matches, parts, wanted))


def name_of(pattern: str) -> str | None:
    """The only name that it is for; None: something in it is open."""
    characters = list(_characters(pattern))
    if any(character in _special and not literally for character, literally in characters):
        return None
    return "".join(character for character, _ in characters)


def name_or_pattern(pattern: str) -> str:
    """The name itself where nothing in the pattern is open, else a pattern for Python's fnmatch."""
    name = name_of(pattern)
    return for_python(pattern) if name is None else name
