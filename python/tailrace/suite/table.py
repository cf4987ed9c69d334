# SPDX-License-Identifier: Apache-2.0
"""The table of cases (cases.toml), read strictly: what is in it is data of ours."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError, did_you_mean
from tailrace.units import bytes_of, mebi

file = Path(__file__).with_name("cases.toml")
figures = ("write", "aggregate", "open_to_close")


@dataclass(frozen=True)
class Case:
    """A published configuration (the keys: cases.toml). figures: in MiB/s, by what they are of;
    year 0: not told."""

    name: str
    kernel: str
    source: str
    machine: str
    ranks: int
    sizes: Mapping[str, tuple[int, int]]
    bytes: list[int | str]
    inputs: list[str]
    figures: Mapping[str, float] = field(default_factory=dict)
    year: int = 0
    mpi_io: str = ""
    fewer_ranks: bool = False

    @property
    def where(self) -> str:
        return f"{self.machine}, {self.year}" if self.year else self.machine

    def published_bytes_per_s(self, figure: str) -> float | None:
        rate = self.figures.get(figure)
        return None if rate is None else rate * mebi


@dataclass(frozen=True)
class Suite:
    """most_bytes: of a case's file; None: memory and disk alone limit it."""

    name: str
    about: str
    cases: list[Case]
    most_bytes: int | None = None


def suites() -> dict[str, Suite]:
    """All suites by name."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    templates: dict[str, Any] = data.get("template", {})
    cases = {name: _case(name, entry, templates) for name, entry in data["case"].items()}
    return {
        name: Suite(
            name,
            entry["about"],
            [cases[case] for case in entry["cases"]],
            bytes_of(entry["most_bytes"], name) if "most_bytes" in entry else None,
        )
        for name, entry in data["suite"].items()
    }


def suite_of(name: str) -> Suite:
    known = suites()
    if name not in known:
        raise TailraceError(
            f'there is no suite "{name}".{did_you_mean(name, known)}', where="suite",
            hint="; ".join(f"{one.name}: {one.about}" for one in known.values()),
        )  # fmt: skip
    return known[name]


def _case(name: str, entry: dict[str, Any], templates: Mapping[str, Any]) -> Case:
    own = dict(entry)
    base = templates[own.pop("template")] if "template" in own else {}
    joined = {**base, **own, "inputs": [*base.get("inputs", []), *own.get("inputs", [])]}
    unknown = joined.keys() - {one.name for one in fields(Case)}
    if unknown:
        raise ValueError(f"{file.name}: {name}: unknown {', '.join(sorted(unknown))}")
    joined["sizes"] = {key: (value, step) for key, (value, step) in joined["sizes"].items()}
    return Case(name=name, **joined)
