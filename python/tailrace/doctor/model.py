# SPDX-License-Identifier: Apache-2.0
"""What a probe finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One fact. state: ok, missing, or note (worth knowing, nothing to do)."""

    name: str
    state: str
    value: str
    remedy: str = ""
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    key: str  # in JSON
    title: str
    findings: list[Finding]


def ok(name: str, value: str, **data: Any) -> Finding:
    return Finding(name, "ok", value, data=data)


def note(name: str, value: str, remedy: str = "", **data: Any) -> Finding:
    return Finding(name, "note", value, remedy, data)


def missing(name: str, value: str, remedy: str, **data: Any) -> Finding:
    return Finding(name, "missing", value, remedy, data)
