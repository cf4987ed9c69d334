# SPDX-License-Identifier: Apache-2.0
"""The dictionary of the lines for Python: settings by name, as the program has the names."""

from __future__ import annotations

_class = '''\
import os
import warnings
from fnmatch import fnmatchcase


class Settings(dict):
    """Of a file, or of a file and an object in it. Keys: names from the root, or patterns; asked
    for by what the program calls them."""

    def __missing__(self, key):
        said = (os.fspath(key),) if isinstance(key, (str, os.PathLike)) else tuple(key)
        said = (os.path.normpath(said[0]), *(name or "/" for name in said[1:]))
        full = os.path.abspath(said[0]), os.path.realpath(said[0])
        objects = ["/" + name.strip("/") for name in said[1:]]
        whole = [(path, *objects) for path in full]
        for names in (*whole, *((path, *said[1:]) for path in full), said):
            found = [value for known, value in self.items() if self.fits(known, names)]
            if found and (names in whole or found.count(found[0]) == len(found)):
                return found[0]
        warnings.warn(f"no settings for {key}; there are for {list(self)[:3]}", stacklevel=2)
        return {}

    @staticmethod
    def fits(known, names):
        """A name that does not begin at the root may be the end of a known one."""
        for whole, name in zip((known,) if isinstance(known, str) else known, names, strict=True):
            end = "/".join(whole.split("/")[-name.count("/") - 1 :])
            if name not in (whole, end) and not fnmatchcase(name, end):
                return False
        return True
'''


def dictionary(name: str, comments: list[str], entries: list[str]) -> list[str]:
    """`name = Settings({...})` below its comments; none where there are no entries."""
    if not entries:
        return []
    return [*(f"# {text}" for text in comments), f"{name} = Settings({{", *entries, "})"]


def with_class(dictionaries: list[str]) -> list[str]:
    """The class above what needs it."""
    return [*_class.splitlines(), "", "", *dictionaries] if dictionaries else []
