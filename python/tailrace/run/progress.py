# SPDX-License-Identifier: Apache-2.0
"""What a program tells about its progress, and what follows from it: rates, stalls, time left."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass, field
from statistics import median

from tailrace.units import duration, mebi

prefix = "tailrace-progress: "
flag = "--progress"
_stall_factor = 4.0
_least_stall_s = 0.01
_kept_reports = 2000


@dataclass(frozen=True)
class Report:
    """One line of `--progress` (docs/user/run.md). Times in seconds."""

    stage: str
    repetition: int
    repetitions: int
    warm_up: bool
    steps_done: int
    steps: int
    new_steps: int
    new_s: float
    longest_s: float
    step_bytes: int

    def rate_bytes_per_s(self) -> float | None:
        """Of the steps since the last report; None where there were none."""
        return self.new_steps * self.step_bytes / self.new_s if self.new_s > 0 else None


def parsed(line: str) -> Report | None:
    """None for a line that is none of these."""
    if not line.startswith(prefix):
        return None
    try:
        return Report(**json.loads(line.removeprefix(prefix)))
    except (ValueError, TypeError):
        return None


@dataclass(frozen=True)
class Stall:
    """A step that took at least four times the median so far. `step` is the last of those that the
    report is about."""

    step: int
    elapsed_s: float
    factor: float


@dataclass
class Repetition:
    """What is known of the repetition that runs."""

    rates: deque[float] = field(default_factory=lambda: deque(maxlen=_kept_reports))
    step_times_s: deque[float] = field(default_factory=lambda: deque(maxlen=_kept_reports))
    stalls: list[Stall] = field(default_factory=list)
    stalled_s: float = 0.0
    stalled: int = 0


class State:
    """Follows the reports of one run."""

    def __init__(self) -> None:
        self.last: Report | None = None
        self.now = Repetition()
        self._started = time.monotonic()
        self._seen: list[int] = []  # numbers of the repetitions, as they came

    def take(self, report: Report) -> Stall | None:
        """Takes a report; returns the stall that it tells of."""
        if self.last is None or report.repetition != self.last.repetition:
            self.now = Repetition()
        self.last = report
        if report.repetition not in self._seen[-1:]:
            self._seen.append(report.repetition)
        rate = report.rate_bytes_per_s()
        if rate is None:
            return None
        stall = self._stall_of(report)
        self.now.rates.append(rate)
        self.now.step_times_s.append(report.new_s / report.new_steps)
        if stall is not None:
            self.now.stalls = [*self.now.stalls[-9:], stall]
            self.now.stalled += 1
            self.now.stalled_s += stall.elapsed_s
        return stall

    def _stall_of(self, report: Report) -> Stall | None:
        if len(self.now.step_times_s) < 3:
            return None
        usual = median(self.now.step_times_s)
        if report.longest_s < max(_stall_factor * usual, _least_stall_s):
            return None
        return Stall(report.steps_done, report.longest_s, report.longest_s / usual)

    def share(self) -> float:
        """Of all repetitions that this run makes, the warm-up among them, what is done. A run that
        was resumed begins with what it lacks."""
        report = self.last
        if report is None:
            return 0.0
        done = len(self._seen) - 1 + report.steps_done / report.steps
        to_come = report.repetitions - report.repetition
        return done / (len(self._seen) + to_come)

    def left_s(self) -> float | None:
        """Seconds to the end, if the rest goes as the part so far; None: nobody knows yet."""
        share = self.share()
        if share <= 0.0:
            return None
        return (time.monotonic() - self._started) * (1.0 - share) / share

    def title(self) -> str:
        """ "warm-up of 5", "repetition 2 of 5"; of a run without repetitions the stage."""
        report = self.last
        if report is None:
            return "starting"
        if report.warm_up:
            return f"warm-up before {report.repetitions} repetitions"
        if report.repetitions > 1:
            return f"repetition {report.repetition} of {report.repetitions}"
        return "one run"

    def lines(self, width: int = 80) -> list[str]:
        """The live view."""
        report = self.last
        if report is None:
            return ["starting"]
        step = f"{report.stage.replace('_', ' ')}, step {report.steps_done} of {report.steps}"
        head = f"{self.title()}: {step}"
        left = duration(self.left_s())
        lines = [f"{head[: width - len(left) - 2]:<{width - len(left)}}{left}"]
        if self.now.rates:
            rates = self.now.rates
            lines.append(
                f"MiB/s now {rates[-1] / mebi:.1f}   median {median(rates) / mebi:.1f}   "
                f"lowest {min(rates) / mebi:.1f}   highest {max(rates) / mebi:.1f}"[:width]
            )
            lines.append(sparkline(list(rates)[-width:]))
        many = f"{self.now.stalled}, {self.now.stalled_s:.2f} s"
        text = f"stalls    {many if self.now.stalled else 'none'}"
        for stall in reversed(self.now.stalls):
            more = f"; step {stall.step}: {stall.elapsed_s:.2f} s ({stall.factor:.0f} x)"
            if len(text) + len(more) > width:
                break
            text += more
        return [*lines, text]

    def line(self) -> str:
        """The same as one line."""
        report = self.last
        if report is None:
            return "starting"
        rate = f", {self.now.rates[-1] / mebi:.1f} MiB/s" if self.now.rates else ""
        stalls = f", {self.now.stalled} stalls" if self.now.stalled else ""
        return (
            f"{self.title()}: {report.stage.replace('_', ' ')}, step {report.steps_done} of "
            f"{report.steps}{rate}{stalls}, {duration(self.left_s())}"
        )


def sparkline(values: list[float]) -> str:
    """One character per value, its height in eighths of the greatest."""
    top = max(values, default=0.0)
    if top <= 0:
        return ""
    return "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * value / top))] for value in values)
