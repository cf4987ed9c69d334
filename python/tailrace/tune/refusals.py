# SPDX-License-Identifier: Apache-2.0
"""What a confined run was not let do, or could not find, since it works in a folder of its own.

It is taken from the profile and from what the program said; nothing tells it reliably, so that it
only explains what went wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError
from tailrace.units import some

Document = Mapping[str, Any]

_denied = re.compile(r"[Pp]ermission denied|[Ee]rrno(?: =)? 1[38]\b|cross-device link")
_missing = re.compile(r"[Nn]o such file|[Ee]rrno(?: =)? 2\b|[Nn]ot found|does not exist")
_quoted = re.compile(r"'([^']+)'|\"([^\"]+)\"|`([^']+)'")
_plain = re.compile(r"(?<![\w.])\.{0,2}/?[^\s'\"`,:;()<>]*/[^\s'\"`,:;()<>]+")
_most = 3


@dataclass(frozen=True)
class Refused:
    """path: where it is; named: as the program called it, where that is known."""

    path: Path
    named: str = ""

    @property
    def goes_up(self) -> bool:
        return ".." in self.named.split("/")


@dataclass(frozen=True)
class Where:
    """folder: that of the run. is_open: whether programs may write to a path."""

    home: Path
    folder: Path
    is_open: Callable[[Path], bool]


def in_profile(profile: Document, where: Where) -> list[Refused]:
    """Files that could not be opened, though the user could write them."""
    return [
        Refused(Path(file["path"]))
        for file in profile.get("files", [])
        if any((file.get(layer) or {}).get("failed_opens") for layer in ("posix", "stdio"))
        and _is_refused(Path(file["path"]), where)
    ]


def in_words(said: str, where: Where) -> list[Refused]:
    """Files that the program names where it says that it was denied something, or, beside its
    folder, that something is missing."""
    found = []
    for line in said.splitlines():
        denied, missing = _denied.search(line), _missing.search(line)
        for name in _names(line) if denied or missing else []:
            path = Path(os.path.realpath(where.folder / name))
            one = Refused(path, name)
            beside = one.goes_up and not where.is_open(path)
            if beside or (denied and _is_refused(path, where)):
                found.append(one)
    return found


def error(refused: list[Refused], where: Where, said: str) -> TailraceError:
    """For a run that failed, probably of this."""
    one = _first_named(refused)
    if one.goes_up:
        what = f"the program names {one.named}, beside its working folder, and finds nothing there"
        hint = (
            "runs work in a folder of their own; give an absolute path, or the path in the words "
            "of the command, or --in-place"
        )
        if not _exists_for_user(one, where):
            hint += f" ({_at_home(one, where)} does not exist either)"
    else:
        paths = list(dict.fromkeys(str(other.path) for other in refused))
        what = f"the program wants to write outside its working folder: {some(paths, _most)}"
        hint = _hint(one, where)
    if said:
        what += f"; its last words: {said}"
    return TailraceError(what, where="tune", hint=f"tailrace tune does not allow that; {hint}")


def note(refused: list[Refused]) -> str:
    """For a run that went on without it."""
    paths = list(dict.fromkeys(str(one.path) for one in refused))
    return (
        f"the program was not allowed to write outside its working folder, and went on without "
        f"it: {some(paths, _most)} (--allow-outside FOLDER)"
    )


def _hint(one: Refused, where: Where) -> str:
    link = _link_to(one.path, where)
    if link:
        return (
            f"{link} in the working folder is a link to it: put a copy in its place, or "
            f"--in-place with --allow-outside {one.path.parent}"
        )
    if one.path.is_relative_to(where.home):
        return (
            "that is its own folder, by an absolute path or a cd: let it use relative paths, or "
            "give the path as a word of the command; or --in-place, which keeps copies"
        )
    return (
        f"--allow-outside {one.path.parent} allows it in each run; or let it write below its "
        "working folder (by relative paths, or paths in the words of the command)"
    )


def _names(line: str) -> list[str]:
    quoted = ["".join(found) for found in _quoted.findall(line)]
    return quoted or _plain.findall(line)[-1:]


def _is_refused(path: Path, where: Where) -> bool:
    """Not what the user's own permissions refuse, nor what has no folder."""
    if where.is_open(path):
        return False
    if path.exists():
        return not path.is_dir() and os.access(path, os.W_OK)
    return path.parent.is_dir() and os.access(path.parent, os.W_OK)


def _first_named(refused: list[Refused]) -> Refused:
    return next((one for one in refused if one.goes_up), refused[0])


def _at_home(one: Refused, where: Where) -> Path:
    return Path(os.path.normpath(where.home / one.named))


def _exists_for_user(one: Refused, where: Where) -> bool:
    path = _at_home(one, where)
    return path.exists() or path.parent.is_dir()


def _link_to(path: Path, where: Where) -> str:
    """The link below the run's folder that leads to it, "": none."""
    for folder, folders, files in os.walk(where.folder):
        for name in [*folders, *files]:
            link = Path(folder, name)
            if link.is_symlink() and path.is_relative_to(os.path.realpath(link)):
                return os.path.relpath(link, where.folder)
    return ""
