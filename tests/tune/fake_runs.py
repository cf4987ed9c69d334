# SPDX-License-Identifier: Apache-2.0
"""A tune whose runs take no time: how long they would take and what they leave is made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from plans import plan as plan_of
from plans import setting

from tailrace.intent.apply import Line
from tailrace.sandbox.ground import Left
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.outside_files import Outside
from tailrace.sandbox.supervision import Outcome
from tailrace.tune import loop
from tailrace.tune.content import Result
from tailrace.tune.inputs import Inputs
from tailrace.tune.loop import Found, Tune
from tailrace.tune.measurement import Measured
from tailrace.tune.recording import Recorded
from tailrace.tune.request import Asked
from tailrace.tune.rules_of_plan import rules_of

Document = dict[str, Any]

PLAN = plan_of(
    ("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes"), setting("17", "chunk", "layout")]),
    ("/d/a.h5", "", [setting("25", "write_mode", "collective")]),
)


@dataclass
class Program:
    """seconds: of a run with these rules in force. hangs, fails, changes: rules that do that;
    changes_last: only in the last proof. idle: rules that are in force nowhere. noise: by what
    part a run takes longer, by its number. names: of the file that it writes, what it prints; "":
    none. before_s: what making each ready takes. lost, unseen: what the recording run says so."""

    seconds: Callable[[set[str]], float]
    hangs: set[str] = field(default_factory=set)
    fails: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    changes_last: set[str] = field(default_factory=set)
    idle: set[str] = field(default_factory=set)
    fails_later: set[str] = field(default_factory=set)
    noise: Callable[[int], float] = lambda number: 0.0
    prints: Callable[[int], bytes] = lambda number: b"sum 3\n"
    names: Callable[[int], str] = lambda number: ""
    runs: list[tuple[str, set[str]]] = field(default_factory=list)
    interrupt_at: int = 0
    before_s: float = 0.0
    lost: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)

    def run(self, name: str, plan: Document | None) -> tuple[Outcome, bytes, list[Line]]:
        rules = {rule.id for rule in rules_of(plan)} if plan is not None else set()
        self.runs.append((name, rules))
        number = len(self.runs)
        if number == self.interrupt_at:
            raise KeyboardInterrupt
        lines = [Line(rule, "key", "kept" if rule in self.idle else "applied") for rule in rules]
        seconds = self.seconds(rules) * (1 + self.noise(number))
        if rules & self.hangs:
            return Outcome(-9, 60.0, "limit"), b"", lines
        if rules & self.fails or (rules & self.fails_later and "check" not in name):
            return Outcome(1, seconds), b"", lines
        changes = self.changes | (self.changes_last if name.startswith("proof") else set())
        printed = b"sum 4\n" if rules & changes else self.prints(number)
        return Outcome(0, seconds), printed, lines


class FakeRunner:
    """In the place of measure.Runner."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program, self.folder = program, folder
        self.outside = Outside([], folder)
        self.command, self.least_free_bytes = ["program"], 0
        ground: Any = Nowhere(folder)
        self.inputs = Inputs(ground, folder, is_cold=False)
        self.printed: dict[str, bytes] = {}

    def run(
        self, name: str, plan: Document | None, limit_s: float | None, keep: bool = False,
        plain: bool = False,
    ) -> Measured:  # fmt: skip
        outcome, printed, lines = self.program.run(name, plan)
        found = Measured(outcome.elapsed_s, outcome.elapsed_s, 0.0, outcome, lines)
        found.whole_s = self.program.before_s + outcome.elapsed_s
        if keep:
            where = self.folder / "kept" / name
            where.mkdir(parents=True, exist_ok=True)
            (where / "stdout").write_bytes(printed)
            file_name = self.program.names(len(self.program.runs))
            written = [file_name] if file_name else []
            for file in written:
                (where / file).write_bytes(printed)
            found.left = Left(where, written, [])
            found.result = self.result(name, found.left, found.as_proof())
        return found

    def result(self, name: str, left: Left, noted: Document) -> Result:
        files = {file: left.folder / file for file in left.written}
        return Result(files, (), (left.folder / "stdout").read_bytes(), noted["code"])

    @property
    def notes(self) -> list[str]:
        return self.inputs.notes

    def last_words(self, name: str) -> str:
        return "it said this"


class Nowhere:
    """In the place of a ground."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.copies: set[str] = set()

    def put_back(self) -> None:
        """Nothing was touched."""


def tuned(
    program: Program,
    plan: Document,
    folder: Path,
    patch: pytest.MonkeyPatch,
    ranks: int = 1,
    search_minutes: float = 0,
    budget_minutes: float = 1000,
    limit_s: float | None = None,
    said: list[str] | None = None,
) -> Found:
    """The loop over made-up runs; a second call in the same folder resumes. said: what it says."""
    asked = Asked(
        ["program"], folder, folder, folder / "scratch", search_minutes=search_minutes,
        budget_minutes=budget_minutes, limit_s=limit_s,
    )  # fmt: skip
    for made in (asked.scratch, asked.state):
        made.mkdir(parents=True, exist_ok=True)
    profile = {
        "origin": {"notes": program.lost}, "run": {"ranks": ranks, "elapsed_s": 1.0},
        "files": [{"path": "/d/a.h5", "posix": {"opens": 1}}],
    }  # fmt: skip
    recorded = Recorded(profile, Outcome(0, 1.0), 0, [], [], [], unseen=program.unseen)
    patch.setattr(loop.recording, "record_run", lambda *_: recorded)
    patch.setattr(loop.advice, "advise", lambda *_: (plan, {}, []))
    patch.setattr(loop, "badly_read", lambda _profile, plan=None: ["beside it"] if plan else [])
    patch.setattr(loop, "Runner", lambda *_: FakeRunner(program, asked.scratch))
    ledger = Ledger(folder)
    if ledger.known("seed") is None:
        ledger.note("seed", "7")
    ground: Any = Nowhere(folder)
    heard = [] if said is None else said
    return Tune(asked, ground, ledger, heard.append).run()


def jitter(number: int) -> float:
    """Up to 1 %, in no order that pairs could follow."""
    return (number * 7919 % 13) / 1300


def kept(found: Found) -> list[str]:
    assert found.candidate is not None
    return [rule.id for rule in found.candidate.rules]
