# SPDX-License-Identifier: Apache-2.0
"""The benchmarks that have goals: `make bench`, or `python bench/run.py --build BUILD`.

Arms of a case run interleaved in random order, each in a fresh folder, after a sync and a wait for
low dirty memory. What is measured, compared and called a goal: docs/decisions/0003-timing.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import suites
from tailrace_bench import judge, machine, page, report
from tailrace_bench.measure import run_case

from tailrace import whole_files

root = Path(__file__).resolve().parent.parent
default_results = root / "bench" / "results"


def default_ranks() -> int:
    return min(4, max(2, len(os.sched_getaffinity(0))))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder of Tailrace")
    parser.add_argument(
        "--suite",
        action="append",
        choices=sorted(suites.names()),
        help="only this suite; may be given several times",
    )
    parser.add_argument(
        "--case",
        action="append",
        help="only cases whose name contains this text; may be given several times",
    )
    parser.add_argument(
        "--pairs", type=int, default=10, help="pairs per case, 6 at least (default 10)"
    )
    parser.add_argument(
        "--ranks",
        type=int,
        default=default_ranks(),
        help="ranks per run (default: one per core, 2 to 4; more than cores measures the "
        "scheduler as well)",
    )
    parser.add_argument(
        "--memory-folder",
        type=Path,
        default=Path("/dev/shm"),
        help="folder on tmpfs (default /dev/shm)",
    )
    parser.add_argument(
        "--disk-folder",
        type=Path,
        default=root / "build" / "bench",
        help="folder on a disk (default build/bench)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=default_results,
        help="folder for the results (default bench/results, whose page is then written anew)",
    )
    parser.add_argument(
        "--report",
        type=Path,
        default=root / "build" / "bench" / "report.html",
        help="the page with all sessions of the results (default build/bench/report.html)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the order of the arms")
    parser.add_argument(
        "--nice",
        type=int,
        default=0,
        help="priority of all arms, as of nice(1): negative (root only) on a machine that others "
        "use too; recorded",
    )
    parser.add_argument(
        "--turns",
        type=Path,
        help="a file to lock (flock) for each case: where others use the machine too, and lock it "
        "for what they do, they and a case take turns",
    )
    parser.add_argument(
        "--page-only",
        action="store_true",
        help="measure nothing, write the pages from the results that are there",
    )
    return parser.parse_args()


def rounded(value: Any) -> Any:
    """Six significant digits are more than any of the figures has."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def text_of(session: dict[str, Any]) -> str:
    """One line per case."""
    head = {key: value for key, value in session.items() if key != "cases"}
    cases = ",\n".join(json.dumps(rounded(case)) for case in session["cases"])
    return json.dumps(head)[:-1] + f', "cases": [\n{cases}\n]}}\n'


def show(options: argparse.Namespace) -> None:
    """The report; and, where the results are the project's own, the table in the documents."""
    if options.results == default_results:
        page.write(root, options.results)
    options.report.parent.mkdir(parents=True, exist_ok=True)
    report.write(report.sessions_in(options.results), options.report)
    print(f"report: {options.report}", file=sys.stderr)


def main() -> int:
    options = arguments()
    if options.page_only:
        show(options)
        return 0
    if options.pairs < 6:
        print("bench: error: fewer than 6 pairs decide nothing", file=sys.stderr)
        return 2
    if options.nice:
        machine.set_priority(options.nice)
    place = machine.Machine(
        options.build, options.memory_folder, options.disk_folder, options.ranks
    )
    session: dict[str, Any] = {
        "schema": "tailrace-bench/1",
        "session": time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime()),
        "settings": {
            "pairs": options.pairs,
            "ranks": options.ranks,
            "seed": options.seed,
            "nice": options.nice,
        },
        "context": place.context(),
        "cases": [],
    }
    cases = [
        case
        for case in suites.all_cases(place, options.ranks, options.suite)
        if not options.case or any(text in case.name for text in options.case)
    ]
    file = options.results / f"{session['session']}.json"
    options.results.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(cases, 1):
        print(f"[{number}/{len(cases)}] {case.name}", file=sys.stderr, flush=True)
        with machine.turn(options.turns):
            measured = run_case(case, place, options.pairs, options.seed + number)
        session["cases"].append(judge.judged(case, measured))
        print(judge.line(session["cases"][-1]), flush=True)
        # After each: what is measured stays where somebody ends the session.
        whole_files.write_text(file, text_of(session))
    print(f"written: {file}", file=sys.stderr)
    show(options)
    missed = [case["name"] for case in session["cases"] if case["goal"]["met"] is not True]
    for name in missed:
        print(f"goal missed or not measured: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
