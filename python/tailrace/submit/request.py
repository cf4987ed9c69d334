# SPDX-License-Identifier: Apache-2.0
"""What is asked of a scheduler, checked: none of it can end a line or a quotation of a script."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.units import bytes_of

_clock = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
_stripe_unit_bytes = 64 << 10  # Lustre takes multiples of it, up to below 4 GiB
_most_stripes = 2000


@dataclass(frozen=True)
class Request:
    """Nodes, time and place of a job. Empty texts and None: the scheduler's default.

    stripe_count -1: over all targets. directives: further options, one per line of the script.
    """

    nodes: int
    ranks_per_node: int
    time_s: int | None = None
    account: str = ""
    partition: str = ""
    qos: str = ""
    constraint: str = ""
    core_spec: int | None = None
    stripe_count: int | None = None
    stripe_size_bytes: int | None = None
    directives: list[str] = field(default_factory=list)

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node

    @property
    def clock(self) -> str:
        """The time as HH:MM:SS, which every scheduler reads in the same way."""
        minutes, seconds = divmod(self.time_s or 0, 60)
        return f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"


def seconds_of(text: str) -> int | None:
    """`10` (minutes), `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM` or `D-HH:MM:SS`, as Slurm reads it."""
    if not text:
        return None
    match = _clock.fullmatch(text.strip())
    if match is None:
        raise TailraceError(f'"{text}" is no time', where="--time", hint=_time_hint)
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if any(number > 59 for number in numbers[1:]):
        raise TailraceError(
            f'"{text}" has more than 59 minutes or seconds', where="--time", hint=_time_hint
        )
    if days is not None:
        hours, minutes, seconds = (*numbers, 0, 0)[:3]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, (minutes, seconds) = 0, (*numbers, 0)[:2]
    total = ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds
    if total == 0:
        raise TailraceError("the time is 0", where="--time", hint=_time_hint)
    return total


_time_hint = "give minutes (10), HH:MM:SS (00:10:00) or D-HH:MM:SS"


def stripe_bytes_of(text: str) -> int | None:
    """`1M` or `1048576`: a multiple of 64 KiB below 4 GiB."""
    if not text:
        return None
    size = bytes_of(text, "--stripe-size")
    if size == 0 or size % _stripe_unit_bytes or size >= 1 << 32:
        raise TailraceError(
            f"{text} are {size} bytes, which is no size of a Lustre stripe",
            where="--stripe-size",
            hint="multiples of 64K (65536 bytes) below 4G, for example 1M",
        )
    return size


def checked_stripe_count(count: int | None) -> int | None:
    if count is not None and not (count == -1 or 1 <= count <= _most_stripes):
        raise TailraceError(
            f"{count} is no number of stripes",
            where="--stripe-count",
            hint=f"1 to {_most_stripes}, or -1 for all targets of the file system",
        )
    return count


def one_line(text: str, where: str) -> str:
    """A text that may hold blanks and quotes, and no character that ends a line or is not seen."""
    bad = next((letter for letter in text if ord(letter) < 32 or ord(letter) == 127), None)
    if bad is not None:
        raise TailraceError(
            f"it holds the control character \\x{ord(bad):02x}", where=where,
            hint="give it in one line, without tabs",
        )  # fmt: skip
    return text


def run_folder(given: Path | None, kernel: str) -> Path:
    """Absolute: a job does not begin where it was submitted."""
    folder = (given if given is not None else Path(f"tailrace-{kernel}")).absolute()
    one_line(str(folder), "--run-folder")
    if folder.exists() and not folder.is_dir():
        raise TailraceError(
            f"{folder} is not a folder", where="--run-folder", hint="give the name of a folder"
        )
    return folder


def ranks_per_node(given: int | None, nodes: int, wanted: int | None, kernel: str) -> int:
    """wanted: the ranks that the inputs ask for, where they say."""
    if given is None:
        if wanted is None:
            raise TailraceError(
                "how many ranks on each node?", where="submit",
                hint=f"give --ranks-per-node; the inputs of {kernel} do not say it",
            )  # fmt: skip
        if wanted % nodes:
            raise TailraceError(
                f"{wanted} ranks, the product of `processor`, are not the same number on each of "
                f"{nodes} nodes",
                where="submit",
                hint="change --nodes or processor",
            )
        return wanted // nodes
    if wanted is not None and wanted != nodes * given:
        raise TailraceError(
            f"`processor` makes {wanted} ranks, and {nodes} x {given} on the nodes are "
            f"{nodes * given}",
            where="submit",
            hint="change --nodes, --ranks-per-node or processor",
        )
    return given
