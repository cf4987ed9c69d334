# SPDX-License-Identifier: Apache-2.0
"""Some Records of a results file: `results.jsonl::format=hdf5,collective_write=true`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError, did_you_mean
from tailrace.results.model import Record, ResultSet
from tailrace.results.read import read_results
from tailrace.results.texts import same_value, text_of

# Of these the beginning is enough.
_begins: dict[str, Callable[[Record], str]] = {
    "run": lambda record: record.run_id,
    "started": lambda record: record.started,
    "comparison": lambda record: record.arm.comparison if record.arm else "",
}
_of_record: dict[str, Callable[[Record], Any]] = {
    "arm": lambda record: record.arm.name if record.arm else None,
    "filename": lambda record: record.filename,
    "repetition": lambda record: record.repetition,
    "status": lambda record: record.status,
}
_separator = "::"
_key = re.compile(r"[A-Za-z_][\w.]*")
_examples = "for example results.jsonl::format=hdf5,collective_write=true or results.jsonl::run=ID"
_most_values = 8


@dataclass(frozen=True)
class Selection:
    """A results file and conditions that all have to hold. Keys are those of the configuration,
    of the context (`host`, `ranks`, `commit`, ...), `environment.NAME`, and run, started,
    comparison (beginnings are enough), arm, filename, repetition, status."""

    path: Path
    conditions: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Raises TailraceError for a condition without `=`. A file of that name comes first."""
        name, separator, rest = text.rpartition(_separator)
        if not separator or Path(text).exists():
            return cls(Path(text))
        return cls(Path(name), tuple(_conditions(rest, text)))

    @property
    def text(self) -> str:
        conditions = ",".join(f"{key}={value}" for key, value in self.conditions)
        return f"{self.path}{_separator}{conditions}" if conditions else str(self.path)

    def matches(self, record: Record) -> bool:
        return all(_holds(record, key, value) for key, value in self.conditions)

    def read(self) -> ResultSet:
        """The Records selected. Raises as read_results does, and where no Record is."""
        found = read_results([self.path])
        found.records = self.chosen(found.records)
        return found

    def chosen(self, records: list[Record]) -> list[Record]:
        """Those that match; raises where none does."""
        chosen = [record for record in records if self.matches(record)]
        if not chosen:
            raise self._nothing(records)
        return chosen

    def _nothing(self, records: list[Record]) -> TailraceError:
        """Why: a key that is nowhere, a value that is nowhere, or no Record with all of them."""
        for key, value in self.conditions:
            there = _values(records, key)
            if not there:
                return self._no_key(key, records)
            if not any(_holds(record, key, value) for record in records):
                return self._no_value(key, value, there)
        return TailraceError(
            "each condition holds for some Records, but all together for none",
            where=self.text,
            hint="leave a condition out; `tailrace report` shows which settings there are",
        )

    def _no_key(self, key: str, records: list[Record]) -> TailraceError:
        keys = [*_begins, *_of_record, *dict.fromkeys(k for r in records for k in r.settings.flat)]
        return TailraceError(
            f'no Record has a key "{key}".{did_you_mean(key, keys)}', where=self.text,
            hint="keys are those of the configuration and of the context, and "
            + ", ".join([*_begins, *_of_record]),
        )  # fmt: skip

    def _no_value(self, key: str, value: str, there: list[str]) -> TailraceError:
        shown = ", ".join(there[:_most_values]) + (", ..." if len(there) > _most_values else "")
        return TailraceError(
            f'no Record has {key}={value}.{did_you_mean(value, there)}', where=self.text,
            hint=f"values of {key} there: {shown}",
        )  # fmt: skip


def _conditions(rest: str, text: str) -> list[tuple[str, str]]:
    """A comma inside a value is one that no `key=` follows."""
    found: list[tuple[str, str]] = []
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        if equals and _key.fullmatch(key.strip()):
            found.append((key.strip(), value))
        elif found and part.strip():
            found[-1] = (found[-1][0], f"{found[-1][1]},{part}")
        else:
            raise TailraceError(f'"{part}" is no condition key=value', where=text, hint=_examples)
    return found


def _holds(record: Record, key: str, value: str) -> bool:
    if key in record.settings.flat:
        return same_value(record.settings.flat[key], value)
    if key in _begins:
        return bool(value) and _begins[key](record).startswith(value)
    return key in _of_record and same_value(_of_record[key](record), value)


def _values(records: list[Record], key: str) -> list[str]:
    """As texts, each once, in order."""
    get = {**_begins, **_of_record}.get(key)
    found: dict[str, None] = {}
    for record in records:
        if key in record.settings.flat:
            found[text_of(record.settings.flat[key])] = None
        elif get is not None and (text := text_of(get(record))):
            found[text] = None
    return list(found)
