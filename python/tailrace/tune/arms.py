# SPDX-License-Identifier: Apache-2.0
"""The runs that the loop asks for: each is made once and known from then on."""

from __future__ import annotations

import functools
import math
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from tailrace.intent.apply import Line
from tailrace.run.rounds import Pace
from tailrace.sandbox.ground import Ground, Left
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.supervision import Outcome
from tailrace.statistics import Comparison
from tailrace.tune import content, pairs, plain_run, recording
from tailrace.tune.budget import Budget, BudgetEnded
from tailrace.tune.candidate import Checked, few
from tailrace.tune.content import ByItself, Report, Result
from tailrace.tune.measurement import Measured, Runner
from tailrace.tune.mishaps import BETWEEN, Failures, Limits
from tailrace.tune.pairs import Misbehaved, Times, Trial
from tailrace.tune.rules_of_plan import not_in_force
from tailrace.units import some

Document = dict[str, Any]
T = TypeVar("T")
Plans = dict[str, Document]
Copies = dict[str, Path]  # of inputs, by their names in the working folder

_least_limit_s = 10.0
_times_slower = 5.0  # than the slowest default: then it hangs, or might as well
_plain = "default without hooks"
_most_defaults = 6  # that are kept to be compared
_met_limit = "it met its time limit, perhaps because the machine stalled"
_failed_once = "the default run after it did not fail"


