# SPDX-License-Identifier: Apache-2.0
"""From figures to intervals, verdicts and goals."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tailrace import statistics

from .cases import AnyCase, CallCase, Case, MemoryCase
from .measure import Measured

Json = dict[str, Any]


def judged(case: AnyCase, measured: Measured) -> Json:
    base = {
        "suite": case.suite,
        "name": case.name,
        "where": case.where,
        "failures": measured["failures"],
    }
    if isinstance(case, MemoryCase):
        return base | _memory(case, measured)
    if isinstance(case, CallCase):
        return base | _per_call(case, measured)
    return base | _ratio(case, measured)


def _rates(runs: list[Json], key: str = "durable_bytes_per_s") -> list[float]:
    return [run[key] for run in runs]


def _per_call(case: CallCase, measured: Measured) -> Json:
    """Differences within pairs; those of the baseline to itself say what noise makes."""
    arms = ("baseline", "same", "candidate")
    result: Json = {"arms": {name: measured[name] for name in arms}}
    if len(measured["candidate"]) < 6:
        return result | {"goal": {"bound": case.goal, "met": None, "reason": "too few good rounds"}}
    a, b, c = ([run["us_per_call"] for run in measured[name]] for name in arms)
    cost = [there - here for here, there in zip(a, c, strict=True)]
    noise = [there - here for here, there in zip(a, b, strict=True)]
    interval = statistics.median_interval(cost)
    assert interval is not None
    result["us_per_call"] = {
        "baseline": statistics.median(a),
        "candidate": statistics.median(c),
        "cost": statistics.median(cost),
        "interval": interval,
        "same": statistics.median(noise),
    }
    return result | {"goal": {"bound": case.goal, "met": interval[1] <= case.goal, "reason": ""}}


def _ratio(case: Case, measured: Measured) -> Json:
    baseline, same, candidate = (measured[arm] for arm in ("baseline", "same", "candidate"))
    result: Json = {"arms": {name: measured[name] for name in ("baseline", "same", "candidate")}}
    if len(candidate) < 6:
        return result | {"goal": {"bound": case.goal, "met": None, "reason": "too few good rounds"}}
    if case.unit != "B/s":
        result["unit"] = case.unit
    key = "durable_bytes_per_s" if case.unit == "B/s" else "per_s"
    a, b, c = (_rates(runs, key) for runs in (baseline, same, candidate))
    result["summary"] = {
        name: asdict(statistics.summarize(values))
        for name, values in (("baseline", a), ("same", b), ("candidate", c))
    }
    result["comparison"] = _verdict(statistics.compare_checked(a, b, a, c, "larger"))
    result["same"] = _verdict(statistics.compare(a, b, "larger"))
    result["interval"] = statistics.median_ratio_interval(a, c)
    result["median_ratio"] = statistics.median_ratio(a, c)
    if all("write_bytes_per_s" in run for run in baseline + candidate):
        wa, wc = _rates(baseline, "write_bytes_per_s"), _rates(candidate, "write_bytes_per_s")
        result["write_only"] = {
            "median_ratio": statistics.median_ratio(wa, wc),
            "interval": statistics.median_ratio_interval(wa, wc),
        }
    result["pieces"] = _pieces(baseline, candidate) if case.same_pieces else None
    for run in baseline + same + candidate:
        run.pop("hints_in_force", None)  # the same in all runs; what differs stands in pieces
    goal: Json = {"bound": case.goal, "met": result["interval"][0] >= case.goal, "reason": ""}
    if case.no_fall:
        goal |= within_noise(result["interval"], case.goal)
    if case.write_goal is not None and "write_only" in result:
        goal["write_bound"] = case.write_goal
        goal["met"] = goal["met"] and result["write_only"]["interval"][0] >= case.write_goal
    if result["same"]["verdict"] in ("faster", "slower"):
        goal |= {"met": None, "reason": "A differs from A: the machine was not steady"}
    if result["pieces"] and not result["pieces"]["equal"]:
        goal |= {"met": None, "reason": "the arms did not write the same pieces"}
    return result | {"goal": goal}


def within_noise(interval: tuple[float, float], goal: float) -> Json:
    """Met where the interval holds the goal, and is narrow enough to have shown a fall of a tenth;
    no verdict where it is not."""
    low, high = interval
    if high < goal:
        return {"met": False, "reason": "it falls: the whole interval lies below"}
    if low < 0.9 * goal:
        return {"met": None, "reason": "the interval is too wide to exclude a fall of a tenth"}
    return {"met": True}


def _verdict(found: statistics.Comparison) -> Json:
    """In the words of schemas/bench-1.schema.json."""
    return {
        "pairs": found.pairs,
        "median_ratio": found.ratio,
        "interval": found.interval,
        "p_faster": found.p_faster,
        "p_slower": found.p_slower,
        "p_needed": found.p_needed,
        "verdict": found.verdict,
        "reason": found.reason,
    }


def _pieces(baseline: list[Json], candidate: list[Json]) -> Json:
    """Whether both arms asked the kernel for the same number of writes and bytes per rank, with
    the same implementation; and which hints differ."""
    ours, theirs = candidate[0], baseline[0]
    hints = {
        key: [theirs["hints_in_force"].get(key), ours["hints_in_force"].get(key)]
        for key in sorted(theirs["hints_in_force"] | ours["hints_in_force"])
        if theirs["hints_in_force"].get(key) != ours["hints_in_force"].get(key)
    }
    same_io = ours["mpi_io"] == theirs["mpi_io"]
    runs = baseline + candidate
    # Collective transfers shift by the header: the aggregator may cut them elsewhere, so there
    # only the bytes must agree.
    keys = ["bytes_in_write"] if ours["collective_actual"] else ["bytes_in_write", "calls_in_write"]
    equal = same_io and all(sorted(run[key]) == sorted(theirs[key]) for run in runs for key in keys)
    return {
        "equal": equal,
        "mpi_io": [theirs["mpi_io"], ours["mpi_io"]],
        "hints": ours["hints_in_force"],
        "different_hints": hints,
        "calls_in_write": [theirs["calls_in_write"], ours["calls_in_write"]],
        "bytes_in_write": [theirs["bytes_in_write"], ours["bytes_in_write"]],
    }


def _memory(case: MemoryCase, measured: Measured) -> Json:
    runs = measured["candidate"]
    if not runs:
        return {"goal": {"bound": case.goal, "met": None, "reason": "no good run"}}
    peak = max(run["memory"]["peak_above_init_bytes_max"] for run in runs)
    data = runs[0]["memory"]["data_bytes_max"]
    limit = case.limit_bytes(data)
    return {
        "arms": {"candidate": runs},
        "data_bytes": data,
        "peak_above_init_bytes": peak,
        "limit_bytes": limit,
        "goal": {"bound": case.goal, "met": peak <= limit, "reason": case.note},
    }


def verdict(goal: Json) -> str:
    if goal["met"] is None:
        return f"not judged: {goal['reason']}"
    if goal["met"]:
        return "met"
    return f"MISSED ({goal['reason']})" if goal["reason"] else "MISSED"


def line(case: Json) -> str:
    """One line for a person."""
    goal = case["goal"]
    if "peak_above_init_bytes" in case:
        figures = (
            f"peak {case['peak_above_init_bytes'] / 2**20:.1f} MiB above MPI_Init, "
            f"data {case['data_bytes'] / 2**20:.1f} MiB, "
            f"limit {case['limit_bytes'] / 2**20:.1f} MiB"
        )
    elif "us_per_call" in case:
        low, high = case["us_per_call"]["interval"]
        figures = f"{case['us_per_call']['cost']:.3f} us [{low:.3f}, {high:.3f}] per call"
        figures += f", goal {goal['bound']}"
    elif "interval" in case:
        low, high = case["interval"]
        figures = f"ratio {case['median_ratio']:.3f} [{low:.3f}, {high:.3f}], goal {goal['bound']}"
        if "write_bound" in goal:
            low, high = case["write_only"]["interval"]
            ratio = case["write_only"]["median_ratio"]
            figures += f"; write {ratio:.3f} [{low:.3f}, {high:.3f}], goal {goal['write_bound']}"
    else:
        figures = f"goal {goal['bound']}"
    return f"{case['name']}: {figures}: {verdict(goal)}"
