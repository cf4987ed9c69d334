# SPDX-License-Identifier: Apache-2.0
"""docs/developer/the_house.md has each room, and its pictures and tables each arrow."""

import os
import re
from collections import defaultdict
from pathlib import Path

from arrows import SUB_ROOMS, includes
from test_python_circles import imports_of

ROOT = Path(os.environ["TAILRACE_SOURCE_DIR"])
PAGE = (ROOT / "docs/developer/the_house.md").read_text()
Arrows = dict[str, set[str]]


def room_of(folder: str) -> str:
    """A divided folder is one room here: its own READMEs tell of its sub-rooms."""
    return next((one for one in SUB_ROOMS if folder.startswith(one)), folder)


def between_sources() -> Arrows:
    """From the rooms below src/, and from bindings/, to rooms below src/."""
    found: Arrows = defaultdict(set)
    for top, prefix in ((ROOT / "src", ""), (ROOT / "bindings", "bindings/")):
        for file in (*top.rglob("*.cpp"), *top.rglob("*.hpp")):
            room = room_of(prefix + str(file.parent.relative_to(top)))
            found[room] |= {
                room_of(str(Path(name).parent))
                for _, kind, name in includes(file)
                if kind == '"' and (ROOT / "src" / name).is_file()
            } - {room, "."}
    return found


def between_packages() -> Arrows:
    packages = {file.parent.name for file in (ROOT / "python/tailrace").glob("*/__init__.py")}
    found: Arrows = {}
    for package in packages:
        files = (ROOT / "python/tailrace" / package).rglob("*.py")
        names = {name for file in files for name in imports_of(file)}
        parts = {name.split(".")[1] for name in names if name.startswith("tailrace.")}
        found[package] = (parts & packages) - {package}
    return found


def rows(prefix: str) -> Arrows:
    """Of the tables: the room in the first column, the rooms that it uses in the last."""
    found = re.findall(rf"^\| `{prefix}([^`]+)` \|.*\|([^|]*)\|$", PAGE, re.MULTILINE)
    return {room: set(re.findall(r"`([^`]+)`", uses)) for room, uses in found}


def drawn(title: str) -> Arrows:
    """Of the picture below a title: `a --> b & c`."""
    picture = PAGE.split(title)[1].split("```")[1]
    lines = re.findall(r"^ +([\w/]+) --> (.+)$", picture, re.MULTILINE)
    return {room: set(uses.split(" & ")) for room, uses in lines}


def test_the_tables_have_each_room_and_each_arrow() -> None:
    assert rows("src/") | rows("(?=bindings/)") == between_sources()
    assert rows("python/tailrace/") == between_packages()


def test_the_pictures_have_each_arrow() -> None:
    whole: Arrows = defaultdict(set)
    for room, uses in between_sources().items():
        top = room if room.startswith("bindings/") else room.split("/")[0]
        top = "/".join(top.split("/")[:2])
        whole[top] |= {one.split("/")[0] for one in uses} - {top}
    assert drawn("## Rooms") == {room: uses for room, uses in whole.items() if uses}
    assert drawn("## Packages") == {room: uses for room, uses in between_packages().items() if uses}