class Arms:
    """Of one tune."""

    def __init__(
        self, runner: Runner, ground: Ground, ledger: Ledger, say: Callable[[str], None],
        budget: Budget,
    ) -> None:  # fmt: skip
        self._runner, self._ground, self._ledger, self._say = runner, ground, ledger, say
        self._command = runner.command
        self._limit_s: float | None = None
        self._is_derived = False  # the limit: it is not the user's
        self._given_s: float | None = None  # what the user lets the default take; None: not said
        self._default: Result | None = None
        self._known: ByItself | None = None  # from the first two runs of the default
        self._further: list[ByItself] = []
        self._limits, self._failures = Limits(ledger), Failures(ledger)
        self._budget = budget
        self._same: tuple[Comparison, Times] | None = None
        self.pace = Pace()
        self.fastest_s = 0.0  # of the two
        self.comparing_s = 0.0  # the longest comparison of contents so far

    @property
    def same(self) -> Comparison | None:
        """The default against itself, if that was measured."""
        return self._same[0] if self._same else None

    def defaults(self, limit_s: float, *, is_given: bool = False) -> tuple[ByItself, Report]:
        """Two runs of the default that are kept: what differs between them differs by itself, and
        what is left to be compared. is_given: the limit holds for later runs of the default too."""
        self._limit_s, self._given_s = limit_s, limit_s if is_given else None
        kept = [self._kept(name) for name in ("default-1", "default-2")]
        self._default = kept[0]
        times = [self._ledger.known(name)["elapsed_s"] for name in ("default-1", "default-2")]
        self.fastest_s = min(times)
        derived_s = max(_least_limit_s, _times_slower * max(times))
        self._limit_s, self._is_derived = min(limit_s, derived_s), derived_s < limit_s
        known = self._known = content.by_itself(kept[0], kept[1])
        while self._ledger.known(self._next_default) is not None:
            self._hold_another()
        return known, self._compared(kept[0], kept[1], known)

    def all_that_differs(self, known: ByItself) -> ByItself:
        """By itself: also from runs of the default that were made since."""
        return functools.reduce(content.together, self._further, known)

    @property
    def default_s(self) -> float:
        """Of a run with nothing of ours in it."""
        return float(self._ledger.known(_plain)["elapsed_s"])

    @property
    def _next_default(self) -> str:
        return f"default-{3 + len(self._further)}"

    def _hold_another(self) -> None:
        assert self._default is not None
        fresh = self._kept(self._next_default)
        self._further.append(content.by_itself(self._default, fresh))

    def _before_blame(
        self, compared: Callable[[ByItself], T], differs: Callable[[T], bool], other: Result,
        known: ByItself,
    ) -> T:  # fmt: skip
        """The comparison of `other` with the default, where it differs once more after a fresh run
        of the default: what that has otherwise, too, is nobody's fault."""
        found = compared(self.all_that_differs(known))
        if differs(found) and self._is_older_than_that(other, known):
            found = compared(self.all_that_differs(known))
        return found

    def _is_older_than_that(self, other: Result, known: ByItself) -> bool:
        """Whether a fresh run of the default differs from the first one where none before did. A
        date by the minute is the same in two runs, and another one in the next."""
        assert self._default is not None
        is_full = 2 + len(self._further) >= _most_defaults
        if is_full or other.code != self._default.code or not self._has_room():
            return False
        before = self.all_that_differs(known)
        self._say("the content differs: one more default run, to see whether it differs too")
        self._hold_another()
        after = self.all_that_differs(known)
        return set(after.names) != set(before.names) or after.renamed != before.renamed

    def _has_room(self) -> bool:
        """For one more that is kept, beside the run at work."""
        assert self._default is not None
        files = list(self._default.files.values())
        size = sum(path.stat().st_size for path in files)
        least = 2 * size + self._runner.least_free_bytes
        return not files or shutil.disk_usage(files[0].parent).free > least

    def plain_differences(self, known: ByItself) -> plain_run.Differences:
        """What the program leaves otherwise with nothing of ours in it."""

        def find() -> Document:
            measured = self._made(_plain, None, keep=True, plain=True)
            if measured.outcome.code != self._expected_code() or measured.outcome.stopped:
                raise self._failed(_plain, measured)
            assert self._default is not None and measured.result is not None
            default, result = self._default, measured.result
            found = self._before_blame(
                lambda by_itself: plain_run.differences(default, result, by_itself),
                lambda found: bool(found.with_ours), result, known,
            )  # fmt: skip
            self._drop(measured)
            return {**measured.as_fact(), **asdict(found)}

        fact = self._ledger.fact(_plain, find)
        return plain_run.Differences(fact["with_ours"], fact["names"])

    def check(
        self, name: str, plan: Document | None, known: ByItself, copies: Copies | None = None
    ) -> Checked:
        """A run with a plan, or on copies of its inputs, its content held against the default's;
        not timed."""

        def find() -> Document:
            with self._finding(copies or {}):
                measured = self._made(name, plan, keep=True)
            report = None
            if not measured.outcome.stopped and measured.result is not None:
                report = self._against_default(measured.result, known).as_json()
            self._drop(measured)
            return {**measured.as_fact(), "report": report}

        fact = self._ledger.fact(name, find)
        report = fact["report"]
        if report is not None:
            report = Report(**{key: value for key, value in report.items() if key != "equal"})
        outcome = Outcome(fact["code"], fact["run_s"], fact["stopped"])
        lines = [Line(**line) for line in fact["lines"]]
        idle, again = not_in_force(plan or {}, lines), self._failures.in_words(name)
        return Checked(outcome, lines, idle, report, again)

    def _against_default(self, result: Result, known: ByItself) -> Report:
        assert self._default is not None
        default = self._default
        return self._before_blame(
            lambda by_itself: self._compared(default, result, by_itself),
            lambda report: bool(report.differences), result, known,
        )  # fmt: skip

    def _compared(self, default: Result, result: Result, known: ByItself) -> Report:
        began = time.monotonic()
        report = content.against_default(default, result, known)
        self.comparing_s = max(self.comparing_s, time.monotonic() - began)
        return report

    def against_itself(self) -> Times:
        """The default, with more pairs where there may be a difference; once in a tune."""
        if self._same is None:
            self._say("the difference is small: comparing the default with itself")
            self._same = pairs.against_itself(
                self._ledger, "default against itself", ("A1", "A2"), self._timed({}), self._say
            )
        return self._same[1]

    def in_turns(self, stage: str, arms: tuple[str, str], plans: Plans, wanted: int) -> Times:
        """Pairs of two arms, so many. plans: of the arms that have one."""
        times = Times()
        run = self._timed(plans)
        pairs.alternate(self._ledger, stage, arms, times, wanted, run, self._say)
        return times

    def until_decided(self, stage: str, plan: Document) -> tuple[Comparison, Times]:
        """Default and tuned in pairs, to the verdict."""
        run = self._timed({"tuned": plan})
        return pairs.until_decided(
            self._ledger, stage, ("default", "tuned"), run, self._say, self.against_itself
        )

    def on_copies(
        self, stage: str, plan: Document | None, copies: Copies
    ) -> tuple[Comparison, Times]:
        """The program on its inputs and on copies in their place, in pairs, to the verdict; both
        with the plan where there is one."""

        run = self._on(copies, {} if plan is None else {"as it is": plan, "repacked": plan})
        arms = ("as it is", "repacked")
        return pairs.until_decided(self._ledger, stage, arms, run, self._say, self.against_itself)

    def beside_copies(
        self, stage: str, plan: Document, copies: Copies, trials: dict[str, Trial]
    ) -> None:
        """`tuned`, with the plan, and `repacked`, on the copies, to their verdicts, both against
        the same runs of the default."""
        run = self._on(copies, {"tuned": plan})
        pairs.decide(self._ledger, stage, "default", trials, run, self._say, self.against_itself)

    def _on(self, copies: Copies, plans: Plans) -> pairs.Run:
        """Runs of which `repacked` is on the copies."""
        timed = self._timed(plans)

        def run(arm: str, name: str) -> float:
            with self._finding(copies if arm == "repacked" else {}):
                return timed(arm, name)

        return run

    @contextmanager
    def _finding(self, copies: Copies) -> Iterator[None]:
        """Runs find these files in the place of their inputs."""
        if not isinstance(self._ground, Scratch):
            yield
            return
        before, self._ground.instead = self._ground.instead, copies
        try:
            yield
        finally:
            self._ground.instead = before

    @property
    def _on_copies(self) -> bool:
        return isinstance(self._ground, Scratch) and bool(self._ground.instead)

    def times_of(self, stage: str, plan: Document, less: Document) -> Times:
        """A few pairs of a plan and of the same with less."""
        return self.in_turns(stage, ("plan", "less"), {"plan": plan, "less": less}, few)

    def seconds(self, name: str, plan: Document) -> float:
        """Of one run with a plan; infinite where it goes wrong."""
        try:
            return self._timed({"plan": plan})("plan", name)
        except Misbehaved as error:
            self._say(f"{name}: {error}")
            return math.inf

    def _timed(self, plans: Plans) -> pairs.Run:
        """A run that goes wrong is a fact like any other: it has no second chance."""

        def run(arm: str, name: str) -> float:
            plan = plans.get(arm)
            fact = self._ledger.fact(name, lambda: self._timed_fact(name, plan))
            if "wrong" in fact:
                raise Misbehaved(fact["wrong"], plan)
            return float(fact["elapsed_s"])

        return run

    def _timed_fact(self, name: str, plan: Document | None) -> Document:
        measured = self._made(name, plan)
        if measured.outcome.code == self._expected_code() and not measured.outcome.stopped:
            return measured.as_fact()
        if plan is None and not self._on_copies:
            raise self._failed(name, measured)
        again = self._failures.in_words(name)
        wrong = f"in a later run, {name}: {measured.outcome.words}{again}"
        return {**measured.as_fact(), "wrong": wrong}

    def _expected_code(self) -> int:
        return self._default.code if self._default is not None else 0

    def _failed(self, name: str, measured: Measured) -> Exception:
        said = self._runner.last_words(_file_name(name))
        limit_s, is_derived = self._limit(is_default=True)
        return recording.failed(
            measured.outcome, said, self._command, limit_s, is_derived=is_derived,
            went_well=self._went_well(), goes_on=self._ledger.known("default-2") is not None,
        )  # fmt: skip

    def _went_well(self) -> int:
        """Runs, of either arm and that which was recorded."""
        facts = (fact for fact in self._ledger.all().values() if isinstance(fact, dict))
        return 1 + sum(fact.get("code") == 0 and not fact["stopped"] for fact in facts)

    def _kept(self, name: str) -> Result:
        """Of the default; made again where what it left is gone."""
        fact = self._ledger.known(name)
        if fact is not None and Path(fact["folder"]).is_dir():
            left = Left(Path(fact["folder"]), fact["written"], fact["removed"])
            return self._runner.result(name, left, fact)
        measured = self._made(name, None, keep=True)
        assert measured.left is not None and measured.result is not None
        if measured.outcome.code or measured.outcome.stopped:
            raise self._failed(name, measured)
        left = measured.left
        self._ledger.note(
            name,
            {**measured.as_fact(), **measured.as_proof(), "folder": str(left.folder),
             "written": left.written, "removed": left.removed},
        )  # fmt: skip
        return measured.result

    def _made(
        self, name: str, plan: Document | None, keep: bool = False, plain: bool = False
    ) -> Measured:
        """A run; once more for each reason for which it is none that could be judged."""
        reasons: set[str] = set()
        longest_s, _ = self._limit(is_default=plan is None and not self._on_copies)
        while True:
            expected_s = self.pace.of("tuned" if plan is not None else "default") or 0.0
            self._budget.check(expected_s + (self.comparing_s if keep else 0.0))
            most_s = self._budget.most_s
            is_last = most_s is not None and most_s < (longest_s or math.inf)
            limit_s = most_s if is_last else longest_s
            measured = self._runner.run(_file_name(name), plan, limit_s, keep, plain)
            if is_last and measured.outcome.stopped == "limit":
                self._drop(measured)
                raise BudgetEnded
            if measured.outcome.stopped == "limit":
                self._budget.hung(measured.whole_s)
            reason = self._why_again(plan, measured)
            if not reason or reason in reasons:
                break
            if reason == _met_limit and not self._is_forgiven(name, plan, measured):
                break
            if reason == _failed_once and not self._may_be_chance(name, measured):
                break
            reasons.add(reason)
            self._say(f"{name} is repeated: {reason}")
            if measured.altered:
                self._ledger.note("copies", sorted(self._ground.copies))
            self._drop(measured)
        if reason == _met_limit and reason in reasons:
            self._limits.was_no_chance(name)
        if reason == _failed_once and reason in reasons:
            self._failures.was_no_chance(name)
        if measured.outcome.stopped == "disk":
            raise self._failed(name, measured)
        if not measured.outcome.stopped:
            self.pace.add("tuned" if plan is not None else "default", measured.whole_s)
        return measured

    def _why_again(self, plan: Document | None, measured: Measured) -> str:
        if measured.altered:
            return "it wrote to an input through a link; from now on the input is a copy"
        if measured.outcome.was_held:
            return "tune itself was stopped during it, so its time is not known"
        is_default = plan is None and not self._on_copies
        if measured.outcome.stopped == "limit" and self._limit(is_default=is_default)[1]:
            return _met_limit
        failed = measured.outcome.code != self._expected_code() and not measured.outcome.stopped
        return _failed_once if failed and not is_default else ""

    def _limit(self, *, is_default: bool) -> tuple[float | None, bool]:
        """Of a run, and whether it follows from how long the default took."""
        if is_default and self._given_s is not None:
            return self._given_s, False
        return self._limit_s, self._is_derived

    def _may_be_chance(self, name: str, measured: Measured) -> bool:
        """Whether a run that failed is made once more. Raises: the default fails too by now."""
        self._say(f"{name} failed: one more default run, to see whether it fails too")
        with self._finding({}):
            between = f"{name}{BETWEEN}"
            self._ledger.fact(between, lambda: self._timed_fact(between, None))
        if not self._failures.may_be_forgiven:
            return False
        self._failures.forgive(name, measured.as_fact(), measured.outcome.words)
        return True

    def _is_forgiven(self, name: str, plan: Document | None, measured: Measured) -> bool:
        is_default = plan is None and not self._on_copies
        return self._limits.forgive(name, measured.as_fact(), is_default=is_default)

    def _drop(self, measured: Measured) -> None:
        if measured.left is not None:
            shutil.rmtree(measured.left.folder, ignore_errors=True)

    @property
    def notes(self) -> list[str]:
        """What is to be said of runs that did not go well and were forgiven it."""
        return [*self._limits.notes, *self._failures.notes, *self._left_out_later()]

    def _left_out_later(self) -> list[str]:
        """What two runs have alike is proof for less where a third has not."""
        if self._known is None or not self._further:
            return []
        names = set(self.all_that_differs(self._known).names) - set(self._known.names)
        if not names:
            return []
        return [
            "left out of the comparison, since a later default run differs there from the first "
            f"two: {some(sorted(names), 3)}"
        ]

    def check_time(self, next_s: float) -> None:
        """Raises BudgetEnded: what takes so long, and is no run, would end too late."""
        self._budget.check(next_s)

    def expect(self, elapsed_s: float) -> None:
        """Says how long a run takes, and all of them at most."""
        hung = ", but for those that hang," if self._budget.is_default else ""
        self._say(
            f"a run takes about {elapsed_s:.1f} s; the runs that follow{hung} end at the latest "
            f"{self._budget.words} after the start (--budget)"
        )
        least_s = recording.runs_of_a_verdict * elapsed_s
        if least_s > self._budget.all_s:
            self._say(
                f"a verdict takes some {recording.runs_of_a_verdict} runs: --budget "
                f"{math.ceil(least_s / 60)}m"
            )


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name)
