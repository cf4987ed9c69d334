# SPDX-License-Identifier: Apache-2.0
"""How many elements of variable length are read at a time: as many as the last ones let hope."""

from __future__ import annotations

from typing import Any

from tailrace.verify.model import Values

slab_bytes = 16 << 20
_most_elements = 1 << 13  # lengths may change suddenly
_growth = 4


class Pace:
    """Begins with one element, and learns from what came."""

    def __init__(self) -> None:
        self.elements = 1

    def __call__(self) -> int:
        return self.elements

    def learn(self, *read: Values) -> None:
        elements = max(1, *(values.size for values in read))
        each = sum(held_bytes(values) for values in read) / elements
        fits = int(slab_bytes / max(1.0, each))
        self.elements = max(1, min(fits, _growth * self.elements, _most_elements))


def held_bytes(values: Values) -> int:
    """With what the elements point to."""
    if values.dtype.names:
        return sum(held_bytes(values[name]) for name in values.dtype.names)
    if values.dtype.kind != "O":
        return int(values.nbytes)
    return int(values.nbytes) + sum(_held(value) for value in values.reshape(-1))


def _held(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    return held_bytes(value) if hasattr(value, "dtype") else 0
