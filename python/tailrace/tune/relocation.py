# SPDX-License-Identifier: Apache-2.0
"""Paths that mean the same in the user's folder and in a scratch folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from tailrace.globs import matches

Document = dict[str, Any]

_special = "*?[\\"


def words_in(words: Sequence[str], home: Path, there: Path) -> list[str]:
    """The command as it is to be started in `there`: what it names by an absolute path below
    `home` lies there too; what lies beside or above `home` is named absolutely."""
    return [_word(word, home, there) for word in words]


def _word(word: str, home: Path, there: Path) -> str:
    key, equals, value = word.partition("=")
    if equals and not key.startswith("/"):
        return f"{key}={_path(value, home, there)}"
    return _path(word, home, there)


def _path(text: str, home: Path, there: Path) -> str:
    if text.startswith("/") and text.strip("/"):
        folder, name = os.path.split(text.rstrip("/"))
        real = str(Path(os.path.realpath(folder), name))  # the folder may be known by a link too
        if real == str(home) or real.startswith(f"{home}/"):
            return f"{there}{real[len(str(home)) :]}"
    if text == ".." or text.startswith("../"):
        absolute = os.path.normpath(home / text)
        if os.path.lexists(absolute) or Path(absolute).parent.is_dir():
            return absolute
    return text


def profile_at_home(profile: Document, homes: Sequence[tuple[Path, Path]]) -> Document:
    """A profile taken in a scratch folder, with its files where they are in the user's own.

    Args:
        profile: of schema tailrace-profile/1.
        homes: of each pair the first path becomes the second.
    """
    files = []
    for file in profile.get("files", []):
        changed = {**file, "path": at_home(file["path"], homes)}
        if "names" in file:
            changed["names"] = [at_home(name, homes) for name in file["names"]]
        files.append(changed)
    return {**profile, "files": files}


def at_home(text: str, homes: Iterable[tuple[Path, Path]]) -> str:
    """A path, and what may follow it, in the folder that stands for the one it is in."""
    for there, home in homes:
        if text == str(there) or text.startswith(f"{there}/"):
            return str(home) + text[len(str(there)) :]
    return text


def plan_in(plan: Document, home: Path, places: Sequence[Path]) -> Document:
    """A plan for the user's folder, as it has to be where its files lie in `places` instead."""
    entries = []
    for entry in plan.get("entries", []):
        rest = _below(entry["file"], home)
        if rest is None:
            entries.append(entry)
            continue
        entries += [{**entry, "file": f"{literal(str(place))}/{rest}"} for place in places]
    return {**{key: value for key, value in plan.items() if key != "hash"}, "entries": entries}


def literal(path: str) -> str:
    """A path as a pattern that matches just it."""
    return "".join(f"\\{letter}" if letter in _special else letter for letter in path)


def _below(pattern: str, home: Path) -> str | None:
    """The pattern without the folder, part by part, since numbers in it may be generalised; None
    where it is for files elsewhere, or of any folder."""
    if not pattern.startswith("/"):
        return None
    parts = pattern.split("/")[1:]
    own = PurePosixPath(home).parts[1:]
    if len(parts) <= len(own):
        return None
    if all(matches(name, part) for part, name in zip(parts, own, strict=False)):
        return "/".join(parts[len(own) :])
    return None
