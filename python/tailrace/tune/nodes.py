# SPDX-License-Identifier: Apache-2.0
"""Ranks on several nodes: what they wrote may still lie in the memory of each, so each of them is
told to sync, by the launcher of the program itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from tailrace.run.launcher import by_daemons, launchers
from tailrace.run.ranks import parts_of, with_two_values

sync = ("sync", "--file-system")


def programs_of(profile: dict[str, Any]) -> frozenset[str]:
    """What the processes of a recorded run of several nodes were; of one node: none."""
    run = profile["run"]
    if (run.get("nodes") or 1) < 2:
        return frozenset()
    return frozenset(process.get("program", "") for process in run.get("processes", []))


def words_to_sync(
    command: Sequence[str], programs: Collection[str], folders: Sequence[str]
) -> list[str]:
    """The launcher's words with a sync of the folders' file systems in place of each program: it
    runs where that ran. None where it cannot be told which words are the program."""
    launcher = Path(command[0]).name
    if not (launcher.startswith(launchers) or launcher in by_daemons):
        return []
    words = [command[0]]
    for part in parts_of(command[1:]):
        at = _program(part, programs)
        if at is None:
            return []
        words += [*([":"] if len(words) > 1 else []), *part[:at], *sync, *folders]
    return words


def file_systems(files: Iterable[Path], folder: Path) -> list[str]:
    """A folder of each file system that they lie in; that of the run first."""
    found: dict[int, Path] = {}
    for place in (folder, *(file.parent for file in files)):
        try:
            found.setdefault(place.stat().st_dev, place)
        except OSError:  # it is gone
            continue
    return [str(place) for place in found.values()]


def _program(words: Sequence[str], programs: Collection[str]) -> int | None:
    """Where it stands: the first word that can be executed and is no option's value (it may be a
    script that starts the program), or that became a recorded program."""
    for at, word in enumerate(words):
        path = shutil.which(word)
        if path is None:
            continue
        before = words[max(at - 2, 0) : at]
        is_value = bool(before) and (before[-1].startswith("-") or before[0] in with_two_values)
        is_program = os.path.realpath(path) in programs or _is_called(word, programs)
        if is_program or not is_value:
            return at
    return None


def _is_called(word: str, programs: Collection[str]) -> bool:
    """`python` may be a shim that became /somewhere/bin/python3.11."""
    name = Path(word).name
    return any(Path(program).name.startswith(name) for program in programs)
