# SPDX-License-Identifier: Apache-2.0
"""Which combinations can be run: the kernel looks at each before any of them is."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tailrace.errors import ExitCode, TailraceError
from tailrace.run import dry
from tailrace.run.dry import Said
from tailrace.run.launcher import cores
from tailrace.run.rounds import HowFar
from tailrace.sweep import hints
from tailrace.sweep.plan import Combination, Plan

_size = re.compile(r"^# effective configuration for (\d+) ranks?, (\d+) bytes", re.MULTILINE)
_no_effect = re.compile(r"\b(\w+) has no effect with (.+?)(?: \(rank .*\))?$", re.MULTILINE)
_ranks_in_text = re.compile(r" \(rank \d+ of \d+\)")


@dataclass(frozen=True)
class LeftOut:
    """why: a sentence without its full stop. code: the exit code that it would end with. failed:
    it was run, and failed. same_because: why it is the same as another; empty where it is not."""

    combination: Combination
    why: str
    code: int = 0
    failed: bool = False
    same_because: str = ""

    @property
    def reason(self) -> str:
        """Equal for those that are left out for the same cause."""
        if self.same_because:
            return f"the same as others, since {self.same_because}"
        return self.why


@dataclass
class Checked:
    """runnable: in the order of the plan. without: factors that have no effect in it. start_s:
    what a start of the program takes."""

    runnable: list[Combination] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    ranks: dict[str, int] = field(default_factory=dict)
    logical_bytes: dict[str, int] = field(default_factory=dict)
    without: dict[str, tuple[str, ...]] = field(default_factory=dict)
    start_s: float = 0.0
    default: str = ""  # the name of the one that runs as if nothing was varied


def check(plan: Plan, tell: Callable[[HowFar], None] = lambda _now: None) -> Checked:
    """Dry runs of all combinations, on one process each. `tell` hears how far it is.

    Raises TailraceError where none is left.
    """
    found = Checked()
    said: list[Said] = []
    started = time.monotonic()
    with ThreadPoolExecutor(max_workers=min(4, cores())) as pool:
        for one in pool.map(lambda combination: dry_run(plan, combination), plan.combinations):
            said.append(one)
            count = len(plan.combinations)
            left_s = (time.monotonic() - started) / len(said) * (count - len(said))
            tell(HowFar(len(said) - 1, count, "looking at the combinations", left_s))
    without = [
        _without_effect(plan, combination, one)
        for combination, one in zip(plan.combinations, said, strict=True)
    ]
    known = _Known(without)
    for combination, one, idle in zip(plan.combinations, said, without, strict=True):
        if one.code:
            found.left_out.append(LeftOut(combination, reason_of(one), one.code))
            continue
        same = known.same_as(combination, one, idle)
        if same is not None:
            why = "; ".join(dict.fromkeys([*idle.values(), *known.why(same, combination)]))
            text = f"the same as {same.name}" + (f": {why}" if why else "")
            found.left_out.append(LeftOut(combination, text, same_because=why))
            continue
        found.runnable.append(combination)
        found.without[combination.name] = tuple(plan.factors[at].name for at in idle)
        size = _size.search(one.out)
        found.ranks[combination.name] = int(size[1]) if size else 1
        found.logical_bytes[combination.name] = int(size[2]) if size else 0
    if plan.bare is not None:
        found.default = known.running(plan.bare, dry_run(plan, plan.bare))
    found.start_s = min((one.elapsed_s for one in said), default=0.0)
    if not found.runnable:
        raise _nothing(found.left_out)
    return found


def dry_run(plan: Plan, combination: Combination) -> Said:
    """What the kernel says to it, on one process."""
    variant = combination.variant
    words = variant.arguments(variant.filename.parent, plan.results)
    return dry.dry_run(plan.program, words, variant.launch.ranks, variant.launch.environment)


def reason_of(said: Said) -> str:
    """Its error without the place (the words are ours) and the ranks."""
    text = _ranks_in_text.sub("", said.error).removeprefix("<command line>: ").rstrip(". ")
    return text or said.error


def _without_effect(plan: Plan, combination: Combination, said: Said) -> Idle:
    """Factors (by their places in the plan) whose value changes nothing in this combination, and
    why: the kernel says so of its keys; of the MPI-IO we know it."""
    notes = {key: f"{key} has no effect with {what}" for key, what in _no_effect.findall(said.err)}
    chosen = {one.kind: one.levels[place].text
              for one, place in zip(plan.factors, combination.places, strict=True)}  # fmt: skip
    without_mpi_io = re.search(r"^format (posix\S*)", said.configuration, re.MULTILINE)
    found = {}
    for number, (factor, place) in enumerate(zip(plan.factors, combination.places, strict=True)):
        level = factor.levels[place]
        if factor.subject in notes:
            found[number] = notes[factor.subject].rstrip(".")
        elif factor.kind == "hint" and hints.ignored_by(chosen.get("mpiio", ""), factor.subject):
            found[number] = f"OMPIO reads no {factor.subject}"
        elif factor.subject == "hints" and _all_ignored(chosen.get("mpiio", ""), level.text):
            found[number] = "OMPIO reads none of these hints"
        elif factor.subject.startswith("lfs_stripe_") and shutil.which("lfs") is None:
            found[number] = "there is no lfs here, the file system stripes as it does"
        elif factor.kind == "mpiio" and without_mpi_io:
            found[number] = f"format {without_mpi_io[1]} does not go through MPI-IO"
    return found


def _all_ignored(mpi_io: str, patterns: str) -> bool:
    named = hints.named_in(patterns)
    return bool(named) and all(hints.ignored_by(mpi_io, one) for one in named)


Idle = dict[int, str]  # factors that change nothing in a combination, and why


class _Known:
    """Combinations that will run, to be found again by what they run."""

    def __init__(self, without: Sequence[Idle]) -> None:
        self._patterns = list(dict.fromkeys(tuple(idle) for idle in without if idle))
        self._by_rest: dict[object, Combination] = {}  # by a pattern, whatever its values do
        self._idle: dict[object, tuple[Combination, Idle]] = {}  # of those that change nothing
        self._by_run: dict[object, Combination] = {}

    def same_as(self, one: Combination, said: Said, idle: Idle) -> Combination | None:
        """One that runs the same; None, and it is known from now on."""
        run = _what_runs(one, said)
        same = self._by_run.get(run)
        if same is None and idle:
            same = self._by_rest.get(_rest(one, tuple(idle)))
        if same is None and not idle:
            rests = (_rest(one, pattern) for pattern in self._patterns)
            same = next((self._idle[rest][0] for rest in rests if rest in self._idle), None)
        if same is not None:
            return same
        self._by_run[run] = one
        for pattern in self._patterns:
            self._by_rest.setdefault(_rest(one, pattern), one)
        if idle:
            self._idle[_rest(one, tuple(idle))] = one, idle
        return None

    def running(self, one: Combination, said: Said) -> str:
        """The name of that which runs the same; empty: none does."""
        same = self._by_run.get(_what_runs(one, said))
        return same.name if same is not None and not said.code else ""

    def why(self, same: Combination, other: Combination) -> list[str]:
        """What of `same` changes nothing, where it differs from the other."""
        idle = next((idle for one, idle in self._idle.values() if one is same), {})
        return [why for at, why in idle.items() if same.places[at] != other.places[at]]


def _what_runs(one: Combination, said: Said) -> object:
    launch = one.variant.launch
    environment = tuple(sorted(launch.environment.items()))
    return said.configuration, environment, tuple(launch.words), one.variant.filename


def _rest(one: Combination, pattern: tuple[int, ...]) -> object:
    """The values of the factors that are not in the pattern."""
    return pattern, tuple(place for at, place in enumerate(one.places) if at not in pattern)


def _nothing(left_out: Sequence[LeftOut]) -> TailraceError:
    reasons = list(dict.fromkeys(one.why for one in left_out))
    shown = "; ".join(reasons[:3]) + ("; ..." if len(reasons) > 3 else "")
    code = left_out[0].code
    return TailraceError(
        f"each of the {len(left_out)} combinations is refused by the kernel: {shown}",
        where="sweep",
        hint="`tailrace run ... --dry-run` shows what is wrong with one of them",
        code=ExitCode(code) if code in set(ExitCode) else ExitCode.USAGE,
    )  # fmt: skip
