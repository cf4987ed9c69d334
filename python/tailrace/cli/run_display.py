# SPDX-License-Identifier: Apache-2.0
"""What a person sees while a program runs: its own lines, a bar or the live view."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from tailrace.cli.output import Output, printable
from tailrace.run.progress import State, parsed
from tailrace.units import duration

Line = Callable[[str], None]
_plain_interval_s = {"progress": 10.0, "watch": 1.0}


class ToStdout:
    """Prints lines. Whoever does not take them must not end the run: its Records count.

    lost: why lines are missing; empty where a reader (head, less) has seen enough and has gone.
    """

    def __init__(self) -> None:
        self.lost = ""
        self._gone = False

    def __call__(self, line: str) -> None:
        if self._gone:
            return
        try:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        except OSError as error:
            self._gone = True
            if not isinstance(error, BrokenPipeError):
                self.lost = error.strerror or str(error)
            _discard_stdout()


@contextmanager
def display(output: Output, *, watch: bool, result: Line) -> Iterator[Line]:
    """Receives the lines of a program that runs with --progress.

    Reports of progress go to stderr: a bar, or with `watch` the live view; plain lines where stderr
    is no terminal. All other lines go to `result`, those for stdout above what is drawn.
    """
    err = Console(file=sys.stderr, highlight=False)
    if not err.is_terminal or err.is_dumb_terminal:
        yield _plain(output, "watch" if watch else "progress", result)
        return
    state = State()
    with _live(state, err) if watch else _bar(state, err) as (refresh, above):
        # On the same terminal a line has to go above what is drawn there.
        pass_on = above if isinstance(result, ToStdout) and sys.stdout.isatty() else result

        def take(line: str) -> None:
            report = parsed(line)
            if report is None:
                pass_on(line)
                return
            state.take(report)
            refresh()

        yield take


def _plain(output: Output, kind: str, pass_on: Line) -> Line:
    """A line now and then; with the live view every stall too."""
    state = State()
    interval_s = _plain_interval_s[kind]
    told = time.monotonic()

    def take(line: str) -> None:
        nonlocal told
        report = parsed(line)
        if report is None:
            pass_on(line)
            return
        stall = state.take(report)
        if stall is not None and kind == "watch":
            output.note(
                f"stall in {state.title()}: step {stall.step} took {stall.elapsed_s:.2f} s, "
                f"{stall.factor:.0f} times the median"
            )
        if time.monotonic() - told >= interval_s:
            output.note(state.line())
            told = time.monotonic()

    return take


@contextmanager
def _live(state: State, err: Console) -> Iterator[tuple[Callable[[], None], Line]]:
    def view() -> Text:
        return Text("\n".join(state.lines(min(err.width, 80))), no_wrap=True)

    with Live(view(), console=err, auto_refresh=False, transient=True, redirect_stdout=False,
              redirect_stderr=True) as live:  # fmt: skip
        yield lambda: live.update(view(), refresh=True), _above(err)


@contextmanager
def _bar(state: State, err: Console) -> Iterator[tuple[Callable[[], None], Line]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=err, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("starting", total=1.0, left="")

        def refresh() -> None:
            report = state.last
            if report is None:
                return
            text = f"{state.title()}, {report.stage.replace('_', ' ')}"
            bar.update(
                task, description=text, completed=state.share(), left=duration(state.left_s())
            )

        yield refresh, _above(err)


def _above(err: Console) -> Line:
    return lambda line: err.print(Text(printable(line)), soft_wrap=True)


def _discard_stdout() -> None:
    """What is still buffered must not raise again when the interpreter ends."""
    import os

    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
