# SPDX-License-Identifier: Apache-2.0
"""One program through `tailrace tune`, and a kept plan once more under other circumstances."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace import statistics
from tailrace.intent.apply import classes_of, options_for
from tailrace.run.quiet import settle

from .contents import different
from .programs import Places, Program, again_scale, environment

Json = dict[str, Any]
_limit_s = 3600
_alone = 5  # runs of a program that tune has nothing to try for
wanted = ("speedup", "kept", "equal_content", "rules", "plan", "runs")


class Failed(Exception):
    """A run went wrong: what, and the end of what it said."""


def measured(
    program: Program, places: Places, tailrace: Sequence[str], parent: Path, pairs: int
) -> Json:
    """What `tailrace tune --json` says, its plan as an object; and of a plan that is kept, in the
    same folder (plans name files by their paths), `applied` and `again`. Raises Failed."""
    with fresh(parent) as folder:
        make_input(program, places, folder)
        line = tune([*tailrace, "tune", "--json", "--", *program.words(places)], folder)
        if not line["runs"]:  # nothing to try, so nothing was timed
            words = program.words(places)
            line["as_it_is_s"] = [timed(words, folder) for _ in range(_alone)]
        if line["kept"]:
            pairs_with = Pairs(program, places, line["plan"], tailrace, folder, pairs)
            line["applied"] = pairs_with.as_it_was()
            line["again"] = pairs_with.otherwise()
        return published(line, places, folder)


def published(line: Json, places: Places, folder: Path) -> Json:
    """The same without files, folders and variables of this machine."""
    if line["plan"]:
        line = line | {"plan": {k: v for k, v in line["plan"].items() if k != "proof"}}
    found: Json = without_places(line, places.names() | {"folder": str(folder)})
    return found


def without_places(found: Any, names: Mapping[str, str]) -> Any:
    """The same with folders of this machine by their names in programs.toml, "{folder}" and so
    on: results are published."""
    if isinstance(found, dict):
        return {key: without_places(value, names) for key, value in found.items()}
    if isinstance(found, list):
        return [without_places(value, names) for value in found]
    if isinstance(found, str):
        for name, path in sorted(names.items(), key=lambda one: -len(one[1])):
            found = found.replace(path, f"{{{name}}}")
    return found


def tune(argv: Sequence[str], folder: Path) -> Json:
    """Its keys that are wanted, its exit code and its time. Raises Failed."""
    started = time.monotonic()
    ran = _ended(argv, folder)
    elapsed = time.monotonic() - started
    try:
        told = json.loads(ran.stdout)
    except json.JSONDecodeError:
        raise Failed(f"tune: exit code {ran.returncode}: {ran.stderr[-800:]}") from None
    if "error" in told:
        raise Failed(f"tune: exit code {ran.returncode}: {told['error']['what']}")
    missing = [key for key in wanted if key not in told]
    if missing:
        raise Failed(f"tune: exit code {ran.returncode}, without {', '.join(missing)}")
    if isinstance(told["plan"], str):
        told["plan"] = json.loads((folder / told["plan"]).read_text(encoding="utf-8"))
    line = {key: told[key] for key in wanted}
    return line | {
        "exit_code": ran.returncode, "tune_s": elapsed, "reason": told.get("reason", ""),
        "repack": told.get("repack"),
    }  # fmt: skip


@dataclass(frozen=True)
class Pairs:
    """A program by itself and under `tailrace apply` with a kept plan, in turns."""

    program: Program
    places: Places
    plan: Json
    tailrace: Sequence[str]
    folder: Path
    count: int

    def as_it_was(self) -> Json:
        """The very command that was tuned: is it faster also where no choice was made by the
        times? What it reads is there."""
        return self._compared({"scale": 1.0, "run": 1, "ranks": self.program.ranks})

    def otherwise(self) -> Json:
        """At twice the size, on another number of ranks, with files of other numbers."""
        ranks = self.program.again_ranks or self.program.ranks
        asked: Json = {"scale": again_scale, "run": 2, "ranks": ranks}
        make_input(self.program, self.places, self.folder, **asked)
        return self._compared(asked)

    def _compared(self, asked: Json) -> Json:
        """Is the content that of the program without the plan, and is it not slower?"""
        file = self.folder / "kept_plan.json"
        file.write_text(json.dumps(self.plan), encoding="utf-8")
        words = self.program.words(self.places, **asked)
        options = ["--json", *options_for(classes_of(self.plan))]
        applied = [*self.tailrace, "apply", *options, str(file), "--", *words]
        argv = {"default": words, "applied": applied}
        differences = self._differences(argv)
        folders = dict.fromkeys(argv, self.folder)
        return asked | in_turns(argv, folders, self.count) | content_of(differences)

    def _differences(self, argv: Mapping[str, Sequence[str]]) -> list[str]:
        """Of a run of each arm before the pairs, which warms up: files that were kept for it while
        the pairs run would take other memory from the one arm than from the other."""
        kept = {arm: self.folder / f"kept_{arm}" for arm in argv}
        for arm, words in argv.items():
            before = names_in(self.folder)
            run(words, self.folder)
            move_new(self.folder, before, kept[arm])
        found = different(kept["default"], kept["applied"], self.program.by_itself)
        for place in kept.values():
            shutil.rmtree(place)
        return found


def in_turns(argv: Mapping[str, Sequence[str]], folders: Mapping[str, Path], pairs: int) -> Json:
    """Times of two arms, and how many times as fast the second is as the first, `default`."""
    times: dict[str, list[float]] = {arm: [] for arm in argv}
    for number in range(pairs):
        for arm in argv if number % 2 == 0 else reversed(argv):
            times[arm].append(timed(argv[arm], folders[arm]))
    default, other = times.values()
    return {
        "pairs": pairs,
        **{f"{arm}_s": seconds for arm, seconds in times.items()},
        "speedup": {
            "median": statistics.median_ratio(other, default),
            "ci95": statistics.median_ratio_interval(other, default),
        },
    }


def content_of(differences: Sequence[str]) -> Json:
    return {"equal_content": not differences, "differences": differences[:8]}


def make_input(program: Program, places: Places, folder: Path, **asked: Any) -> None:
    """What it reads, where it reads."""
    if program.input:
        run(program.words(places, make_input=True, **asked), folder)


def run(argv: Sequence[str], folder: Path) -> str:
    """What it printed. Raises Failed."""
    ran = _ended(argv, folder)
    if ran.returncode != 0:
        raise Failed(f"{' '.join(argv)}: exit code {ran.returncode}: {ran.stderr[-800:]}")
    return ran.stdout


def _ended(argv: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            argv, check=False, cwd=folder, env=environment(), capture_output=True, text=True,
            timeout=_limit_s,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(argv)}: not at its end after {_limit_s} s") from None


def timed(argv: Sequence[str], data: Path) -> float:
    """Seconds from the start to the synced files, which are deleted afterwards."""
    before = names_in(data)
    settle()
    started = time.monotonic()
    run(argv, data)
    subprocess.run(["sync"], check=True)
    elapsed = time.monotonic() - started
    gone = data / "gone"
    move_new(data, before, gone)
    shutil.rmtree(gone)
    return elapsed


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def move_new(data: Path, before: set[str], to: Path) -> None:
    """What a run made, `before` aside, into a new folder `to`."""
    new = names_in(data) - before
    to.mkdir()
    for name in new:
        (data / name).rename(to / name)


@contextmanager
def fresh(parent: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tailrace-tune-suite-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
