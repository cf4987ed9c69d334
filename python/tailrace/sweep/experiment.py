# SPDX-License-Identifier: Apache-2.0
"""Makes the runs of a sweep: a warm-up of each combination, then rounds in random order.

Each run is a process of its own in a fresh folder, on a machine at rest. All Records are kept,
with the key `arm`: the sweep, the combination, the round (0: its warm-up).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tailrace.errors import ExitCode, TailraceError
from tailrace.results import read_results
from tailrace.run.fresh import Place, run_fresh
from tailrace.run.rounds import HowFar, Pace
from tailrace.sweep.check import Checked, LeftOut
from tailrace.sweep.data import Case, Runs, runs_of
from tailrace.sweep.disk import NoRoom, check_not_full, check_room, several
from tailrace.sweep.narrow import (
    Dropped,
    Latin,
    first_round,
    narrowed,
    not_tried,
    promising,
)
from tailrace.sweep.plan import Combination, Plan
from tailrace.units import span

_most_failures = 2
_share_of_warm_ups = 1 / 3  # of a budget: what cannot be begun with in that time is not


Say = Callable[[str], None]
Tell = Callable[[HowFar], None]


class Experiment:
    """The runs of one plan, or what is missing of them.

    repeat: repetitions of a combination. budget_s: a wall-clock time in which the settings that
    lose are given up, round by round. say: hears what happens; tell: how far it is.
    """

    def __init__(
        self, plan: Plan, checked: Checked, metric: str, repeat: int, *,
        budget_s: float | None, say: Say, tell: Tell,
    ) -> None:  # fmt: skip
        self._plan, self._checked, self._metric = plan, checked, metric
        self._repeat, self._budget_s = repeat, budget_s
        self._say, self._tell = say, tell
        self._pace = Pace()
        self._failures: dict[str, int] = {}
        self.told: set[str] = set()  # warnings, of which each is told once
        self._stored: dict[str, int] = {}
        self._done = 0
        self._started = time.monotonic()
        self.dropped: list[Dropped] = []
        self.left_out: list[LeftOut] = list(checked.left_out)
        self._several_disks = several(one.variant.filename.parent for one in checked.runnable)

    def run(self) -> None:
        """Raises KeyboardInterrupt after a signal, and TailraceError where the disk is nearly full
        or nothing is left; the Records so far are kept."""
        runs = self.runs()
        for case in runs.cases.values():
            for record in case.records:
                self._stored[case.name] = max(self._stored.get(case.name, 0), _size(record))
        among = self._first(runs)
        among = self._round(0, among, runs, share=_share_of_warm_ups)
        for number in range(1, self._repeat + 1):
            among = self._affordable(number, among)
            if not among or self._is_over():
                break
            among = self._round(number, among, runs)
            runs = self.runs()
            if self._budget_s is not None and number < self._repeat:
                among = self._give_up(number, among, runs)
                if first_round <= number <= self._repeat // 2:  # later ones had too few rounds
                    among += self._joining(number, among, runs)
        if not self.runs().measured:
            raise self._nothing()

    def not_tried(self) -> list[Combination]:
        """For which the budget left no time."""
        return not_tried(self._not_gone(self._checked.runnable), self.runs().cases, self.dropped)

    def _not_gone(self, among: list[Combination]) -> list[Combination]:
        """Without those that are left out by now."""
        gone = {one.combination.name for one in self.left_out}
        return [one for one in among if one.name not in gone]

    def _nothing(self) -> TailraceError:
        """Why nothing was measured."""
        failed = dict.fromkeys(one.why for one in self.left_out if one.failed)
        if failed:
            return TailraceError(
                f"every combination failed: {'; '.join(failed)}", where="sweep",
                hint="run one by itself with `tailrace run` to see what is wrong",
                code=ExitCode.RUN_FAILED,
            )  # fmt: skip
        return TailraceError(
            "the time was over before a round was run", where="--budget",
            hint=f"a round takes about {span(self._pace.of_all(self._pace.seconds) or 0.0)}, and "
            f"{self._repeat} are wanted",
            code=ExitCode.RUN_FAILED,
        )  # fmt: skip

    def runs(self) -> Runs:
        """What is in the file by now."""
        if not self._plan.results.is_file() or self._plan.results.stat().st_size == 0:
            return Runs(self._plan.sweep, self._metric, {})
        sweep = self._plan.sweep
        found = read_results(
            [self._plan.results],
            lambda record: record.arm is not None and record.arm.comparison == sweep,
        )
        return runs_of(found.records, self._metric)

    def _first(self, runs: Runs) -> list[Combination]:
        """All; within a budget that is too small for that, a Latin part of them."""
        among = self._checked.runnable
        if self._budget_s is None:
            return among
        begun = {name for name, case in runs.cases.items() if case.warm_ups or case.seconds}
        if begun:
            return [one for one in among if one.name in begun]
        first = self._plan.order(0, among)[0]
        self._one(first, 0)
        levels = max(len(factor.levels) for factor in self._plan.factors)
        most = Latin.affordable(self._budget_s, self._pace.of(first.name) or 1.0, levels)
        chosen = Latin.part(among, most, self._plan.seed, always=first)
        chosen = self._not_gone(chosen)
        if len(chosen) < len(among):
            self._say(
                f"{len(chosen)} of {len(among)} combinations are begun with: the budget is too "
                "short for all; each value is among them as often as its others, or once more"
            )
        return chosen

    def _round(
        self, number: int, among: list[Combination], runs: Runs, share: float = 1.0
    ) -> list[Combination]:
        """Runs what the round lacks, as far as that share of the budget goes; returns the
        combinations that did not fail for good."""
        for one in self._plan.order(number, among):
            if self._is_there(number, runs.cases.get(one.name), one.name):
                self._done += 1
                continue
            if self._is_over(share):
                self._say(f"no time is left for the rest of {_round_words(number)}")
                break
            self._report(number, one, len(among))
            self._one(one, number)
        kept = self._not_gone(among)
        if number == 0:  # without a warm-up a combination is not begun with
            kept = [one for one in kept if self._is_there(0, runs.cases.get(one.name), one.name)]
        return kept

    def _left_s(self) -> float | None:
        """Of the budget; None: there is none."""
        if self._budget_s is None:
            return None
        return max(self._budget_s - (time.monotonic() - self._started), 0.0)

    def _is_over(self, share: float = 1.0) -> bool:
        """Whether that share of the budget is spent."""
        left_s = self._left_s()
        return left_s is not None and left_s <= (1 - share) * (self._budget_s or 0.0)

    def _is_there(self, number: int, case: Case | None, name: str) -> bool:
        """Of a warm-up also the one that told how long a run takes."""
        if number == 0 and name in self._pace.seconds:
            return True
        return case is not None and (number in case.seconds if number else case.warm_ups > 0)

    def _one(self, combination: Combination, number: int) -> None:
        """A run; without room for it the sweep ends, but where others write to other disks."""
        try:
            self._made(combination, number)
        except NoRoom as full:
            if not self._several_disks:
                raise
            self._say(f"{combination.name} is left out: {full.what} ({full.where})")
            text = f"there was no room for it in {full.where} ({full.what})"
            self.left_out.append(LeftOut(combination, text, ExitCode.RUN_FAILED, failed=True))

    def _made(self, combination: Combination, number: int) -> None:
        """A run that fails is made again, and the second failure is its last."""
        while True:
            expected = self._checked.logical_bytes[combination.name]
            needed = max(expected, self._stored.get(combination.name, 0))
            check_room(combination.variant.filename.parent, needed)
            without = self._checked.without.get(combination.name, ())
            default = combination.name == self._checked.default
            place = Place(self._plan.sweep, combination.name, number, without, default)
            ran = run_fresh(
                self._plan.program, combination.variant, place, self._plan.results, told=self.told
            )  # fmt: skip
            self._pace.add(combination.name, ran.elapsed_s)
            stored = [one["bytes"]["stored"] or 0 for one in ran.records]
            self._stored[combination.name] = max([needed, *stored])
            if ran.code == 0 and ran.records:
                self._done += 1
                return
            check_not_full(combination.variant.filename.parent, ran)
            failures = self._failures.get(combination.name, 0) + 1
            self._failures[combination.name] = failures
            why = f"exit code {ran.code}" + (f": {ran.why}" if ran.why else "")
            self._say(f"{combination.name} failed in round {number} ({why})")
            if failures >= _most_failures:
                text = f"it failed {_most_failures} times ({why})"
                self.left_out.append(LeftOut(combination, text, ran.code, failed=True))
                return

    def _affordable(self, number: int, among: list[Combination]) -> list[Combination]:
        """Those of the next round; the worst are given up where the time is too short for all."""
        left_s = self._left_s()
        if left_s is None:
            return among
        runs = self.runs()
        kept = list(among)
        while kept and (self._pace.of_all(one.name for one in kept) or 0.0) > left_s:
            if len(kept) <= 2:
                self._say(f"the budget ends before round {number}")
                return []
            worst = max(kept, key=lambda one: _median(runs, one.name))
            kept.remove(worst)
            self._drop(Dropped(worst.name, number - 1, "no time was left for it"))
        return kept

    def _give_up(self, number: int, among: list[Combination], runs: Runs) -> list[Combination]:
        some = [one for one in among if runs.cases[one.name].seconds]  # a budget may end in a round
        kept, dropped = narrowed([runs.cases[one.name] for one in some], number)
        for one in dropped:
            self._drop(one)
        return [one for one in among if one.name in kept]

    def _joining(self, number: int, among: list[Combination], runs: Runs) -> list[Combination]:
        """Where a part was begun with: those left out that should come near the best."""
        left = self._not_gone(self._checked.runnable)
        found = promising(left, runs.cases, max(1, len(among) // 2))
        for one, seconds in found:
            self._say(f"joins after round {number}: {one.name} ({seconds:.3g} s expected)")
        return self._round(0, [one for one, _ in found], runs, share=1.0)

    def _drop(self, dropped: Dropped) -> None:
        self.dropped.append(dropped)
        self._say(f"given up after round {dropped.round}: {dropped.name} ({dropped.why})")

    def _report(self, number: int, one: Combination, count: int) -> None:
        text = "warm-up" if number == 0 else f"{_round_words(number)} of {self._repeat}"
        of = self._done + count * (self._repeat - number + 1)
        seconds = self._pace.of(one.name)
        left = self._left_s()
        if left is None and seconds is not None:
            total = len(self._checked.runnable) * (self._repeat + 1)
            of, left = total, max(total - self._done, 0) * seconds
        self._tell(HowFar(self._done, of, f"{text}, {one.name}", left))


def _round_words(number: int) -> str:
    return f"round {number}" if number else "the warm-ups"


def _size(record: object) -> int:
    return getattr(record, "stored_bytes", None) or 0


def _median(runs: Runs, name: str) -> float:
    case = runs.cases.get(name)
    return case.median_s if case and case.seconds else 0.0
