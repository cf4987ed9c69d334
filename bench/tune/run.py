# SPDX-License-Identifier: Apache-2.0
"""The suite of `tailrace tune`: `python bench/tune/run.py --build BUILD`.

Each program of programs.toml through `tailrace tune --json`, unmodified, end to end; each plan that
is kept once more under `tailrace apply`: as it was, and at twice the size, on other ranks and with
other file names. A line of JSON for each, behind one with the context; the page is written from all
sessions.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tune_suite.by_hand import by_hand
from tune_suite.goals import goals, spread
from tune_suite.programs import Places, Program, read
from tune_suite.tuned import Failed, measured, without_places

from tune_suite import page, session

root = Path(__file__).resolve().parents[2]
default_results = root / "bench" / "tune" / "results"
default_page = root / "docs" / "developer" / "tune_suite.md"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder of Tailrace")
    parser.add_argument(
        "--program",
        action="append",
        choices=[one.name for one in read()],
        help="only this one; may be given several times",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("/dev/shm"),
        help="where the programs run (default /dev/shm: steady; name a disk to measure it)",
    )
    parser.add_argument(
        "--pairs", type=int, default=6, help="pairs of each check of a kept plan (default 6)"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=default_results,
        help="folder for the results (default bench/tune/results, whose page is written anew)",
    )
    parser.add_argument(
        "--by-hand",
        action="store_true",
        help="measure the cures that a person would write instead (results in by_hand)",
    )
    parser.add_argument(
        "--turns",
        type=Path,
        help="a file to lock (flock) for each program, where others use the machine too",
    )
    parser.add_argument(
        "--page-only",
        action="store_true",
        help="measure nothing, write the page as results have it",
    )
    options = parser.parse_args()
    if options.pairs < 2:
        parser.error("--pairs: an interval needs at least 2")
    return options


def line_of(program: Program, places: Places, options: argparse.Namespace) -> dict[str, Any]:
    """What is kept of one program; where it could not be measured, why."""
    line: dict[str, Any] = {"program": program.name}
    if missing := program.missing(places):
        return line | {"failed": f"needs {missing}"}
    tailrace = [str(places.build / "bin" / "tailrace")]
    try:
        if options.by_hand:
            return line | by_hand(program, places, options.folder, options.pairs)
        return line | measured(program, places, tailrace, options.folder, options.pairs)
    except Failed as failure:
        print(f"  {failure}", file=sys.stderr)
        return line | {"failed": without_places(str(failure), places.names())}


def said(line: dict[str, Any]) -> str:
    if "failed" in line:
        return f"{line['program']}: failed: {line['failed'].splitlines()[0]}"
    kept = "left as it is"
    if line.get("kept", True):  # a cure by hand has nothing to keep
        low, high = spread(line["speedup"])
        kept = f"{line['speedup']['median']:.2f} [{low:.2f}, {high:.2f}]"
    return f"{line['program']}: {kept}, content equal: {line['equal_content']}"


def main() -> int:
    options = arguments()
    programs = read()
    if options.page_only:
        page.write(default_page, programs, options.results)
        return 0
    places, head = session.begin(options.build, options.folder, options.pairs)
    where = options.results / "by_hand" if options.by_hand else options.results
    where.mkdir(parents=True, exist_ok=True)
    file = where / f"{head['session']}.jsonl"
    wanted = [one for one in programs if not options.program or one.name in options.program]
    if options.by_hand:
        wanted = [one for one in wanted if one.by_hand]
    with file.open("w", encoding="utf-8") as out:
        print(json.dumps(head), file=out, flush=True)
        for number, program in enumerate(wanted, 1):
            print(f"[{number}/{len(wanted)}] {program.name}", file=sys.stderr, flush=True)
            with session.turn(options.turns):
                line = line_of(program, places, options)
            print(json.dumps(line), file=out, flush=True)
            print(said(line), flush=True)
    print(f"written: {file}", file=sys.stderr)
    if options.results == default_results:
        page.write(default_page, programs, options.results)
    found = goals(programs, *page.all_newest(options.results))
    for goal in found:
        if goal.met is not True:
            print(f"goal {'missed' if goal.met is False else 'not measured'}: {goal.text}: "
                  f"{goal.found}")  # fmt: skip
    return 0 if all(goal.met for goal in found) else 1


if __name__ == "__main__":
    sys.exit(main())
