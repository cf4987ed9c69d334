# SPDX-License-Identifier: Apache-2.0
"""Tune against everything: `bench/tune/exhaustive.py --build BUILD --program NAME --scale X`.

A program of the suite, small, through `tailrace tune --search`; then every combination of the same
knobs (each rule of its first plan on and off, each number at several levels) is run; the best of
them and the plan of tune meet in fresh pairs. A line of JSON, behind one with the context.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from tune_suite.exhaustive import Sweep, against, first_plan, of_the_same, swept, swept_before
from tune_suite.grid import combinations
from tune_suite.programs import Places, Program, environment, read
from tune_suite.tuned import Failed, make_input, published, tune

from tailrace.tune.request import Document
from tune_suite import session

root = Path(__file__).resolve().parents[2]
default_results = root / "bench" / "tune" / "results" / "exhaustive"
no_plan: Document = {"schema": "tailrace-plan/1", "origin": {"version": "bench"}, "entries": []}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder of Tailrace")
    parser.add_argument("--program", required=True, choices=[one.name for one in read()])
    parser.add_argument("--scale", type=float, required=True, help="of its size in the suite")
    parser.add_argument(
        "--levels", default="0.25,0.5,1,2,4", help="times each number (default 0.25,0.5,1,2,4)"
    )
    parser.add_argument("--repeat", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--pairs", type=int, default=10, help="of the comparison (default 10)")
    parser.add_argument("--search", type=float, default=10, help="minutes (default 10; 0: none)")
    parser.add_argument(
        "--swept", type=Path, help="sweep not again: the result with one of these combinations"
    )
    parser.add_argument("--most", type=int, default=3000, help="runs of a sweep (default 3000)")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--results", type=Path, default=default_results)
    return parser.parse_args()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def line_of(program: Program, places: Places, options: argparse.Namespace, home: Path) -> Any:
    """Tune, the sweep, and how they compare. Raises Failed."""
    asked_for = {"program": program.name, "scale": options.scale, "levels": options.levels}
    before = of_the_same(options.swept, asked_for) if options.swept else None
    words = program.words(places, options.scale)
    make_input(program, places, home, scale=options.scale)
    tailrace = str(places.build / "bin" / "tailrace")
    search = ["--search", f"{options.search}m"] if options.search else []
    asked = ["tune", "--json", *search, "-o", "tuned"]
    told = tune([tailrace, *asked, "--", *words], home)
    plan = first_plan(home / "tuned" / "profile.json", program.ranks)
    shutil.rmtree(home / "tuned")
    plans = combinations(plan, [float(level) for level in options.levels.split(",")])
    tuned_runs = len(told["runs"]) + 1
    say(f"tune: {tuned_runs} runs, kept: {told['kept']}; the sweep: {len(plans)} combinations")
    if not before and len(plans) * options.repeat > options.most:
        raise SystemExit(f"{len(plans)} combinations are more than {options.most} runs allow")
    scratch = Path(tempfile.mkdtemp(prefix="tailrace-exhaustive-", dir=options.folder))
    try:
        sweep = Sweep(words, home, scratch)
        kept = told["plan"] if told["kept"] else no_plan
        found = swept_before(before, plans) if before else swept(plans, sweep, options.repeat, say)
        found |= against(kept, plans[found["best"]], sweep, options.pairs)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return asked_for | {
        "kept": told["kept"], "plan": told["plan"], "speedup": told["speedup"],
        "search_min": options.search, "reason": told["reason"], "tune_runs": tuned_runs,
        "swept": options.swept.stem if options.swept else "", **found,
    }  # fmt: skip


def main() -> int:
    options = arguments()
    program = next(one for one in read() if one.name == options.program)
    places, head = session.begin(options.build, options.folder, options.pairs)
    if missing := program.missing(places):
        raise SystemExit(f"{program.name} needs {missing}")
    os.environ.update(environment())
    home = Path(tempfile.mkdtemp(prefix="tailrace-tune-suite-", dir=options.folder))
    try:
        line = published(line_of(program, places, options, home), places, home)
    except Failed as failure:
        raise SystemExit(f"error: {failure}") from None
    finally:
        shutil.rmtree(home, ignore_errors=True)
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"{head['session']}.jsonl"
    file.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n", encoding="utf-8")
    low, high = line["ratio_ci95"]
    share = line["sweep_runs"] / line["tune_runs"]
    met = line["ratio"] <= 1.1 and share >= 10
    print(
        f"{program.name}: tune {line['tune_runs']} runs, every combination {line['sweep_runs']} "
        f"({share:.1f} times as many); time with tune's plan over that with the best: "
        f"{line['ratio']:.3f} [{low:.3f}, {high:.3f}]; {'met' if met else 'not met'}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
