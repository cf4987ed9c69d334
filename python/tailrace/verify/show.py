# SPDX-License-Identifier: Apache-2.0
"""Values as a person reads them in a difference."""

from __future__ import annotations

from typing import Any

import numpy as np

from tailrace.verify.canonical import ReferenceText
from tailrace.verify.model import Attribute, Shape, Values
from tailrace.verify.types import Array, Compound, Enum, Reference, Text, Type, Vlen

_longest = 60
_most_items = 4


def shown(values: Values, index: tuple[int, ...], kind: Type, resolve: ReferenceText) -> str:
    """One element; `index` without the extents of an array type."""
    return _short(_text(values[index], kind, resolve))


def shown_attribute(attribute: Attribute, resolve: ReferenceText) -> str:
    if attribute.values is None:
        return "no value (empty dataspace)"
    if attribute.shape == ():
        return _short(_text(attribute.values[()], attribute.type, resolve))
    extents = attribute.shape or ()
    if 0 in extents:
        return "no elements"
    items = [
        _text(attribute.values[place], attribute.type, resolve)
        for place in _first_places(extents, _most_items)
    ]
    return _short(_listed(items, int(np.prod(extents))))


def extents_text(shape: Shape | None) -> str:
    if shape is None:
        return "empty dataspace"
    return "scalar" if shape == () else " x ".join(str(n) for n in shape)


def limits_text(limits: tuple[int | None, ...] | None) -> str:
    if limits is None:
        return "none"
    return " x ".join("unlimited" if n is None else str(n) for n in limits) or "scalar"


def _first_places(extents: Shape, most: int) -> list[tuple[int, ...]]:
    count = min(most, int(np.prod(extents)))
    places = np.stack(np.unravel_index(np.arange(count), extents), axis=-1)
    return [tuple(int(n) for n in place) for place in places]


def _text(value: Any, kind: Type, resolve: ReferenceText) -> str:
    if isinstance(kind, Text):
        raw = value.encode() if isinstance(value, str) else bytes(value)
        return repr(raw.rstrip(b"\0").decode("utf-8", "backslashreplace"))
    if isinstance(kind, Reference):
        return f"-> {resolve(value, kind.to)}"
    if isinstance(kind, Enum):
        names = [name for name, number in kind.members if number == int(value)]
        return f"{names[0]} ({int(value)})" if names else str(int(value))
    if isinstance(kind, Compound) and getattr(getattr(value, "dtype", None), "names", None):
        parts = [f"{name}={_text(value[name], member, resolve)}" for name, member in kind.members]
        return "{" + ", ".join(parts) + "}"
    if isinstance(kind, Vlen | Array):
        items = np.asarray(value)
        count = len(items) if items.ndim else items.size
        base = kind.base
        texts = [_text(item, base, resolve) for item in items[:_most_items]] if items.ndim else []
        return _listed(texts, count)
    if isinstance(value, np.void):
        return "0x" + value.tobytes().hex()
    if isinstance(value, np.generic):
        return str(value.item()) if value.dtype.kind in "iub" else str(value)
    return str(value)


def _listed(items: list[str], count: int) -> str:
    more = f", ... ({count} in all)" if count > len(items) else ""
    return f"[{', '.join(items)}{more}]"


def _short(text: str) -> str:
    return text if len(text) <= _longest else f"{text[: _longest - 3]}..."
