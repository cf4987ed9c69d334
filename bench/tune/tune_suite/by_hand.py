# SPDX-License-Identifier: Apache-2.0
"""A program beside itself with the cure that a person would write: by its own option, which
changes what it does, or how its input was written."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from .contents import different
from .programs import Places, Program
from .tuned import content_of, fresh, in_turns, make_input, move_new, names_in, run

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
        folders = {name: folder / name for name in arms}
        return in_turns(argv, folders, pairs) | content_of(differences)


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
