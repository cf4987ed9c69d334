# SPDX-License-Identifier: Apache-2.0
"""How far a command is that makes many runs: a bar on a terminal, elsewhere a line every 10 s."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from tailrace import interrupts
from tailrace.cli.output import Output, printable, shortened
from tailrace.run.rounds import HowFar
from tailrace.units import duration

_interval_s = 10.0


@dataclass
class RoundsDisplay:
    """say: something that happened; tell: how far it is."""

    output: Output
    bar: Progress | None = None
    _told: float = 0.0

    def say(self, text: str) -> None:
        if self.output.quiet:
            return
        if self.bar is not None:
            self.bar.console.print(Text(printable(f"tailrace: {text}")), soft_wrap=True)
        else:
            self.output.note(text)

    def tell(self, now: HowFar) -> None:
        """Before each run. Raises KeyboardInterrupt where one was swallowed."""
        interrupts.check()
        if self.bar is not None:
            task = self.bar.task_ids[0]
            text = shortened(f"run {now.done + 1} of {now.of}: {now.text}", 44)
            self.bar.update(task, description=text, completed=now.done, total=now.of,
                            left=duration(now.left_s))  # fmt: skip
        elif time.monotonic() - self._told >= _interval_s:
            self._told = time.monotonic()
            self.output.note(f"run {now.done + 1} of {now.of}: {now.text}; {duration(now.left_s)}")


@contextmanager
def rounds_display(output: Output) -> Iterator[RoundsDisplay]:
    err = Console(file=sys.stderr, highlight=False)
    if output.quiet or not err.is_terminal or err.is_dumb_terminal:
        yield RoundsDisplay(output)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=err, transient=True, redirect_stdout=False) as bar:
        bar.add_task("starting", total=1, left="")
        yield RoundsDisplay(output, bar)
