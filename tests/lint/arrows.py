# SPDX-License-Identifier: Apache-2.0
"""Which room may include which, read off the #include lines.

core <- comm <- formats <- runner <- kernels          core <- intent <- hooks
core <- comm <- formats <- server                     {kernels, server, intent} <- bindings/c
tools see everything; a public header under include/ sees nothing of src/.
A room that has grown is divided into sub-rooms, between which the arrows run one way too.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOMS: dict[str, set[str]] = {
    "core": set(),
    "comm": {"core"},
    "formats": {"core", "comm"},
    "runner": {"core", "comm", "formats"},
    "kernels": {"core", "comm", "formats", "runner"},
    "server": {"core", "comm", "formats"},
    "intent": {"core"},
    "hooks": {"core", "intent"},
    "tools": {"core", "comm", "formats", "runner", "kernels", "server", "intent", "hooks"},
}
# Folders that are divided: for each sub-room the others that it may include. Sources lie in the
# sub-rooms alone, and a README.md of two lines says what is in one, and what may not come in.
SUB_ROOMS: dict[str, dict[str, set[str]]] = {
    "hooks/vol": {
        "library": set(),
        "record": set(),
        "objects": {"library", "record"},
        "plan": {"library", "record", "objects"},
        "holes": {"library", "record", "objects", "plan"},
        "observe": {"objects", "plan"},
        "apply": {"library", "objects", "plan", "holes", "observe"},
        "calls": {"library", "record", "objects", "plan", "holes", "observe", "apply"},
    },
}
# A foreign header and the only folders below src/ that may include it.
CONFINED: dict[str, tuple[str, ...]] = {
    r"mpi\.h": ("comm", "hooks"),
    r"hdf5(_hl)?\.h|H5\w*\.h": ("formats/hdf5", "hooks/vol/library"),
    r"netcdf(_par|_meta|_filter)?\.h": ("formats/netcdf4",),
    r"pnetcdf\.h": ("formats/pnetcdf",),
    r"doctest/.*": (),
}
SOURCES = (".hpp", ".cpp", ".h", ".c", ".def")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(file: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, kind of quotation mark and what is included."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def allowed(room: str, target: str) -> bool:
    return target == room or target in ROOMS[room]


def sub_room_of(path: str) -> tuple[str, str] | None:
    """The divided folder that a path below src/ is in, and its sub-room there."""
    for folder in SUB_ROOMS:
        if path.startswith(folder + "/"):
            return folder, path[len(folder) + 1 :].split("/", maxsplit=1)[0]
    return None


def problem_between(here: tuple[str, str] | None, there: tuple[str, str] | None) -> str | None:
    """What is wrong with an include from one sub-room into another of the same folder."""
    if here is None or there is None or here[0] != there[0] or here[1] == there[1]:
        return None
    seen = SUB_ROOMS[here[0]].get(here[1])
    if seen is None or there[1] in seen:  # one without an entry is found by its folder
        return None
    listed = ", ".join(sorted(seen)) or "nothing"
    return f"{'/'.join(here)} may not include {'/'.join(there)}: it sees {listed}"


def problem_of(relative: Path, included: str, src: Path) -> str | None:
    room = relative.parts[0]
    target = included.split("/", maxsplit=1)[0]
    if target in ROOMS and (src / included).exists() and not allowed(room, target):
        seen = ", ".join(sorted(ROOMS[room])) or "nothing"
        return f"{room} may not include {target}: it sees {seen}"
    here = sub_room_of(relative.as_posix())
    if problem := problem_between(here, sub_room_of(included)):
        return problem
    for pattern, folders in CONFINED.items():
        inside = any(str(relative).startswith(folder + "/") for folder in folders)
        if re.fullmatch(pattern, included) and not inside:
            return f"<{included}> is confined to {', '.join(folders) or 'the tests'}"
    if included.startswith("../"):
        return "includes are written from src/"
    return None


def problems_of_folders(src: Path) -> Iterator[str]:
    """Of folders that are divided: what lies beside the sub-rooms, and what they lack."""
    for folder, table in SUB_ROOMS.items():
        for path in sorted((src / folder).glob("*")):
            name = f"src/{folder}/{path.name}"
            readme = path / "README.md"
            if path.suffix in SOURCES:
                yield f"{name}: sources lie in the sub-rooms of {folder}"
            elif path.is_dir() and path.name not in table:
                yield f"{name}: this sub-room is not in the list of sub-rooms"
            elif path.is_dir() and not readme.is_file():
                yield f"{name}: this sub-room has no README.md"
            elif path.is_dir() and len(readme.read_text().splitlines()) != 2:
                yield f"{name}/README.md: two lines: what is in, and what may not come in"


def problems(root: Path) -> list[str]:
    """One line per include that goes against an arrow, as file:line: what."""
    src = root / "src"
    found = list(problems_of_folders(src))
    files = [file for kind in SOURCES for file in src.rglob("*" + kind)]
    for file in sorted(files):
        relative = file.relative_to(src)
        if relative.parts[0] not in ROOMS:
            found.append(f"src/{relative}: this room is not in the list of rooms")
            continue
        for number, _, included in includes(file):
            if problem := problem_of(relative, included, src):
                found.append(f"src/{relative}:{number}: {problem}")
    for header in sorted((root / "include").rglob("*.h")):
        for number, _, included in includes(header):
            if (src / included).exists():
                found.append(
                    f"{header.relative_to(root)}:{number}: a public header includes {included}"
                )
    return found
