# SPDX-License-Identifier: Apache-2.0
"""Makes the runs of a comparison: A against A first, then A and B in turns, up to a verdict.

Each run is a process of its own in a fresh folder, after a sync. All Records are kept, with the
key `arm`: A1 and A2 (A against A), A and B; round 0 holds the warm-ups.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tailrace import statistics
from tailrace.compare.analysis import Analysis, analyse
from tailrace.compare.plan import Plan, Variant
from tailrace.errors import ExitCode, TailraceError
from tailrace.results.append import append_records
from tailrace.results.model import Json
from tailrace.run.execute import execute
from tailrace.run.quiet import settle
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
        variant = self._plan.b if name == "B" else self._plan.a
        started = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix="tailrace-compare-", dir=variant.filename.parent))
        try:
            settle()
            code = self._execute(variant, folder)
            records = _records(folder / "results.jsonl")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        for record in records:
            record["arm"] = {"comparison": self._plan.comparison, "name": name, "round": number}
            record["warm_up"] = record["warm_up"] or number == 0
        if records:
            append_records(self._plan.results, records)
        self._seconds.append(time.monotonic() - started)
        rates = [one["rates"][f"{self._metric}_bytes_per_s"] for one in records
                 if one["status"] == "ok" and (number == 0 or not one["warm_up"])]  # fmt: skip
        if code or not rates or None in rates:
            self._failed(name, number, code, records)
            return None
        return statistics.median(rates)

    def _execute(self, variant: Variant, folder: Path) -> int:
        ended = execute(
            self._plan.command(variant, folder, folder / "results.jsonl"),
            stdin=None,
            environment=variant.launch.environment,
            line=lambda _line: None,  # its text is no result of this command
        )
        if ended.signal_number:
            self._say("interrupted; the rounds so far are kept")
            raise KeyboardInterrupt
        return ended.code

    def _failed(self, name: str, number: int, code: int, records: list[Json]) -> None:
        """The program has said why on standard error."""
        why = next((one["error"]["message"] for one in records if one["error"]), "")
        text = f"{name} failed in round {number} (exit code {code}{': ' + why if why else ''})"
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


def _records(file: Path) -> list[Json]:
    if not file.is_file():
        return []
    # Lines end with \n alone: a name may hold what else Python takes for the end of one.
    return [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
