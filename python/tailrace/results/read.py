# SPDX-License-Identifier: Apache-2.0
"""Reads results files line by line. Lines that are no Record are counted, never fatal; a Record of
a newer schema is: what it means is not known here."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from tailrace.errors import TailraceError
from tailrace.results.model import Problems, Record, ResultSet
from tailrace.results.project import Projector
from tailrace.results.raw import decode, parsed

newest_schema = 1
_name = f"tailrace-record/{newest_schema}"
_schema = re.compile(r"tailrace-record/(\d+)")
_longest_line = 64 << 20
_told_every = 500  # Records


def read_results(
    paths: Iterable[Path | str],
    keep: Callable[[Record], bool] | None = None,
    done: Callable[[int, int], None] | None = None,
) -> ResultSet:
    """Records of one or several files; with `keep` only those for which it is true. A file that is
    named twice is read once: its Records must not count twice. `done` hears now and then how many
    bytes of how many are read.

    Raises TailraceError for a file that cannot be read, for a Record of a newer schema, and where
    no file holds any Record.
    """
    sources = list({path.resolve(): path for path in map(Path, reversed(list(paths)))}.values())
    sources.reverse()
    found = ResultSet([], Problems(), sources)
    projector = Projector()
    known = before = 0
    total = sum(source.stat().st_size for source in sources if source.is_file())
    for source in sources:
        for record in _records_of(source, projector, found.problems):
            known += 1
            if keep is None or keep(record):
                found.records.append(record)
            if done is not None and known % _told_every == 0:
                done(min(before + record.offset, total), total)
        before += source.stat().st_size
    if known == 0:
        raise _none(sources, found.problems)
    return found


def _records_of(source: Path, projector: Projector, problems: Problems) -> Iterator[Record]:
    number = offset = 0
    with _opened(source) as stream:
        while line := stream.readline(_longest_line):
            number += 1
            start, offset = offset, offset + len(line)
            if len(line) == _longest_line and not line.endswith(b"\n"):
                offset += _skip_line(stream)
                problems.add("too_long", f"{source}:{number}")
                continue
            try:
                raw = decode(line)
                if raw.schema == _name:
                    yield projector.record(raw, source, number, start, len(line))
                    continue
            except (msgspec.DecodeError, UnicodeDecodeError):
                pass
            where = f"{source}:{number}"
            problems.add(_what_else(line, where), where)


def _what_else(line: bytes, where: str) -> str:
    """What a line is that is no Record of ours. Raises for one of a newer schema."""
    if not line.strip():
        return "empty"
    data = parsed(line)
    if data is None:
        return "damaged"
    schema = data.get("schema") if isinstance(data, dict) else None
    match = _schema.fullmatch(schema) if isinstance(schema, str) else None
    if match is None:
        return "other"
    if int(match[1]) > newest_schema:
        raise TailraceError(
            f"the Record is of schema {schema}, written by a newer tailrace; this one reads up to "
            f"tailrace-record/{newest_schema}",
            where=where,
            hint="update tailrace, or leave that file out",
        )
    return "incomplete"


def _opened(source: Path) -> BinaryIO:
    try:
        is_file = stat.S_ISREG(source.stat().st_mode)  # asked first: opening a pipe would wait
        if is_file:
            return source.open("rb")
    except OSError as error:
        raise TailraceError(
            f"cannot be read: {os.strerror(error.errno or 0)}",
            where=str(source),
            hint="`tailrace run` appends Records to results.jsonl, or where `results=FILE` says",
        ) from error
    raise TailraceError(
        "is no regular file; Records are read from it more than once",
        where=str(source),
        hint="store what a pipe brings in a file first",
    )


def _skip_line(stream: BinaryIO) -> int:
    """To the end of a line; returns how many bytes that were."""
    skipped = 0
    while part := stream.readline(1 << 20):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def _none(sources: list[Path], problems: Problems) -> TailraceError:
    names = ", ".join(map(str, sources)) or "no file"
    what = "there is no Record" if sources else "there is no file to read"
    if problems:
        what += f" ({'; '.join(problems.texts())})"
    return TailraceError(
        what, where=names, hint="give a results.jsonl that a run has appended a Record to"
    )
