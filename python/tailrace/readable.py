# SPDX-License-Identifier: Apache-2.0
"""Names of files and words of commands may be any bytes. Python keeps those that are not UTF-8 as
surrogates, which no text on a disk or a screen can hold."""

from __future__ import annotations

import re

_surrogate = re.compile("[\ud800-\udfff]")
_first = 0xDC00  # a byte is kept at this and its value


def readable(text: str) -> str:
    """With each such byte as \\xNN."""
    return _surrogate.sub(_escaped, text)


def is_readable(text: str) -> bool:
    return _surrogate.search(text) is None


def _escaped(found: re.Match[str]) -> str:
    number = ord(found[0])
    byte = number - _first
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else f"\\u{number:04x}"
