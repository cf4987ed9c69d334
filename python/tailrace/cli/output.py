# SPDX-License-Identifier: Apache-2.0
"""Where commands print: results on stdout, notes and progress on stderr."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from tailrace import interrupts
from tailrace.errors import TailraceError
from tailrace.readable import readable
from tailrace.units import duration, mib


class Meter(Protocol):
    """Hears how many bytes of how many are done."""

    def __call__(self, done_bytes: int, total_bytes: int) -> None: ...


class PlainMeter:
    """Tells how far it is, and how long the rest takes at the pace so far, every `interval_s`."""

    def __init__(self, title: str, tell: Callable[[str], None], interval_s: float = 10.0) -> None:
        self._title, self._tell, self._interval_s = title, tell, interval_s
        self._started = self._told = time.monotonic()

    def __call__(self, done_bytes: int, total_bytes: int) -> None:
        interrupts.check()
        now = time.monotonic()
        if now - self._told < self._interval_s or not 0 < done_bytes <= total_bytes:
            return
        self._told = now
        left_s = (now - self._started) * (total_bytes - done_bytes) / done_bytes
        share = 100 * done_bytes / total_bytes
        self._tell(f"{self._title}: {share:.0f} % of {mib(total_bytes)}, {duration(left_s)}")


class Output:
    """The two streams of one command."""

    def __init__(
        self, *, as_json: bool = False, quiet: bool = False, runs_program: bool = False
    ) -> None:
        """runs_program: standard output is the program's, and results go to standard error too."""
        self.as_json = as_json
        self.quiet = quiet
        # Names of files stand in tables too: "[x]" and ":x:" are no markup there.
        plain: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
        self._err = Console(file=sys.stderr, soft_wrap=True, **plain)
        own = Console(file=sys.stdout, soft_wrap=True, **plain)
        self._out = self._err if runs_program else own
        # A full disk or a reader that is gone keeps no program from running.
        self._never_fails = runs_program

    @property
    def width(self) -> int:
        """Columns of the terminal that results go to."""
        return self._out.width

    def line(self, text: str = "", style: str = "") -> None:
        """A line of the result, for a person."""
        if not self.as_json and not self.quiet:
            self._print(self._out, Text(printable(text), style=style))

    def file(self, text: str) -> None:
        """A result that is a file: as it is, for a person to look at or to send into one."""
        if not self.as_json and not self.quiet:
            sys.stdout.write(text)

    def show(self, renderable: Any) -> None:
        """A table or the like of the result, for a person."""
        if not self.as_json and not self.quiet:
            self._print(self._out, renderable, soft_wrap=False)

    def json(self, value: Any) -> None:
        """The result for a program."""
        if self.as_json:
            sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
            sys.stdout.flush()

    def note(self, text: str, *, always: bool = False) -> None:
        """Something said on the side; `always`: also with --quiet."""
        if always or not self.quiet:
            self._print(self._err, Text(printable(f"tailrace: {text}")))

    def error(self, error: TailraceError) -> None:
        """An error's lines; also with --quiet."""
        sys.stdout.flush()
        self._print(self._err, Text(printable(error.text())))

    def _print(self, console: Console, what: Any, **how: Any) -> None:
        try:
            console.print(what, **how)
        except OSError:
            if not self._never_fails:
                raise

    @contextmanager
    def progress(self, title: str) -> Iterator[Meter]:
        """A bar on stderr; where that is no terminal, a line every 10 s."""
        if self.quiet:
            yield lambda done_bytes, total_bytes: interrupts.check()
            return
        if not sys.stderr.isatty():
            yield PlainMeter(title, self.note)
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            DownloadColumn(binary_units=True),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self._err, transient=True) as bar:
            task = bar.add_task(shortened(title, 24), total=None)

            def advance(done_bytes: int, total_bytes: int) -> None:
                interrupts.check()
                bar.update(task, completed=done_bytes, total=total_bytes)

            yield advance


def printable(text: str) -> str:
    """Names may hold anything: what is not text, or moves the cursor, is shown escaped."""
    return "".join(
        c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in readable(text)
    )


def json_requested(arguments: list[str]) -> bool:
    """Whether --json is given, for errors that occur before the options are known."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def shortened(text: str, width: int) -> str:
    """Its end, where it is longer."""
    return text if len(text) <= width else f"...{text[-(width - 3) :]}"


def json_safe(value: Any) -> Any:
    """Numbers that JSON does not have become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {key: json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    return value
