# SPDX-License-Identifier: Apache-2.0
"""Makes the runs of a suite: a warm-up of each case, then rounds in which all take turns."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.results import Record, read_results
from tailrace.run import programs
from tailrace.run.dry import dry_run
from tailrace.run.fresh import Place, run_fresh
from tailrace.run.launcher import launch_for
from tailrace.run.rounds import HowFar, Pace
from tailrace.run.variant import Variant, gathered, variant
from tailrace.suite.scale import Limits, Scaled, scaled
from tailrace.suite.table import Case, Suite
from tailrace.sweep import mpi_io

_most_failures = 2


@dataclass
class Job:
    """A case and what becomes of it. why_not: why it is not run, or no longer."""

    case: Case
    scaled: Scaled
    why_not: str = ""
    program: Path | None = None
    variant: Variant | None = None
    notes: list[str] = field(default_factory=list)

    def command(self, folder: Path, results: Path) -> list[str]:
        assert self.program is not None and self.variant is not None
        return self.variant.command(self.program, folder, results)


@dataclass
class Plan:
    """name: under which the Records are kept (`arm`)."""

    suite: Suite
    jobs: list[Job]
    results: Path
    name: str

    def records(self) -> dict[str, list[Record]]:
        """Measured so far, by the case."""
        found: dict[str, list[Record]] = {}
        if not self.results.is_file() or not self.results.stat().st_size:
            return found
        mine = read_results(
            [self.results],
            lambda record: record.arm is not None and record.arm.comparison == self.name,
        )
        for record in mine.records:
            if record.arm is not None and record.timed:
                found.setdefault(record.arm.name, []).append(record)
        return found


def make_plan(suite: Suite, limits: Limits, folder: Path, results: Path) -> Plan:
    """Each case is looked at by its program; what cannot be run is told in its place."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    jobs = [_job(case, limits, folder) for case in suite.cases]
    return Plan(suite, jobs, results, f"suite-{suite.name}-{stamp}-{secrets.token_hex(3)}")


def _job(case: Case, limits: Limits, folder: Path) -> Job:
    job = Job(case, scaled(case, limits))
    name = f"tailrace-{case.kernel}"
    job.program = programs.find_program(name)
    if job.program is None:
        job.why_not = f"there is no program {name} here"
        return job
    mpi = programs.mpi_library(job.program)
    words = [*job.scaled.words, f"filename={folder / 'out'}"]
    try:
        launch = launch_for(mpi, job.scaled.ranks)
        if case.mpi_io and launch.open_mpi:
            chosen = {mpi_io.variable: mpi_io.component(mpi, case.mpi_io)}
            launch = replace(launch, environment={**launch.environment, **chosen})
    except TailraceError as error:
        job.why_not = error.what
        return job
    job.notes = launch.notes
    job.variant = variant(words, gathered(words), launch)
    job.why_not = _refusal(job)
    return job


def _refusal(job: Job) -> str:
    """What the program says against the inputs; nothing where it likes them."""
    assert job.variant is not None and job.program is not None
    launch = job.variant.launch
    words = job.variant.arguments(job.variant.filename.parent, Path("results.jsonl"))
    said = dry_run(job.program, words, launch.ranks, launch.environment)
    return said.error if said.code else ""


class Experiment:
    """say: hears what happens; tell: how far it is."""

    def __init__(
        self, plan: Plan, repeat: int, say: Callable[[str], None], tell: Callable[[HowFar], None]
    ) -> None:
        self._plan, self._repeat, self._say, self._tell = plan, repeat, say, tell
        self._pace = Pace()
        self._failures: dict[str, int] = {}
        self._random = random.Random()

    def run(self) -> None:
        """Raises KeyboardInterrupt after a signal; the Records so far are kept."""
        for number in range(self._repeat + 1):
            jobs = [job for job in self._plan.jobs if not job.why_not]
            self._random.shuffle(jobs)
            for place, job in enumerate(jobs):
                self._report(number, place, job, len(jobs))
                self._one(job, number)

    def _one(self, job: Job, number: int) -> None:
        """A run; one that fails is made again, and the second failure is its last."""
        assert job.program is not None and job.variant is not None
        name = job.case.name
        while not job.why_not:
            place = Place(self._plan.name, name, number)
            ran = run_fresh(job.program, job.variant, place, self._plan.results)
            self._pace.add(name, ran.elapsed_s)
            if ran.code == 0 and ran.records:
                return
            why = f"exit code {ran.code}" + (f": {ran.why}" if ran.why else "")
            self._say(f"{name} failed in round {number} ({why})")
            self._failures[name] = self._failures.get(name, 0) + 1
            if self._failures[name] >= _most_failures:
                job.why_not = f"it failed {_most_failures} times ({why})"

    def _report(self, number: int, place: int, job: Job, count: int) -> None:
        done, of = number * count + place, (self._repeat + 1) * count
        round_s = self._pace.of_all(one.case.name for one in self._plan.jobs if not one.why_not)
        left_s = None if round_s is None or number == 0 else round_s * (of - done) / count
        text = "warm-up" if number == 0 else f"round {number} of {self._repeat}"
        self._tell(HowFar(done, of, f"{text}, {job.case.name}", left_s))
