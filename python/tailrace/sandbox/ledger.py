# SPDX-License-Identifier: Apache-2.0
"""What a tune has found out so far, on disk: a killed one goes on where it was.

Each fact has a name and is asked for by it; one that is there already is not worked out again. All
decisions follow from facts, so that they come out as before.
"""

from __future__ import annotations

import fcntl
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from tailrace.errors import TailraceError
from tailrace.results.append import append_records

Json = Any
_file = "facts.jsonl"
_lock = "lock"


class Ledger:
    """Of one tune, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _file
        self._facts = _read(self._path)

    def fact(self, name: str, find: Callable[[], Json]) -> Json:
        """What is known under this name, or what `find` gives, which is known from then on."""
        if name not in self._facts:
            self.note(name, find())
        return self._facts[name]

    def note(self, name: str, value: Json) -> None:
        """A fact that replaces the one of that name."""
        append_records(self._path, [{"name": name, "value": value}])
        self._facts[name] = value

    def known(self, name: str) -> Json:
        """None: nothing is known of it."""
        return self._facts.get(name)

    def forget_all(self) -> None:
        """As if it had not begun; the folder stays, with its lock."""
        self._path.unlink(missing_ok=True)
        self._facts = {}

    def all(self) -> dict[str, Json]:
        """Every fact by its name, in the order in which they were found."""
        return dict(self._facts)

    @property
    def is_there(self) -> bool:
        """Whether it was not removed."""
        return self._path.exists()

    def shuffled(self, name: str, items: list[str]) -> list[str]:
        """In an order that is random and, under this name, always the same."""
        order = list(items)
        random.Random(f"{self._facts.get('seed')}/{name}").shuffle(order)
        return order


def _read(path: Path) -> dict[str, Json]:
    """A last line that was cut when the tune was killed is no fact."""
    found: dict[str, Json] = {}
    if not path.is_file():
        return found
    for line in path.read_bytes().split(b"\n"):
        try:
            one = json.loads(line) if line else None
        except ValueError:
            continue
        if isinstance(one, dict) and "name" in one:
            found[one["name"]] = one.get("value")
    return found


def remove(folder: Path) -> None:
    """With all that is in the folder. Facts go first: where they are, what they speak of is."""
    (folder / _file).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def taken(folder: Path) -> BinaryIO:
    """The folder's lock, to be held as long as this tune works in it. Raises: another one does."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = (folder / _lock).open("ab")
    try:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        raise TailraceError(
            "another tune is at work in this folder", where=str(folder),
            hint="wait for it, or give this one a folder of its own with -o",
        ) from None  # fmt: skip
    except OSError:  # the file system has no locks
        pass
    return stream
