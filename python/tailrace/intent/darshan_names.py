# SPDX-License-Identifier: Apache-2.0
"""Names of datasets in Darshan logs.

Darshan builds them as <file>:<name of the location><name given>, without a slash between the two:
the dataset x of the group /grp is "/grpx" when it is opened from the group and "//grp/x" when it is
opened from the file by its whole path. Both are one dataset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

Traits = TypeVar("Traits")


def path_of(name: str | None, file: str | None) -> tuple[str, str] | None:
    """File and dataset of a record's name; None where there is no name.

    Args:
        name: "<file>:<dataset>".
        file: the path of the file's record, where the record tells it: a path may hold colons.
    """
    if name is None:
        return None
    if file is not None and name.startswith(f"{file}:"):
        return file, single_slashes(name[len(file) + 1 :])
    head, colon, tail = name.rpartition(":")
    if not colon or not head:
        return (file, single_slashes(name)) if file is not None else None
    return file or head, single_slashes(tail)


def single_slashes(name: str) -> str:
    """ "//grp///x/" as "/grp/x"."""
    joined = re.sub(r"/+", "/", f"/{name}")
    return joined.rstrip("/") or "/"


def joined_names(traits: Mapping[str, Traits]) -> list[list[str]]:
    """Which names are one dataset; the name with the most slashes, the complete one, comes first.

    Two names are one where they differ in slashes only, one has all the slashes of the other, what
    is known of the two is the same, and there is no third name it could be as well.
    """
    by_letters: dict[str, list[str]] = {}
    for name in sorted(traits, key=lambda one: (-one.count("/"), one)):
        by_letters.setdefault(name.replace("/", ""), []).append(name)
    groups: list[list[str]] = []
    for names in by_letters.values():
        heads: list[list[str]] = []
        for name in names:
            fits = [group for group in heads
                    if traits[group[0]] == traits[name] and _within(name, group[0])]  # fmt: skip
            if len(fits) == 1:
                fits[0].append(name)
            else:
                heads.append([name])
        groups += heads
    return groups


def _within(name: str, longer: str) -> bool:
    """Whether each slash of `name` is also one of `longer`."""
    return _slashes(name) <= _slashes(longer)


def _slashes(name: str) -> set[int]:
    """Before which letter there is a slash."""
    places, letters = set(), 0
    for letter in name:
        if letter == "/":
            places.add(letters)
        else:
            letters += 1
    return places
