# SPDX-License-Identifier: Apache-2.0
"""Programs with and without a hook."""

from __future__ import annotations

import functools
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kernels.arms import output_of
from tailrace_bench.cases import RunFailed
from tailrace_bench.machine import Machine, remove
from tailrace_bench.plans import applied, by_name

from tailrace.intent import plugin
from tailrace.native import core

Hook = Literal["none", "idle", "record"]
repetitions = 3  # within a round: the least disturbed counts

# Looked up at every open, and never met.
_idle_plan = {
    "schema": "tailrace-plan/1",
    "origin": {"version": "0"},
    "entries": [
        {
            "file": "/no/such/folder/*.h5",
            "dataset": "",
            "when": "any",
            "settings": [
                {
                    "key": "alignment_bytes",
                    "value": 4096,
                    "class": "safe",
                    "because": {"rule": "0", "text": "-", "effect": "-", "source": "-"},
                }
            ],
        }
    ],
}


@dataclass(frozen=True)
class Calls:
    """bench/hooks/calls.c. words: what, and how often."""

    words: tuple[str, str]
    hook: Hook

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        program = machine.build / "bench" / "tailrace_bench_calls"
        added = _environment(machine, self.hook, folder)
        found = []
        for number in range(repetitions):
            words = [str(program), *self.words, str(folder / f"{number}.h5")]
            found.append(json.loads(output_of(machine, words, "ompio", folder, added)))
        fastest = min(found, key=lambda one: one["elapsed_s"])
        return {
            "per_s": fastest["count"] / fastest["elapsed_s"],
            "us_per_call": 1e6 * fastest["elapsed_s"] / fastest["count"],
            "all_elapsed_s": [one["elapsed_s"] for one in found],
        }


@dataclass(frozen=True)
class Kernel:
    """A kernel of ours as somebody's program: its wall time, start and end included. `profiled`:
    under `tailrace profile`, all hooks; the time is then of the program alone."""

    ranks: int
    words: tuple[str, ...]
    profiled: bool

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        name, *words = self.words
        program = [machine.mpiexec, "-n", str(self.ranks), str(machine.seism.with_name(name))]
        program += [*words, f"filename={folder / 'out'}", f"results={folder / 'results.jsonl'}"]
        if not self.profiled:
            started = time.monotonic()
            output_of(machine, program, "ompio", folder)
            elapsed = time.monotonic() - started
        else:
            command = [str(machine.seism.with_name("tailrace")), "profile", "--json"]
            command += ["-o", str(folder / "profile.json"), "--", *program]
            told = json.loads(output_of(machine, command, "ompio", folder))
            if told["program_exit_code"] != 0 or not told["files"]:
                raise RunFailed(f"nothing was recorded: {' '.join(command)}")
            elapsed = told["elapsed_s"]
        return {"per_s": 1 / elapsed, "elapsed_s": elapsed}


@dataclass(frozen=True)
class Script:
    """bench/hooks/slow.py, from its start to its end, with `words` behind its file; `applied`: with
    what `tailrace advise` makes of its profile, through `tailrace apply`, whose own start counts
    too."""

    applied: bool
    words: tuple[str, ...] = ()

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        words = _slow(folder, self.words)
        if self.applied:
            plan = folder / "plan.json"
            plan.write_text(_plan(machine, self.words), encoding="utf-8")
            tailrace = str(machine.seism.with_name("tailrace"))
            words = [tailrace, "apply", str(plan), "--json", "--", *words]
        started = time.monotonic()
        printed = output_of(machine, words, "ompio", folder)
        elapsed = time.monotonic() - started
        became = applied(printed) if self.applied else {}
        return {"per_s": 1 / elapsed, "elapsed_s": elapsed} | became


def _slow(folder: Path, words: tuple[str, ...]) -> list[str]:
    script = Path(__file__).with_name("slow.py")
    return [sys.executable, str(script), str(folder / "x.h5"), *words]


@functools.cache
def _plan(machine: Machine, words: tuple[str, ...]) -> str:
    """Made once, from a profile of the script in another folder."""
    folder = machine.fresh_folder("tmpfs")
    tailrace = str(machine.seism.with_name("tailrace"))
    script = _slow(folder, words)
    profile, plan = str(folder / "profile.json"), folder / "plan.json"
    try:
        output_of(machine, [tailrace, "profile", "-o", profile, "--", *script], "ompio", folder)
        output_of(machine, [tailrace, "advise", profile, "-o", str(plan)], "ompio", folder)
        return json.dumps(by_name(json.loads(plan.read_text(encoding="utf-8"))))
    finally:
        remove(folder)


def _environment(machine: Machine, hook: Hook, folder: Path) -> dict[str, str]:
    if hook == "none":
        return {}
    library = plugin.find({"TAILRACE_BUILD_DIR": str(machine.build)})
    if hook == "record":
        (folder / "spools").mkdir(exist_ok=True)
        return plugin.environment_for(library, folder / "spools", None, {})
    module = core()
    if module is None:
        raise RunFailed("the extension module is not there")
    plan = folder / "idle.plan"
    plan.write_bytes(module.compiled_plan(json.dumps(_idle_plan), "idle"))
    return plugin.environment_to_apply(library, plan, {})
