# SPDX-License-Identifier: Apache-2.0
"""tailrace-particle as in examples/intents, without hooks and with the plan that follows."""

from __future__ import annotations

import atexit
import functools
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tailrace_bench.machine import Machine, remove
from tailrace_bench.plans import applied, by_name

from .arms import output_of, repetitions, run_kernel

examples = Path(__file__).resolve().parents[2] / "examples" / "intents"
Json = dict[str, Any]


@dataclass(frozen=True)
class Particle:
    """A run of an example's configuration. planned: with the plan of `tailrace advise`, put by
    `tailrace apply`; a run in which nothing of a plan that sets something was applied is no run."""

    example: str
    words: tuple[str, ...]
    ranks: int
    io: str = "ompio"
    planned: bool = False
    repeat: int = repetitions

    def command(self, machine: Machine) -> list[str]:
        program = machine.seism.with_name("tailrace-particle")
        return [str(program), "--input", str(examples / f"{self.example}.json"), *self.words]

    def run(self, machine: Machine, folder: Path) -> Json:
        command = self.command(machine)
        if not self.planned:
            return run_kernel(machine, command, self.ranks, self.repeat, self.io, folder)
        plan = _plan(machine, replace(self, planned=False))
        apply = (str(machine.seism.with_name("tailrace")), "apply", str(plan), "--json", "--")
        return run_kernel(
            machine, command, self.ranks, self.repeat, self.io, folder, before=apply, look=applied
        )


@functools.cache
def _plan(machine: Machine, arm: Particle) -> Path:
    """From a profile that is taken once, before the first run with the plan."""
    place = machine.fresh_folder("disk")
    atexit.register(remove, place)
    runs = machine.fresh_folder("tmpfs")
    tailrace = str(machine.seism.with_name("tailrace"))
    profile, plan = place / "profile.json", place / "plan.json"
    launcher = [machine.mpiexec, "-n", str(arm.ranks)]
    to = [f"filename={runs / 'out'}", f"results={place / 'results.jsonl'}"]
    program = [*launcher, *arm.command(machine), *to]
    try:
        output_of(machine, [tailrace, "profile", "-o", str(profile), "--", *program], arm.io, place)
    finally:
        remove(runs)
    output_of(machine, [tailrace, "advise", str(profile), "-o", str(plan)], arm.io, place)
    found = by_name(json.loads(plan.read_text(encoding="utf-8")), may_be_empty=True)
    plan.write_text(json.dumps(found))
    return plan
