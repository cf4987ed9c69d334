# SPDX-License-Identifier: Apache-2.0
"""Makes the runs of a comparison: A against A first, then A and B in turns, up to a verdict.

Each run is a process of its own in a fresh folder, after a sync. All Records are kept, with the
key `arm`: A1 and A2 (A against A), A and B; round 0 holds the warm-ups.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from tailrace import statistics
from tailrace.compare.analysis import Analysis, analyse
from tailrace.compare.plan import Plan
from tailrace.errors import ExitCode, TailraceError
from tailrace.run.fresh import FreshRun, Place, run_fresh
from tailrace.units import mib

Say = Callable[[str], None]

_most_failures = 3


class Experiment:
    """The runs of one plan. say: hears a line after each round."""

    def __init__(self, plan: Plan, metric: str, say: Say) -> None:
        self._plan = plan
        self._metric = metric
        self._say = say
        self._random = random.Random()
        self._failures: list[str] = []
        self._seconds: list[float] = []  # of each run, its start and the wait before it included

    def run(self) -> Analysis:
        """The comparison of A and B; where A differs from A, that one: nothing else was run then.
        Raises KeyboardInterrupt after a signal; the rounds so far are kept."""
        self._warm_up()
        first = statistics.looks[0]
        self._pairs("A1", "A2", 0, first)
        same = self._analysis("A1", "A2")
        if same.comparison.verdict in {"faster", "slower"}:
            return _unsteady(same)
        done = 0
        for look in statistics.looks:
            self._pairs("A", "B", done, look)
            done = look
            found = self._analysis("A", "B")
            if found.comparison.verdict != "more_pairs_needed":
                break
        return found

    def _warm_up(self) -> None:
        for name in ("A", "B"):
            self._one(name, 0)
        runs = 2 * statistics.looks[0] + 2 * statistics.looks[-1]
        least = 4 * statistics.looks[0]
        seconds = max(self._seconds)
        self._say(
            f"a run takes about {seconds:.1f} s: {least} to {runs} runs, "
            f"{least * seconds:.0f} to {runs * seconds:.0f} s"
        )

    def _pairs(self, one: str, other: str, done: int, wanted: int) -> None:
        """Rounds until so many are good; a failed one is made again under a new number."""
        number = done + len(self._failures)
        while done < wanted:
            number += 1
            order = [one, other]
            self._random.shuffle(order)
            rates = {name: self._one(name, number) for name in order}
            if None in rates.values():
                continue
            done += 1
            left = (wanted - done) * 2 * statistics.median(self._seconds)
            shown = ", ".join(f"{name} {mib(rates[name] or 0)}/s" for name in (one, other))
            self._say(
                f"{one} against {other}, pair {done} of {wanted}: {shown} ({left:.0f} s left)"
            )

    def _one(self, name: str, number: int) -> float | None:
        """A run; the median rate of its repetitions, None where it failed."""
        plan = self._plan
        place = Place(plan.comparison, name, number)
        try:
            ran = run_fresh(plan.program, plan.b if name == "B" else plan.a, place, plan.results)
        except KeyboardInterrupt:
            self._say("interrupted; the rounds so far are kept")
            raise
        self._seconds.append(ran.elapsed_s)
        rates = [one["rates"][f"{self._metric}_bytes_per_s"] for one in ran.records
                 if one["status"] == "ok" and (number == 0 or not one["warm_up"])]  # fmt: skip
        if ran.code or not rates or None in rates:
            self._failed(name, number, ran)
            return None
        return statistics.median(rates)

    def _failed(self, name: str, number: int, ran: FreshRun) -> None:
        """The program has said why on standard error."""
        code, why = ran.code, f": {ran.why}" if ran.why else ""
        text = f"{name} failed in round {number} (exit code {code}{why})"
        self._failures.append(text)
        self._say(text)
        if number == 0 or len(self._failures) >= _most_failures:
            raise TailraceError(
                f"{text}; {'its warm-up' if number == 0 else f'{_most_failures} runs'} failed, so "
                "there is no comparison",
                where=f"side {name[0]}",
                hint="run it by itself with `tailrace run` to see what is wrong",
                code=ExitCode(code) if code in set(ExitCode) and code else ExitCode.RUN_FAILED,
            )

    def _analysis(self, one: str, other: str) -> Analysis:
        """Of what is in the file by now: the same that `tailrace compare` finds there later."""
        return analyse(self._plan.selection(one), self._plan.selection(other), self._metric)


def _unsteady(same: Analysis) -> Analysis:
    """A differs from A: what was measured, without a verdict."""
    reason = "A differs from A: this machine is not steady enough now; B was not run"
    return replace(same, comparison=replace(same.comparison, verdict="no_verdict", reason=reason))
