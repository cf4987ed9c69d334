# SPDX-License-Identifier: Apache-2.0
"""Settings of a plan with their values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Place:
    """What is set for a file, or for a dataset of it."""

    file: str
    dataset: str
    values: dict[str, Any] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        where = f"{self.file}:{self.dataset}" if self.dataset else self.file
        return f"{where} (rule {', '.join(self.rules)})"

    def has(self, *keys: str) -> bool:
        return any(key in self.values for key in keys)


def places(plan: dict[str, Any]) -> Iterator[Place]:
    """Each file and dataset with its values; what is for create and open together."""
    found: dict[tuple[str, str], Place] = {}
    for entry in plan.get("entries", []):
        name = (entry["file"], entry["dataset"])
        place = found.setdefault(name, Place(*name))
        for setting in entry.get("settings", []):
            value = setting.get("value", setting.get("profiled"))
            if value is None:
                continue
            place.values[setting["key"]] = value
            rule = setting["because"]["rule"]
            if rule not in place.rules:
                place.rules.append(rule)
    yield from (place for place in found.values() if place.values)
