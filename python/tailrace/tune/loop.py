# SPDX-License-Identifier: Apache-2.0
"""The loop: record, plan, what of it matters, trial, what pays, confirmation."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tailrace import statistics
from tailrace.intent import advice, proof
from tailrace.intent.apply import Line
from tailrace.intent.sources import profile_text, whole_profile, worth_saying
from tailrace.repack.reading import badly_read
from tailrace.sandbox import landlock
from tailrace.sandbox.confinement import Confinement
from tailrace.sandbox.ground import Ground
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.outside_files import outside_of
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import check_space
from tailrace.statistics import Comparison
from tailrace.tune import candidate as candidates
from tailrace.tune import (
    mpi_io,
    nodes,
    recording,
    repacked_inputs,
    search,
    touched_files,
)
from tailrace.tune.arms import Arms
from tailrace.tune.budget import Budget, BudgetEnded
from tailrace.tune.candidate import Candidate
from tailrace.tune.content import ByItself, Report
from tailrace.tune.measurement import Runner, Setting
from tailrace.tune.pairs import Misbehaved, Times, Trial, is_clear
from tailrace.tune.repacked_inputs import Arm, Proposed
from tailrace.tune.request import Asked, Document, Verdict
from tailrace.tune.rules_of_plan import by_suspicion, times_of, without
from tailrace.tune.search import Means
from tailrace.units import plural, some
from tailrace.whole_files import write_text

Say = Callable[[str], None]

_much_faster = 1.5  # by one run
_no_rule = "no rule has a setting for this program"
_copies_of_outputs = 4  # two of the default, one tuned, and that of the run at work


@dataclass
class Found:
    """What a tune has come to. plan: the whole one, candidate: what is left of it. lines: what
    became of its settings in the last run. changes: numbers that a search has changed. goes_on: a
    budget has ended it, and with more it goes on where it was."""

    verdict: Verdict
    profile: Document = field(default_factory=dict)
    plan: Document = field(default_factory=dict)
    candidate: Candidate | None = None
    known: ByItself | None = None
    same: Comparison | None = None
    trial: Comparison | None = None
    confirmed: Comparison | None = None
    report: Report | None = None
    lines: list[Line] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)
    times: Times = field(default_factory=Times)
    repacked: Arm | None = None
    notes: list[str] = field(default_factory=list)
    goes_on: bool = False

    @property
    def recorded_s(self) -> float | None:
        """What the run took of which the estimates are."""
        elapsed_s: float | None = self.profile.get("run", {}).get("elapsed_s")
        return elapsed_s

    def forget(self, rule: str) -> None:
        """What was measured and compared of a plan with this rule, which is given up."""
        self.trial = self.confirmed = self.report = None
        self.lines, self.ratios, self.times = [], {}, Times()
        self.changes = [one for one in self.changes if not one.startswith(f"rule {rule},")]


class Tune:
    """One tune. say: hears how far it is."""

    def __init__(
        self, asked: Asked, ground: Ground, ledger: Ledger, say: Say,
        confined: Confinement | None = None, began: float | None = None,
    ) -> None:  # fmt: skip
        """began: when the user began to wait, by the monotonic clock; None: now."""
        began = time.monotonic() if began is None else began
        self._asked, self._ground, self._ledger, self._say = asked, ground, ledger, say
        self.setting = Setting(
            asked.command, asked.home, asked.scratch, asked.stdin, asked.is_cold, confined=confined
        )
        self._runner = Runner(self.setting, ground)
        self._budget = Budget(
            60 * asked.budget_minutes, _spent_s(ledger, hung=asked.budget_minutes > 0),
            60 * asked.search_minutes, began=began,
        )  # fmt: skip
        self._arms = Arms(self._runner, ground, ledger, say, self._budget)
        self._before = ledger.fact("named files", lambda: proof.files_of(asked.command))

    def run(self) -> Found:
        """Raises TailraceError where the program itself does not go well."""
        try:
            found = self._run()
            self._note_outside(found)
            if found.known is not None:
                found.known = self._arms.all_that_differs(found.known)
            found.notes += self._runner.notes + self._arms.notes
            return found
        finally:
            self._runner.outside.put_back()

    def _run(self) -> Found:
        found = Found(Verdict("nothing_to_gain", ""))
        self._note_confinement(found)
        recorded = self._record(found)
        self._budget.start(recorded["elapsed_s"])
        self._arms.expect(recorded["elapsed_s"])
        self._advise(found)
        if found.candidate is None:
            no_file = "no file was seen that the program writes or reads"
            return _ended(found, "nothing_to_gain", _why_none(recorded, no_file))
        badly = self._badly_laid_out(found)
        if not found.candidate.rules and not badly.names:
            why = _why_none(recorded, _nothing_left(found.candidate))
            return _ended(found, "nothing_to_gain", why)
        try:
            return self._measured(found, recorded, badly)
        except BudgetEnded:
            return self._out_of_time(found, "before anything was compared")

    def _measured(self, found: Found, recorded: Document, badly: Proposed) -> Found:
        """What the program leaves, and what plan and repacked inputs bring. Where the copies are
        estimated to save more, both meet the same runs of the default; else the copies come on top
        of a plan that is kept."""
        assert found.candidate is not None
        found.known, alike = self._arms.defaults(
            self._asked.most_s, is_given=self._asked.limit_s is not None
        )
        self._leave_out_too_little(found, badly)
        if not found.candidate.rules and not badly.names:
            return _ended(found, "nothing_to_gain", _nothing_left(found.candidate))
        if not alike.equal:
            found.notes += alike.notes
            return _ended(found, "not_proven", nothing_alike(found.known, alike))
        otherwise = self._arms.plain_differences(found.known)
        if otherwise.reason:
            found.notes += otherwise.notes
            return _ended(found, "not_proven", otherwise.reason)
        of_plan_s = sum(rule.saved_s or 0.0 for rule in found.candidate.rules)
        is_first = (badly.saved_s or 0.0) > of_plan_s
        if is_first:
            self._repacked(found, badly)
        self._settings(found, found.candidate)
        if badly.names and not is_first:
            self._repacked(found, self._beside_the_plan(found, badly))
        if found.repacked is not None and found.repacked.waits:
            kept = found.candidate.plan if found.repacked.with_plan else None
            repacked_inputs.measure(found.repacked, self._arms, kept)
        found.same = self._arms.same
        return found

    def _note_confinement(self, found: Found) -> None:
        confined = self.setting.confined
        if confined is not None and not confined.is_whole:
            who = f"the runs were not confined to their folder: {confined.why_not}"
            if not confined.why_not:
                who = f"the runs were confined to their folder, except {confined.beyond}"
            found.notes.append(
                f"{who}. Whether the program writes elsewhere is known only as far as the recorded "
                "run showed it"
            )
        elif confined is not None and not landlock.sees_truncate():
            found.notes.append(
                "the runs were confined to their folder, except that Linux before 6.2 does not "
                "refuse to cut files by their names (truncate)"
            )

    def _ours(self) -> set[Path]:
        confined = self.setting.confined
        return {
            self._asked.output, self._asked.scratch, *([confined.temporary] if confined else [])
        }  # fmt: skip

    def _note_outside(self, found: Found) -> None:
        """Files of random names, mostly: each run has left its own where it may write."""
        kept, began_ns = self._runner.outside.files, self._ledger.known("recorded")["began_ns"]
        for folder in self._asked.allow_outside:
            new = touched_files.later_than(folder, self._ours(), began_ns, kept)
            if new:
                names = ", ".join(new[:3]) + (" ..." if new[3:] else "")
                found.notes.append(
                    f"new or changed in {folder}, beside the files of the recorded run: "
                    f"{plural(len(new), 'file')}. Please look at them: {names}"
                )

    def _settings(self, found: Found, candidate: Candidate) -> None:
        """What comes of the plan."""
        if not candidate.rules:
            _ended(found, "nothing_to_gain", _nothing_left(candidate))
            return
        while found.candidate is not None and found.candidate.rules:
            try:
                self._tuned(found)
                return
            except BudgetEnded:
                self._out_of_time(found, "before a verdict")
                return
            except Misbehaved as error:
                plan = found.candidate.plan if error.plan is None else error.plan
                suspect = by_suspicion(plan)[0]
                self._say(f"rule {suspect.id} is dropped: {error}")
                found.candidate.drop(suspect.id, str(error))
                found.forget(suspect.id)
        assert found.candidate is not None
        _ended(found, "nothing_to_gain", _nothing_left(found.candidate))

    def _leave_out_too_little(self, found: Found, badly: Proposed) -> None:
        """What cannot be measured, by a run of the default: the recorded one may have been cold."""
        assert found.candidate is not None
        least_s = statistics.effect * self._arms.fastest_s
        found.candidate.drop_what_saves_less(least_s)
        if badly.names and badly.saved_s is not None and badly.saved_s < least_s:
            found.notes.append(
                f"other chunks would suit the reads of {some(badly.names, 1)}, but they are "
                f"estimated to save {badly.saved_s:.2g} s of a run, too little to measure: not "
                "tried"
            )
            badly.names = []

    def _badly_laid_out(self, found: Found) -> Proposed:
        """Files that are only read, in chunks that do not suit: copies of them can be repacked."""
        bad = repacked_inputs.proposed(badly_read(found.profile), self._asked.home)
        command = repacked_inputs.command("FILE", str(self._asked.output / "profile.json"))
        if bad.beyond:
            found.notes.append(
                f"other chunks would suit the reads of {some(bad.beyond, 1)}, but it is outside "
                f"the working folder: not tried; {command}"
            )
        if bad.further:
            found.notes.append(
                f"other chunks would suit the reads of {bad.further} more files: not tried"
            )
        if bad.names and not isinstance(self._ground, Scratch):
            found.notes.append(
                f"other chunks would suit the reads of {some(bad.names, 1)}: not tried in place; "
                f"{command}"
            )
            bad.names = []
        return bad

    def _beside_the_plan(self, found: Found, badly: Proposed) -> Proposed:
        """Two cures of the same reads are no two gains: what repacking saves where the plan is
        kept."""
        if found.verdict.name != "kept" or found.candidate is None:
            return badly
        more = repacked_inputs.proposed(
            badly_read(found.profile, found.candidate.plan), self._asked.home
        )
        more.names = [name for name in more.names if name in badly.names]
        more.run_s = statistics.median(found.times.other)
        if more.names and more.can_be_measured(statistics.effect * more.run_s):
            return more
        saved = f", and {badly.saved_s:.2g} s without it" if badly.saved_s is not None else ""
        found.notes.append(
            f"other chunks would suit the reads of {some(badly.names, 1)}, and the plan serves "
            f"them too: on top of it repacking is estimated to save {more.saved_s or 0:.2g} s of a "
            f"run{saved}: not tried"
        )
        more.names = []
        return more

    def _repacked(self, found: Found, badly: Proposed) -> None:
        """Copies that wait to be measured."""
        if not badly.names:
            return
        assert isinstance(self._ground, Scratch)
        assert found.candidate is not None
        assert found.known is not None
        kept = found.candidate.plan if found.verdict.name == "kept" else None
        means = repacked_inputs.Means(
            self._arms, self._ground, self._asked.home, found.profile, kept, found.known, self._say,
        )  # fmt: skip
        try:
            found.repacked, notes = repacked_inputs.prepared(badly.names, self._ledger, means)
            found.repacked.estimated = times_of(badly.run_s or found.recorded_s, badly.saved_s)
        except BudgetEnded:
            notes = [self._too_short("before the program had run on repacked inputs")]
        found.notes += notes

    def _record(self, found: Found) -> Document:
        asked = self._asked
        file = _profile(asked)

        def record() -> Document:
            self._say("recording a run")
            ran = recording.record_run(
                self.setting, self._ground, asked.most_s, self._budget.most_s
            )
            write_text(file, profile_text(ran.profile))
            return {
                "elapsed_s": ran.outcome.elapsed_s,
                "written_bytes": ran.written_bytes,
                "outside": ran.outside,
                "refused": ran.refused,
                "unseen": ran.unseen,
                "began_ns": ran.outcome.began_ns,
                "notes": ran.notes,
            }

        recorded: Document = self._ledger.fact("recorded", record)
        found.profile = whole_profile(file.read_text())
        found.notes += [*recorded["notes"], *worth_saying(found.profile)]
        if names := recorded.get("unseen"):
            found.notes.append(recording.unseen_note(names))
        self._runner.programs_on_nodes = nodes.programs_of(found.profile)
        if self._runner.programs_on_nodes:
            found.notes.append(
                "the program ran on several nodes: each node syncs its files, so each time "
                "includes one more start of the launcher; only the files of this node are compared"
            )
        if refused := recorded.get("refused"):
            found.notes.append(refused)
        recording.check_outside(recorded["outside"], asked.allow_outside)
        outside = outside_of(recorded, asked.scratch)
        check_space(outside.bytes_to_save, shutil.disk_usage(asked.scratch).free, asked.scratch)
        outside.save()
        self._runner.outside = outside
        self._runner.inputs.know(found.profile)
        free = shutil.disk_usage(asked.scratch).free
        needed = _copies_of_outputs * recorded["written_bytes"] + self._runner.least_free_bytes
        check_space(needed, free, asked.scratch)
        return recorded

    def _advise(self, found: Found) -> None:
        """The plan is a fact: all runs that are known by their names were made with it."""
        if not any(map(touched_files.was_opened, found.profile.get("files", []))):
            return
        advised = self._ledger.fact("plan", lambda: self._advised(found.profile))
        found.plan, found.candidate = advised["plan"], Candidate(advised["plan"])
        of_plan = [*advised["notes"], *(found.plan["origin"].get("notes") or [])]
        found.notes += [note for note in of_plan if note not in found.notes]
        self._say(f"the plan has {plural(len(found.candidate.rules), 'rule')} to try")

    def _advised(self, profile: Document) -> Document:
        asked = self._asked
        ranks = profile["run"].get("ranks") or 1
        allow = sorted({*asked.allow, *(["collective"] if ranks > 1 else [])})
        plan, _, notes = advice.advise([_profile(asked)], asked.rules, allow, asked.declared)
        if why := mpi_io.why_not(plan, asked.command):
            plan = without(plan, {mpi_io.rule_of(plan)})
            notes.append(why)
        plan["origin"]["sources"] = [str(asked.output / "profile.json")]  # where it will be
        return {"plan": plan, "notes": notes}

    def _tuned(self, found: Found) -> None:
        """A plan that works, what of it pays, and whether that is faster. A plan that is much
        faster is made smaller first, so that the pairs that follow prove it."""
        arms = self._arms
        one = found.candidate
        assert one is not None and found.known is not None
        known = found.known
        stage = _stage(one)

        def check(plan: Document, number: int) -> candidates.Checked:
            return arms.check(f"check {stage}, {number}", plan, known)

        candidates.that_works(one, check, self._say)
        found.report = one.report
        if not one.rules:
            _ended(found, "nothing_to_gain", _nothing_left(one))
            return
        if len(one.rules) > 1:
            self._glance(found, one)
        found.trial, found.times = self._trial(found, one)
        if found.trial.verdict == "faster":
            self._faster(found, one, known)
            return
        if found.trial.verdict == "no_verdict":
            _ended(found, "no_verdict", found.trial.reason)
            return
        try:
            is_faster = self._otherwise(found, one, known, found.trial)
        except BudgetEnded:
            found.confirmed = None
            _no_gain(found, one, found.trial)
            found.notes.append(self._too_short("before it was known what else the plan can be"))
            return
        if is_faster:
            self._prove(found, one, known)

    def _trial(self, found: Found, one: Candidate) -> tuple[Comparison, Times]:
        """Of the plan, and of the copies if they wait, against the same runs of the default."""
        stage, copies = f"trial {_stage(one)}", found.repacked
        if copies is None or not copies.waits:
            return self._arms.until_decided(stage, one.plan)
        trials = {"tuned": Trial(), "repacked": Trial()}
        try:
            self._arms.beside_copies(stage, one.plan, copies.copies, trials)
        finally:
            if trials["repacked"].is_decided:
                repacked_inputs.take(copies, trials["repacked"])
        return trials["tuned"].outcome()

    def _otherwise(self, found: Found, one: Candidate, known: ByItself, trial: Comparison) -> bool:
        """Whether less of a plan that makes no difference, or the same with other numbers, is
        faster; else the verdict is there."""
        arms = self._arms
        before, tuned_s = len(one.dropped), statistics.median(found.times.other)
        found.ratios |= candidates.that_hinder(one, arms.seconds, tuned_s, arms.times_of, self._say)
        if len(one.dropped) > before and len(one.rules) > 1:
            self._glance(found, one)
        if self._asked.search_minutes > 0:
            self._search(found, one, known)
        if found.changes or len(one.dropped) > before:
            return self._confirmed(found, one)
        _no_gain(found, one, trial)
        return False

    def _glance(self, found: Found, one: Candidate) -> None:
        """One run of the plan. If it is much faster than the default, one without each rule tells
        which of them matter."""
        name = f"glance {_stage(one)}"
        plan_s = self._arms.seconds(name, one.plan)
        if plan_s * _much_faster < self._arms.default_s:
            found.ratios |= candidates.that_matter(one, self._arms.seconds, plan_s, self._say)

    def _faster(self, found: Found, one: Candidate, known: ByItself) -> None:
        """The trial's plan is faster. Less of it, or other numbers, have to win once more; where no
        time is left for that, it stays as it is."""
        assert found.trial is not None
        tried, before = (one.plan, dict(one.dropped)), found.times
        cut_short = ""
        proof_s = self._arms.pace.of("default") or 0.0
        self._budget.kept_back_s = proof_s + self._arms.comparing_s
        try:
            if not (is_clear(found.trial) and found.ratios):
                found.ratios |= candidates.that_pay(one, self._arms.times_of, self._say)
            if self._asked.search_minutes > 0:
                self._search(found, one, known)
            if one.plan != tried[0] and not self._confirmed(found, one):
                return
        except BudgetEnded:
            one.plan, one.dropped = tried
            found.changes, found.times = [], before
            cut_short = self._too_short("before each rule was left out once")
        finally:
            self._budget.kept_back_s = 0.0
        if one.plan == tried[0]:
            found.confirmed = found.trial
        self._prove(found, one, known)
        if cut_short and found.verdict.name == "kept":
            found.notes.append(cut_short)

    def _out_of_time(self, found: Found, when: str) -> Found:
        """What was measured stays, where there is any."""
        found.goes_on = self._ledger.known("default-2") is not None
        return _ended(found, "no_verdict", self._too_short(when, goes_on=found.goes_on))

    def _too_short(self, when: str, *, goes_on: bool = False) -> str:
        more = "continue with --resume" if goes_on else "give more with"
        more += " --budget TIME" + (" (for all runs together)" if goes_on else "")
        return (
            f"the budget of {self._budget.words} ended {when}: {more}, or use a smaller case of "
            "the program"
        )

    def _search(self, found: Found, one: Candidate, known: ByItself) -> None:
        """Better numbers for what is left of the plan. Of the minutes those are gone that a tune
        which is gone on with has spent on it before."""
        left_s = 60 * self._asked.search_minutes - search.spent_s(self._ledger)
        end = time.monotonic() + left_s
        means = Means(
            self._arms.seconds,
            self._arms.times_of,
            lambda name, plan: self._is_good(name, plan, known),
            lambda: time.monotonic() < end,
            self._say,
        )
        stage = f"{search.prefix}{_stage(one)}"
        one.plan, changes = search.better(one.plan, self._ledger, stage, means)
        found.changes += changes

    def _is_good(self, name: str, plan: Document, known: ByItself) -> bool:
        """Whether it leaves the same content."""
        return not self._arms.check(name, plan, known).problem

    def _confirmed(self, found: Found, one: Candidate) -> bool:
        """Whether what is left is faster by fresh pairs; else the verdict is there."""
        found.confirmed, found.times = self._arms.until_decided(
            f"confirmation {_stage(one)}", one.plan
        )
        if found.confirmed.verdict == "no_verdict":
            _ended(found, "no_verdict", found.confirmed.reason)
        elif found.confirmed.verdict != "faster":
            _no_gain(found, one, found.confirmed)
        return found.confirmed.verdict == "faster"

    def _prove(self, found: Found, one: Candidate, known: ByItself) -> None:
        """Its content, once more."""
        last = self._arms.check(f"proof {_stage(one)}", one.plan, known)
        found.report, found.lines = last.report, last.lines
        if last.problem or last.report is None:
            raise Misbehaved(last.problem, one.plan)
        if not last.report.equal:
            _ended(found, "not_proven", "the program leaves nothing that could be compared")
            return
        _ended(found, "kept", "faster beyond noise, and equal in content")


def _spent_s(ledger: Ledger, *, hung: bool) -> float:
    """What the runs of a tune that is gone on with have taken, but for those of its search; hung:
    also those that were ended at their limit."""
    runs = (
        fact
        for name, fact in ledger.all().items()
        if isinstance(fact, dict) and "elapsed_s" in fact and not name.startswith(search.prefix)
    )
    return sum(
        float(run.get("whole_s") or run["elapsed_s"])
        for run in runs
        if hung or run.get("stopped") != "limit"
    )


def _why_none(recorded: Document, otherwise: str) -> str:
    return recording.UNSEEN if recorded.get("unseen") else otherwise


def _stage(candidate: Candidate) -> str:
    """Tells apart what is done once more with less of the plan."""
    return f"({len(candidate.dropped)} dropped)"


def _profile(asked: Asked) -> Path:
    """Until the end it is a part of the state; what an earlier tune has left stays."""
    return asked.state / "profile.json"


def _ended(found: Found, name: str, reason: str) -> Found:
    found.verdict = Verdict(name, reason)
    return found


def _no_gain(found: Found, one: Candidate, compared: Comparison) -> None:
    """All that is left of the plan goes, since together it does not pay."""
    reason = _no_faster(compared)
    for rule in one.rules:
        one.drop(rule.id, reason)
    found.changes = []
    _ended(found, "nothing_to_gain", reason)


def nothing_alike(known: ByItself, alike: Report) -> str:
    if alike.differences:
        return f"two default runs are not equal: {alike.differences[0]}"
    prints = any(line.strip() for line in known.printed.lines)
    if not (known.files or known.only or known.reads or prints):
        return (
            "the program writes nothing and prints nothing, so nothing could be compared; let it "
            "print a sum of the values that it reads"
        )
    if known.patterns and not known.files:
        names = some([pattern.shown for pattern in known.patterns], 3)
        return (
            f"the program gives its files other names in each run ({names}), so nothing could be "
            "compared; let it give them the same names each time"
        )
    return "two default runs have nothing in common that could be compared"


def _nothing_left(candidate: Candidate) -> str:
    if not candidate.dropped:
        return _no_rule
    each = "; ".join(f"rule {rule}: {why}" for rule, why in candidate.dropped.items())
    return f"no rule is left: {each}"


def _no_faster(found: Comparison) -> str:
    if found.verdict == "slower":
        return "it is slower with the plan"
    return f"no difference beyond noise: {found.reason}" if found.reason else "no difference"
