# SPDX-License-Identifier: Apache-2.0
"""Numbers and lists as a person reads them; the unit always stands beside the number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tailrace.errors import TailraceError

mebi = 1024.0**2


def mib(count_bytes: float) -> str:
    """Bytes in the greatest binary unit that gives at least 1."""
    value = float(count_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} PiB"


def grouped(count: int) -> str:
    """1234567 as 1,234,567."""
    return f"{count:,}"


def plural(count: int, noun: str) -> str:
    """`1 file`, `2 files`, `2 processes`."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{grouped(count)} {noun}{'' if count == 1 else ending}"


def some(names: Sequence[str], most: int = 6) -> str:
    """The first of them, and how many there are besides."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def duration(seconds: float | None) -> str:
    """ "1:02:03 left"; "time left not known yet"."""
    if seconds is None:
        return "time left not known yet"
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    text = f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
    return f"{text} left"


def span(seconds: float) -> str:
    """ "0.4 s", "12 s", "3 min 20 s", "1 h 30 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


_span = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?:in)?)?(?:(\d+(?:\.\d+)?)s?)?")


def span_of(text: str, where: str) -> float:
    """Seconds of `10m`, `90s`, `90`, `1h30m`. Raises TailraceError for what is none."""
    match = _span.fullmatch(text.replace(" ", ""))
    seconds = (
        sum(
            float(part or 0) * unit
            for part, unit in zip(match.groups(), (3600, 60, 1), strict=True)
        )
        if match
        else 0.0
    )
    if seconds <= 0:
        raise TailraceError(
            f'"{text}" is no time', where=where, hint="for example 10m, 90s or 1h30m"
        )
    return seconds


_size = re.compile(r"(\d+)\s*(?:([kKMGT])(?:iB)?|B)?")


def bytes_of(text: str, where: str) -> int:
    """`65536`, `64K`, `1M`, `1MiB`: units of 1024, as `lfs` and `dd` take them."""
    match = _size.fullmatch(text.strip())
    if match is None:
        raise TailraceError(
            f'"{text}" is no size', where=where, hint="for example 1M (1048576 bytes) or 65536"
        )
    return int(match[1]) << 10 * (" KMGT".index(match[2].upper()) if match[2] else 0)
