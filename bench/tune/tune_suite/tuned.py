# SPDX-License-Identifier: Apache-2.0
"""One program through `tailrace tune`, and a kept plan once more under other circumstances."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tailrace import statistics
from tailrace.run.quiet import settle

from .contents import different
from .programs import Places, Program, again_scale, environment

Json = dict[str, Any]
_limit_s = 3600
wanted = ("speedup", "kept", "equal_content", "rules", "plan", "runs")


class Failed(Exception):
    """A run went wrong: what, and the end of what it said."""


def tune(program: Program, places: Places, tailrace: Sequence[str], parent: Path) -> Json:
    """What `tailrace tune --json` says, with what is known beforehand; the plan as an object.
    Raises Failed."""
    with _fresh(parent) as folder:
        make_input(program, places, folder)
        started = time.monotonic()
        argv = [*tailrace, "tune", "--json", "--", *program.words(places)]
        ran = _ended(argv, folder)
        elapsed = time.monotonic() - started
        try:
            told = json.loads(ran.stdout)
        except json.JSONDecodeError:
            raise Failed(f"tune: exit code {ran.returncode}: {ran.stderr[-800:]}") from None
        missing = [key for key in wanted if key not in told]
        if missing:
            raise Failed(f"tune: exit code {ran.returncode}, without {', '.join(missing)}")
        if isinstance(told["plan"], str):
            told["plan"] = json.loads((folder / told["plan"]).read_text(encoding="utf-8"))
        return {key: told[key] for key in wanted} | {
            "exit_code": ran.returncode,
            "tune_s": elapsed,
            "reason": told.get("reason", ""),
        }


def again(
    program: Program, places: Places, plan: Json, tailrace: Sequence[str], parent: Path, pairs: int
) -> Json:
    """A kept plan at twice the size, on another number of ranks, with files of other names: is the
    content that of the program without it, and is it not slower?"""
    asked: Json = {"scale": again_scale, "run": 2, "ranks": program.again_ranks or program.ranks}
    with _fresh(parent) as folder:
        file = folder / "plan.json"
        file.write_text(json.dumps(plan), encoding="utf-8")
        words = program.words(places, **asked)
        apply = [*tailrace, "apply", "--json", str(file), "--", *words]
        data = folder / "data"
        data.mkdir()
        make_input(program, places, data, **asked)
        times: dict[str, list[float]] = {"default": [], "applied": []}
        for number in range(pairs):
            arms = [("default", words), ("applied", apply)]
            for arm, argv in arms if number % 2 == 0 else reversed(arms):
                times[arm].append(_timed(argv, data, folder / arm))
        differences = different(folder / "default", folder / "applied")
    low, high = statistics.median_ratio_interval(times["applied"], times["default"])
    return asked | {
        "pairs": pairs,
        "default_s": times["default"],
        "applied_s": times["applied"],
        "speedup": {
            "median": statistics.median_ratio(times["applied"], times["default"]),
            "ci95": [low, high],
        },
        "equal_content": not differences,
        "differences": differences[:8],
    }


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


def _timed(argv: Sequence[str], data: Path, kept: Path) -> float:
    """Seconds from the start to the synced files, which are moved to `kept` afterwards."""
    before = {path.name for path in data.iterdir()}
    settle()
    started = time.monotonic()
    run(argv, data)
    subprocess.run(["sync"], check=True)
    elapsed = time.monotonic() - started
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    for path in list(data.iterdir()):
        if path.name not in before:
            path.rename(kept / path.name)
    return elapsed


@contextmanager
def _fresh(parent: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tailrace-tune-suite-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
