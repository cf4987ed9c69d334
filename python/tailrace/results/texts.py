# SPDX-License-Identifier: Apache-2.0
"""Values of settings as a person writes and reads them."""

from __future__ import annotations

from typing import Any


def text_of(value: Any) -> str:
    """`true`, `2x2x2`, `none` (not set: the library decides), `name=value;...`."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        return ";".join(f"{name}={text_of(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list):
        numbers = value and all(isinstance(one, int) for one in value)
        return ("x" if numbers else " ").join(text_of(one) for one in value) or "none"
    return str(value)


def same_value(value: Any, text: str) -> bool:
    """Whether somebody who types `text` means `value`: `on`, `2 2 2` and `0.50` are understood."""
    known, typed = text_of(value), text.strip()
    if known == typed:
        return True
    if isinstance(value, bool) or value is None:
        words = {None: ("null", "", "unset"), True: ("1", "on", "yes"), False: ("0", "off", "no")}
        return typed.lower() in (known, *words[value])
    if isinstance(value, int | float):
        try:
            return float(typed) == value
        except ValueError:
            return False
    if isinstance(value, list):
        return typed.replace(" ", "x") == known
    return False
