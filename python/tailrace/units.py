# SPDX-License-Identifier: Apache-2.0
"""Numbers as a person reads them; the unit always stands beside the number."""

from __future__ import annotations

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
    """`1 file`, `2 files`."""
    return f"{grouped(count)} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float | None) -> str:
    """ "1:02:03 left"; "time left not known yet"."""
    if seconds is None:
        return "time left not known yet"
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    text = f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
    return f"{text} left"
