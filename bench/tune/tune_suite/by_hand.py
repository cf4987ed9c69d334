# SPDX-License-Identifier: Apache-2.0
"""A program beside itself with the cure that a person would write: by its own option, which
changes what it does, or how its input was written."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tailrace import statistics

from .contents import different
from .programs import Places, Program
from .tuned import fresh, make_input, move_new, names_in, run, timed

Json = dict[str, Any]


def by_hand(program: Program, places: Places, parent: Path, pairs: int) -> Json:
    """Pairs in turns, and whether both arms wrote the same; each arm in a folder of its own, as
    their inputs have one name. Raises Failed."""
    with fresh(parent) as folder:
        arms = {"default": False, "by_hand": True}
        argv = {name: program.words(places, by_hand=hand) for name, hand in arms.items()}
        for name, hand in arms.items():
            (folder / name).mkdir()
            make_input(program, places, folder / name, by_hand=hand)
        differences = _differences(program, argv, folder)
        times: dict[str, list[float]] = {name: [] for name in arms}
        for number in range(pairs):
            for name in arms if number % 2 == 0 else reversed(arms):
                times[name].append(timed(argv[name], folder / name))
    return {
        "pairs": pairs,
        "default_s": times["default"],
        "by_hand_s": times["by_hand"],
        "speedup": {
            "median": statistics.median_ratio(times["by_hand"], times["default"]),
            "ci95": statistics.median_ratio_interval(times["by_hand"], times["default"]),
        },
        "equal_content": not differences,
        "differences": differences[:8],
    }


def _differences(program: Program, argv: dict[str, list[str]], folder: Path) -> list[str]:
    """Of a run of each arm, which warms up."""
    given = {name: names_in(folder / name) for name in argv}
    for name, words in argv.items():
        run(words, folder / name)
    kept = {name: folder / f"kept_{name}" for name in argv}
    for name, to in kept.items():
        move_new(folder / name, given[name], to)
    found = different(kept["default"], kept["by_hand"], program.by_itself)
    for place in kept.values():
        shutil.rmtree(place)
    return found
