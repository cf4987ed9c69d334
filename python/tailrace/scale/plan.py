# SPDX-License-Identifier: Apache-2.0
"""What `tailrace scale` is going to run: a sweep whose only factor is the number of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.run import programs
from tailrace.run.kernels import kernels
from tailrace.run.launcher import launch_for
from tailrace.run.variant import gathered, joined, variant
from tailrace.scale.geometry import Placed, placed
from tailrace.sweep.factors import Factor, Level
from tailrace.sweep.plan import Combination, Plan, check_common, mark_of, named

_most_ranks = 1 << 20
_most_points = 256


@dataclass(frozen=True)
class ScalePlan:
    """plan: its combinations are `ranks=4` and so on."""

    mode: str
    plan: Plan
    placed: dict[int, Placed]

    def named_as(self, plan: Plan) -> ScalePlan:
        """With that plan in its place: one that is gone on with has another name."""
        return replace(self, plan=plan)


def ranks_of(text: str) -> list[int]:
    """`1,2,4` or `1-4`, in rising order."""
    found: set[int] = set()
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        numbers = [low, high] if dash else [low]
        if not all(one.isdigit() and 0 < int(one) <= _most_ranks for one in numbers):
            raise TailraceError(
                f'"{text}" is no list of ranks', where="--ranks", hint="for example 1,2,4,8 or 1-4"
            )
        found.update(range(int(low), int(high or low) + 1))
    if len(found) > _most_points:
        raise TailraceError(
            f"{len(found)} numbers of ranks are more than {_most_points}", where="--ranks",
            hint="a curve takes few, for example 1,2,4,8",
        )  # fmt: skip
    if len(found) < 2:
        raise TailraceError(
            "one number of ranks makes no curve", where="--ranks", hint="for example 1,2,4,8"
        )
    return sorted(found)


def make_scale_plan(
    kernel: str, program: Path, common: list[str], ranks: Sequence[int], mode: str, *,
    launcher: str, seed: int | None,
) -> ScalePlan:  # fmt: skip
    mpi = programs.mpi_library(program)
    check_common(common, "scale")
    of = kernels[kernel]
    settings = gathered([*common, "results=results.jsonl"], of).settings
    places = {count: placed(kernel, settings, count, mode) for count in ranks}
    levels = tuple(Level(str(count), "", places[count].words) for count in ranks)
    factor = Factor("ranks", "ranks", "ranks", levels)
    combinations = []
    for place, count in enumerate(ranks):
        words = joined(common, places[count].words)
        launch = launch_for(mpi, count, launcher)
        one = variant(words, gathered(words, of), launch)
        combinations.append(Combination((place,), factor.setting(place), one))
    results = gathered([*common, "results=results.jsonl"], of).path("results", "results.jsonl")
    mark = mark_of(kernel, program, common, [factor], None, launcher)
    plan = named(f"scale_{mode}", kernel, program, [factor], combinations, results, mark,
                 seed)  # fmt: skip
    return ScalePlan(mode, plan, places)
