# SPDX-License-Identifier: Apache-2.0
"""Whether the best combination writes right data: it runs again, and every element is read back.

The fastest settings may be fast because they are wrong: an MPI-IO with a fault shows no error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tailrace.errors import ExitCode, TailraceError
from tailrace.run.fresh import Place, run_fresh
from tailrace.run.rounds import HowFar
from tailrace.run.variant import Variant, joined
from tailrace.sweep.check import LeftOut, dry_run, reason_of
from tailrace.sweep.data import Case, Runs
from tailrace.sweep.disk import check_not_full, check_room
from tailrace.sweep.plan import Combination, Plan
from tailrace.sweep.ranking import ranking

times = 3  # what is wrong in every second run is found in seven of eight sweeps
_verify = "verify"


@dataclass(frozen=True)
class Proof:
    """runs: after which all elements of the file were right. why_not: it was not looked at; runs
    is 0 then."""

    runs: int
    why_not: str = ""

    @property
    def text(self) -> str:
        """Without its full stop."""
        if self.why_not:
            return f"its data was not verified: {self.why_not}"
        return f"its data was verified in {self.runs} further runs: every element is right"


def prove(
    plan: Plan, runs: Runs, left_out: list[LeftOut], told: set[str], *,
    say: Callable[[str], None], tell: Callable[[HowFar], None],
) -> Proof:  # fmt: skip
    """Of the best of the ranking; where it is wrong, of the next best. What is wrong or fails goes
    from `runs` to `left_out`. told: warnings that need not be told again.

    The Records stand in round 0, so they count for no time. Raises KeyboardInterrupt after a
    signal, and TailraceError where nothing is left or the disk is nearly full.
    """
    refuted: list[LeftOut] = []
    while ranked := ranking(runs):
        name = ranked[0].case.name
        best = next(one for one in plan.combinations if one.name == name)
        proved = replace(best, variant=_verifying(best))
        why_not = _why_not(plan, proved)
        if why_not:
            return Proof(0, why_not)
        wrong = _wrong(plan, proved, ranked[0].case, told, tell)
        if wrong is None:
            return Proof(times)
        refuted.append(wrong)
        say(f"{name} is not recommended: {wrong.why}")
        left_out.append(wrong)
        del runs.cases[name]
    raise _nothing(refuted)


def _verifying(one: Combination) -> Variant:
    return replace(one.variant, words=joined(one.variant.words, [f"{_verify}=1"]))


def _why_not(plan: Plan, proved: Combination) -> str:
    """The kernel's word on reading the file back; empty where it can."""
    said = dry_run(plan, proved)
    return reason_of(said) if said.code else ""


def _wrong(
    plan: Plan, proved: Combination, case: Case, told: set[str], tell: Callable[[HowFar], None]
) -> LeftOut | None:
    """None: it is right as far as could be seen."""
    folder = proved.variant.filename.parent
    place = Place(plan.sweep, proved.name, 0, tuple(sorted(case.without)), case.default)
    for number in range(times):
        tell(HowFar(number, times, f"reading back, {proved.name}", None))
        check_room(folder, max(one.stored_bytes or 0 for one in case.records))
        ran = run_fresh(plan.program, proved.variant, place, plan.results, told=told)
        check_not_full(folder, ran)
        if ran.code == ExitCode.OK:
            continue
        what = "it wrote wrong data" if ran.code == ExitCode.VERIFICATION_FAILED else "it failed"
        why = ran.why or f"exit code {ran.code}"
        text = f"{what} in run {number + 1} of {times} whose file was read back ({why})"
        return LeftOut(proved, text, ran.code, failed=True)
    return None


def _nothing(refuted: list[LeftOut]) -> TailraceError:
    return TailraceError(
        f"no combination wrote right data: {'; '.join(one.why for one in refuted)}",
        where="sweep", hint="run one by itself with `verify` to see what is wrong",
        code=ExitCode.VERIFICATION_FAILED,
    )  # fmt: skip
