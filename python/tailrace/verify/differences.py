# SPDX-License-Identifier: Apache-2.0
"""What two files do not have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode


@dataclass(frozen=True)
class Difference:
    """One difference. kind: only, kind, link, type, extents, limits, dimensions, value.

    `attribute` is empty for a difference of the object itself; `index` is set for an element;
    `count` is the number of elements of the dataset that differ.
    """

    path: str
    kind: str
    one: str
    other: str
    attribute: str = ""
    index: tuple[int, ...] | None = None
    count: int = 1

    @property
    def where(self) -> str:
        place = f"{self.path}@{self.attribute}" if self.attribute else self.path
        return place if self.index is None else f"{place}[{','.join(map(str, self.index))}]"

    def as_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "attribute": self.attribute or None,
            "kind": self.kind,
            "index": None if self.index is None else list(self.index),
            "a": self.one,
            "b": self.other,
            "differing_elements": self.count if self.kind == "value" else None,
        }


@dataclass
class CompareReport:
    """Outcome of a comparison; `first` holds the first differences, `total` counts all."""

    one: Path
    other: Path
    formats: tuple[str, str] = ("", "")
    model: str = ""
    objects: int = 0
    attributes: int = 0
    read_bytes: int = 0
    elapsed_s: float = 0.0
    total: int = 0
    differing_elements: int = 0
    first: list[Difference] = field(default_factory=list)
    unused_patterns: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.total == 0

    @property
    def code(self) -> ExitCode:
        return ExitCode.OK if self.ok else ExitCode.VERIFICATION_FAILED
