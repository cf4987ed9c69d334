# SPDX-License-Identifier: Apache-2.0
"""What `tailrace tune` finds, against the best of every combination of the same knobs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tailrace import statistics
from tailrace.intent import advice
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune.measurement import Runner, Setting

from .tuned import Failed

Json = dict[str, Any]
Say = Callable[[str], None]
_limit_s = 300.0


def first_plan(profile: Path, ranks: int) -> Json:
    """The plan that `tune` begins with: everything that it may try."""
    plan, _, _ = advice.advise([profile], [], ["collective"] if ranks > 1 else [], [])
    return plan


class Sweep:
    """Runs of a command with plans, each measured as `tune` measures its own."""

    def __init__(self, words: list[str], home: Path, root: Path) -> None:
        self._ground = Scratch(home, root, survey(home, {root}), set())
        self._ground.fill()
        self._runner = Runner(Setting(words, home, root), self._ground)
        self.runs = 0

    def seconds(self, plan: Json) -> float:
        """Of one run. Raises Failed."""
        self.runs += 1
        ran = self._runner.run(f"run-{self.runs}", plan if plan["entries"] else None, _limit_s)
        if ran.outcome.code or ran.outcome.stopped:
            raise Failed(f"{ran.outcome.words}: {json.dumps(plan['entries'])[:300]}")
        return ran.elapsed_s

    def best(self, plans: dict[str, Json], repeat: int, say: Say) -> dict[str, list[float]]:
        """Seconds of every plan, in turns and in random order; of those that fail, none."""
        found: dict[str, list[float]] = {name: [] for name in plans}
        for turn in range(repeat):
            names = list(found)
            random.Random(turn).shuffle(names)
            for name in names:
                try:
                    found[name].append(self.seconds(plans[name]))
                except Failed as failure:
                    say(f"left out: {name}: {failure}")
                    del found[name]
            say(f"turn {turn + 1} of {repeat}: {self.runs} runs")
        return found

    def pairs(self, one: Json, other: Json, count: int) -> tuple[list[float], list[float]]:
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(count):
            for arm in (0, 1) if number % 2 == 0 else (1, 0):
                times[arm].append(self.seconds((one, other)[arm]))
        return times


def swept(plans: dict[str, Json], sweep: Sweep, repeat: int, say: Say) -> Json:
    """Every plan, and which was the fastest."""
    seconds = sweep.best(plans, repeat, say)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    best = min(medians, key=lambda name: medians[name])
    say(f"the best of {len(medians)}: {best}: {medians[best]:.3f} s")
    return {
        "repeat": repeat,
        "combinations": len(plans),
        "failed": len(plans) - len(medians),
        "sweep_runs": sweep.runs,
        "best": best,
        "without_a_plan_s": seconds.get("rules none", []),
        "ranking": sorted(medians.items(), key=lambda item: item[1])[:10],
    }


def of_the_same(file: Path, asked: Json) -> Json:
    """The line of a kept result. Raises Failed where it is not of the program, scale and levels
    that are asked for."""
    line: Json = json.loads(file.read_text(encoding="utf-8").splitlines()[1])
    for key, value in asked.items():
        if line[key] != value:
            raise Failed(f"{file}: its {key} is {line[key]}, not {value}: give --{key} {line[key]}")
    return line


def swept_before(line: Json, plans: dict[str, Json]) -> Json:
    """What a kept line says of its sweep. Raises Failed where it was one of other plans."""
    keys = ("repeat", "combinations", "failed", "sweep_runs", "best", "without_a_plan_s", "ranking")
    if line["combinations"] != len(plans) or line["best"] not in plans:
        raise Failed(f"a sweep of {line['combinations']} other plans than these {len(plans)}")
    return {key: line[key] for key in keys}


def against(tuned: Json, best: Json, sweep: Sweep, pairs: int) -> Json:
    """The plan that tune has kept and the best of a sweep, in fresh pairs."""
    of_best, of_tuned = sweep.pairs(best, tuned, pairs)
    return {
        "best_s": of_best,
        "tuned_s": of_tuned,
        "ratio": statistics.median_ratio(of_best, of_tuned),
        "ratio_ci95": statistics.median_ratio_interval(of_best, of_tuned),
    }
