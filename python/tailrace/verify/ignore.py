# SPDX-License-Identifier: Apache-2.0
"""What a comparison leaves out."""

from __future__ import annotations

from fnmatch import fnmatchcase

# Provenance that the netCDF library writes and hides: versions of libraries, not content.
_always = (("/", "_NCProperties"),)


class Ignore:
    """Patterns as the shell's (`*` also matches `/`): of a path, or of path@attribute.

    A pattern without a slash is matched with the last part of the path, at any depth; `@units` is
    that attribute of every object.
    """

    def __init__(self, patterns: tuple[str, ...] = ()) -> None:
        self._patterns = patterns
        self._used: set[str] = set()

    def path(self, path: str) -> bool:
        """Whether the object (and what lies below it) is left out."""
        return any(self._hit(pattern, _matches(path, pattern)) for pattern in self._patterns)

    def attribute(self, path: str, name: str) -> bool:
        if (path, name) in _always:
            return True
        return any(
            self._hit(pattern, _matches_attribute(path, name, pattern))
            for pattern in self._patterns
            if "@" in pattern
        )

    def unused(self) -> list[str]:
        """Patterns that matched nothing: probably mistyped."""
        return [pattern for pattern in self._patterns if pattern not in self._used]

    def _hit(self, pattern: str, hit: bool) -> bool:
        if hit:
            self._used.add(pattern)
        return hit


def _matches(path: str, pattern: str) -> bool:
    whole = path if "/" in pattern else path.rpartition("/")[2]
    return fnmatchcase(whole, pattern)


def _matches_attribute(path: str, name: str, pattern: str) -> bool:
    of_path, _, of_name = pattern.rpartition("@")
    if not fnmatchcase(name, of_name):
        return False
    return of_path == "" or _matches(path, of_path)
