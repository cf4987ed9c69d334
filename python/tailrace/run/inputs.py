# SPDX-License-Identifier: Apache-2.0
"""The inputs of a kernel run: as much of them as the launcher has to know."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tailrace.errors import TailraceError
from tailrace.run.kernels import Kernel, seism

_greatest_input = 1 << 20
_line = re.compile(rb"[ \t]*([^ \t#\r\n]*)([^\n]*)")


@dataclass(frozen=True)
class RunInputs:
    """arguments: for the program. stdin: for its standard input, as it came (None: it gets none).

    settings: key and value of each line or word, the last one wins, as the program does it.
    """

    arguments: list[str]
    stdin: bytes | None
    settings: dict[str, str]
    kernel: Kernel = seism
    file: Path | None = None  # that some of them came from

    def ranks(self) -> int | None:
        """The product of `processor`; None where it is missing or not three numbers above zero, or
        the kernel has no such input."""
        if not self.kernel.has_grid:
            return None
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
    stdin: BinaryIO,
    environment: Mapping[str, str] = os.environ,
    *,
    kernel: Kernel = seism,
) -> RunInputs:
    """From key=value words, from a file, or (`-`) from standard input; and the environment.

    Whether keys and values are right is for the program to say: it knows them all.
    """
    if kernel.first_names_input and file is None and words and _names_file(words[0]):
        file, words = Path(words[0]), words[1:]
    plain = [word for word in words if word != "-"]
    text: bytes | None = None
    settings: dict[str, str] = {}
    arguments = plain
    if len(plain) < len(words) or str(file) == "-":
        if file is not None and str(file) != "-":
            raise TailraceError("- and --input exclude each other", where="run")
        text = read_until_done(stdin)
        settings = settings_of(text)
        # Without arguments a kernel that needs no inputs would take its defaults.
        arguments = ["--input", "-", *plain] if plain or not kernel.needs_inputs else []
    elif file is not None:
        settings = settings_of(_read(file))
        arguments = ["--input", str(file), *plain]
    settings |= {
        name.removeprefix(kernel.prefix).lower(): value
        for name, value in environment.items()
        if name.startswith(kernel.prefix)
    }
    for word in plain:
        key, _, value = word.partition("=")
        settings[key] = value
    if text is None and not arguments and kernel.needs_inputs:
        raise TailraceError(
            "there are no inputs",
            where="run",
            hint="give key=value words, --input FILE, or - for lines on standard input",
        )
    inputs = RunInputs(arguments, text, settings, kernel, file)
    if text is not None:
        _refuse_to_write(inputs, stdin)
    return inputs


def _names_file(word: str) -> bool:
    return word != "-" and "=" not in word and Path(word).is_file()


def _refuse_to_write(inputs: RunInputs, stdin: BinaryIO) -> None:
    """Not to the file that standard input is. The program sees a pipe in its place."""
    try:
        read = os.fstat(stdin.fileno())
    except OSError:  # not a file of the system
        return
    for key in ("filename", "results"):
        file = inputs.path(key, "")
        if stat.S_ISREG(read.st_mode) and file.is_file() and os.path.samestat(read, file.stat()):
            raise TailraceError(
                f'{key} "{file}" and standard input are the same file',
                where="run",
                hint=f"give {key} another name",
            )


def read_until_done(stdin: BinaryIO) -> bytes:
    """Lines up to and with DONE; nothing after it is read from a terminal."""
    lines = []
    size = 0
    for line in stdin:
        lines.append(line)
        size += len(line)
        if _key_and_value(line)[0] == "DONE" or size > _greatest_input:
            break
    return b"".join(lines)


def settings_of(text: bytes) -> dict[str, str]:
    """Key and value of each line up to DONE. Names of files are bytes: none are lost."""
    settings = {}
    for line in text.split(b"\n"):
        key, value = _key_and_value(line)
        if key == "DONE":
            break
        if key:
            settings[key] = value
    return settings


def words_of(file: Path) -> list[str]:
    """The lines of an input file as key=value words: what takes the place of some of them is put
    together word by word."""
    words = []
    for line in _read(file).split(b"\n"):
        key, value = _key_and_value(line)
        if key == "DONE":
            break
        if key:
            words.append(f"{key}={value}" if value else key)
    return words


def _key_and_value(line: bytes) -> tuple[str, str]:
    """As the program reads a line: within a word of a value a # is no comment, but of numbers."""
    match = _line.match(line)
    assert match is not None
    key, value = match[1], match[2]
    if key.endswith(b"="):  # AMReX's form: key = value, or key=value
        key = key[:-1]
    elif b"=" in key:
        key, _, rest = key.partition(b"=")
        value = rest + value
    elif value.lstrip(b" \t").startswith(b"="):
        value = value.lstrip(b" \t")[1:]
    comment = re.search(rb"#" if key == b"processor" else rb"(?:^|(?<=[ \t]))#", value)
    value = value[: comment.start()] if comment else value
    return os.fsdecode(key), os.fsdecode(value.strip(b" \t\r\n"))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise TailraceError(
            f"cannot be read: {os.strerror(error.errno or 0)}",
            where=str(file),
            hint="--input names a file with one `key value` per line, up to DONE",
        ) from error
