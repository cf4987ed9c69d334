# SPDX-License-Identifier: Apache-2.0
"""The inputs of a kernel run: as much of them as the launcher has to know."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tailrace.errors import TailraceError

environment_prefix = "TAILRACE_SEISM_"
_greatest_input = 1 << 20


@dataclass(frozen=True)
class RunInputs:
    """arguments: for the program. text: for its standard input (None: it gets none).

    settings: key and value of each line or word, the last one wins, as the program does it.
    """

    arguments: list[str]
    text: str | None
    settings: dict[str, str]

    def ranks(self) -> int | None:
        """The product of `processor`; None where it is missing or not three numbers above zero."""
        extents = re.split(r"[\sx]+", self.settings.get("processor", "").strip())
        if len(extents) != 3 or not all(re.fullmatch(r"\d{1,9}", word) for word in extents):
            return None
        x, y, z = (int(word) for word in extents)
        return x * y * z or None

    def path(self, key: str, default: str) -> Path:
        return Path(self.settings.get(key, default))


def gather(
    words: list[str],
    file: Path | None,
    stdin: TextIO,
    environment: Mapping[str, str] = os.environ,
) -> RunInputs:
    """From key=value words, from a file, or (`-`) from standard input; and the environment.

    Whether keys and values are right is for the program to say: it knows them all.
    """
    plain = [word for word in words if word != "-"]
    text: str | None = None
    settings: dict[str, str] = {}
    arguments = plain
    if len(plain) < len(words) or str(file) == "-":
        if file is not None and str(file) != "-":
            raise TailraceError("- and --input exclude each other", where="run")
        text = read_until_done(stdin)
        settings = settings_of(text)
        arguments = ["--input", "-", *plain] if plain else []
    elif file is not None:
        settings = settings_of(_read(file))
        arguments = ["--input", str(file), *plain]
    settings |= {
        name.removeprefix(environment_prefix).lower(): value
        for name, value in environment.items()
        if name.startswith(environment_prefix)
    }
    for word in plain:
        key, _, value = word.partition("=")
        settings[key] = value
    if text is None and not arguments:
        raise TailraceError(
            "there are no inputs",
            where="run",
            hint="give key=value words, --input FILE, or - for lines on standard input",
        )
    return RunInputs(arguments, text, settings)


def read_until_done(stdin: TextIO) -> str:
    """Lines up to and with DONE; nothing after it is read from a terminal."""
    lines = []
    size = 0
    for line in stdin:
        lines.append(line)
        size += len(line)
        if line.split()[:1] == ["DONE"] or size > _greatest_input:
            break
    return "".join(lines)


def settings_of(text: str) -> dict[str, str]:
    """Key and the rest of each line up to DONE."""
    settings = {}
    for line in text.splitlines():
        words = line.split("#", 1)[0].split(None, 1)
        if words[:1] == ["DONE"]:
            break
        if words:
            settings[words[0]] = words[1].strip() if len(words) > 1 else ""
    return settings


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise TailraceError(
            f"cannot be read: {os.strerror(error.errno or 0)}",
            where=str(file),
            hint="--input names a file with one `key value` per line, up to DONE",
        ) from error
