# SPDX-License-Identifier: Apache-2.0
"""From what `tune` said of each program to the goals of the suite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailrace import statistics

from .programs import Program

Json = dict[str, Any]
least_share = 0.8  # of the gain by hand
least_mean, least_median, least_lower, least_many, least_best = 5.0, 2.0, 1.5, 8, 20.0
much, most_runs, most_runs_else = 2.0, 12, 25  # of a tune; where it is so many times as fast


@dataclass(frozen=True)
class Goal:
    text: str
    found: str
    met: bool | None  # None: not measured


def goals(
    programs: Sequence[Program], found: Mapping[str, Json], by_hand: Mapping[str, Json]
) -> list[Goal]:
    """`found`: the newest line of each program; `by_hand`: of its cure by hand. A program that was
    left as it is counts as 1; one that is not there, or failed, leaves the goals that need all of
    them open. Mean and median are over the programs with a cure that was named beforehand; over
    all that are not optimal they stand beside."""
    others = [one for one in programs if not one.optimal]
    lines = {one.name: found[one.name] for one in others if "speedup" in found.get(one.name, {})}
    curable = [one.name for one in others if one.rules]
    speedups = [best(lines[name]) for name in curable if name in lines]
    plans = [speedup(lines[name]) for name in curable if name in lines]
    everything = [best(line) for line in lines.values()]
    lower = [interval(line)[0] for line in lines.values()]
    all_there = len(lines) == len(others)
    mean, middle = _mean(speedups), statistics.median(speedups) if speedups else 0.0
    of = f"{len(speedups)} of {len(curable)} programs with a cure"
    beside = f"of all {len(lines)} that are not optimal"
    many, most = sum(value >= least_lower for value in lower), max(lower, default=0.0)
    return [
        _goal(f"geometric mean at least {least_mean:g}",
              f"{mean:.2f}, {of}; {_mean(plans):.2f} by plans alone; "
              f"{_mean(everything):.2f} {beside}",
              mean >= least_mean, all_there),
        _goal(f"median at least {least_median:g}", f"{middle:.2f}, {of}; "
              f"{statistics.median(everything) if everything else 0:.2f} {beside}",
              middle >= least_median, all_there),
        _goal(
            f"at least {least_many} with a lower bound of {least_lower:g}", str(many),
            many >= least_many, all_there or many >= least_many,
        ),
        _goal(
            f"at least {least_best:g} on the best, lower bound", f"{most:.2f}", most >= least_best,
            all_there or most >= least_best,
        ),
        _none_slower(programs, found),
        _named("content equal where a plan is kept", programs, found, _other_content),
        _named(
            "those that are optimal left alone",
            [one for one in programs if one.optimal], found, lambda line: bool(line["kept"]),
        ),
        _again(found),
        _by_hand(programs, found, by_hand),
        _runs(f"over {much:g} times as fast", most_runs, programs, found, lambda gain: gain > much),
        _runs("elsewhere", most_runs_else, programs, found, lambda gain: gain <= much),
    ]  # fmt: skip


def _mean(ratios: Sequence[float]) -> float:
    """Geometric; 0 of none."""
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else 0.0


def speedup(line: Json) -> float:
    """Of the kept plan; 1 where none was kept."""
    return float(line["speedup"]["median"]) if line["kept"] else 1.0


def best(line: Json) -> float:
    """What tune proved: by its plan, by the copies of the input that it repacked, or, where those
    were tried under the plan, by both."""
    copies = line.get("repack")
    if not copies or copies.get("became") != "faster":
        return speedup(line)
    gain = float(copies["speedup"]["median"])
    return speedup(line) * gain if copies["with_plan"] else max(speedup(line), gain)


def interval(line: Json) -> tuple[float, float]:
    """Of 95 %, of two or three pairs their range; 1 to 1 where no plan was kept."""
    if not line["kept"]:
        return (1.0, 1.0)
    return spread(line["speedup"])


def spread(speed: Json) -> tuple[float, float]:
    """The interval of a median, or the range of two or three pairs, which have none."""
    low, high = speed["ci95"] or speed["range"]
    return (float(low), float(high))


def _none_slower(programs: Sequence[Program], found: Mapping[str, Json]) -> Goal:
    """Says of how many kept plans more is known than what `tune` says, where that is so of any."""
    goal = _named("none slower beyond noise", programs, found, _slower)
    lines = [found.get(one.name, {}) for one in programs]
    kept = [line for line in lines if line.get("kept")]
    count = sum("applied" in line for line in kept)
    if not count:
        return goal
    of = f"{count} of {len(kept)} kept plans in fresh pairs under apply"
    return replace(goal, found=f"{goal.found}; {of}")


def _slower(line: Json) -> bool:
    """`tune` keeps no plan of which it says so: pairs that nothing was chosen by can tell it."""
    fresh = line.get("applied")
    is_slower = fresh is not None and fresh["speedup"]["ci95"][1] < 1
    return bool(is_slower or interval(line)[1] < 1)


def _other_content(line: Json) -> bool:
    if not line["kept"]:
        return False
    fresh = line.get("applied")
    return line["equal_content"] is not True or (fresh is not None and not fresh["equal_content"])


def _named(text: str, programs: Sequence[Program], found: Mapping[str, Json], wrong: Any) -> Goal:
    """Met where it is wrong for none of the programs."""
    lines = {one.name: found.get(one.name, {}) for one in programs}
    bad = [name for name, line in lines.items() if "kept" in line and wrong(line)]
    there = all("kept" in line for line in lines.values())
    return _goal(text, ", ".join(bad) or "none otherwise", not bad, there or bool(bad))


def _by_hand(
    programs: Sequence[Program], found: Mapping[str, Json], by_hand: Mapping[str, Json]
) -> Goal:
    """Where a plan or a copy can have the gain. That of the others is the program's: they stand on
    the page."""
    wanted = [one.name for one in programs if one.by_hand and not one.by_code]
    shares = {
        name: best(found[name]) / float(by_hand[name]["speedup"]["median"])
        for name in wanted
        if "speedup" in by_hand.get(name, {}) and "kept" in found.get(name, {})
    }
    text = ", ".join(f"{name} {share:.2f}" for name, share in shares.items()) or "none"
    return _goal(
        f"at least {least_share:g} of the gain by hand, by a plan or a copy", text,
        all(share >= least_share for share in shares.values()), len(shares) == len(wanted),
    )  # fmt: skip


def _again(found: Mapping[str, Json]) -> Goal:
    """Each kept plan at twice the size, on other ranks, with other names."""
    kept = {name: line.get("again") for name, line in found.items() if line.get("kept")}
    bad = [
        name
        for name, line in kept.items()
        if line and (not line["equal_content"] or line["speedup"]["ci95"][1] < 1)
    ]
    there = bool(kept) and all(kept.values())
    text = "twice the size, other ranks and names: equal content, not slower"
    return _goal(text, ", ".join(bad) or "none otherwise", not bad, there or bool(bad))


def _runs(
    where: str, most: int, programs: Sequence[Program], found: Mapping[str, Json], is_there: Any
) -> Goal:
    """Of the programs that a tune made runs of."""
    lines = [found[one.name] for one in programs if "runs" in found.get(one.name, {})]
    counts = [len(line["runs"]) for line in lines if line["runs"] and is_there(best(line))]
    middle = statistics.median([float(count) for count in counts]) if counts else 0.0
    text = f"at most {most} runs of tune in the median, {where}"
    is_whole = bool(counts) and len(lines) == len(programs)
    return _goal(text, f"{middle:g}, {len(counts)} programs", middle <= most, is_whole)


def _goal(text: str, found: str, met: bool, measured: bool) -> Goal:
    return Goal(text, found, met if measured else None)
