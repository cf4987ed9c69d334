# SPDX-License-Identifier: Apache-2.0
"""Plans for tests, as the compiled part writes them."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]


def because(rule: str) -> Document:
    return {"rule": rule, "text": f"why {rule}", "evidence": [], "effect": "", "source": "a test"}


def setting(rule: str, key: str, kind: str = "safe", value: Any = 1) -> Document:
    return {"key": key, "value": value, "class": kind, "because": because(rule)}


def plan(*entries: tuple[str, str, list[Document]], **more: Any) -> Document:
    """entries: file, dataset and settings."""
    return {
        "schema": "tailrace-plan/1",
        "origin": {"version": "test"},
        "entries": [
            {"file": file, "dataset": dataset, "when": "any", "settings": settings}
            for file, dataset, settings in entries
        ],
        **more,
    }
