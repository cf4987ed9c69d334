# SPDX-License-Identifier: Apache-2.0
"""Which room may include which, read off the #include lines.

core <- comm <- formats <- kernels          core <- intent <- hooks
core <- comm <- formats <- server           {kernels, server, intent} <- bindings/c
tools see everything; a public header under include/ sees nothing of src/.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOMS: dict[str, set[str]] = {
    "core": set(),
    "comm": {"core"},
    "formats": {"core", "comm"},
    "kernels": {"core", "comm", "formats"},
    "server": {"core", "comm", "formats"},
    "intent": {"core"},
    "hooks": {"core", "intent"},
    "tools": {"core", "comm", "formats", "kernels", "server", "intent", "hooks"},
}
# A foreign header and the only folders below src/ that may include it.
CONFINED: dict[str, tuple[str, ...]] = {
    r"mpi\.h": ("comm", "hooks"),
    r"hdf5(_hl)?\.h|H5\w*\.h": ("formats/hdf5", "hooks/vol"),
    r"netcdf(_par|_meta|_filter)?\.h": ("formats/netcdf4",),
    r"pnetcdf\.h": ("formats/pnetcdf",),
    r"doctest/.*": (),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(file: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, kind of quotation mark and what is included."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def allowed(room: str, target: str) -> bool:
    return target == room or target in ROOMS[room]


def problem_of(relative: Path, included: str, src: Path) -> str | None:
    room = relative.parts[0]
    target = included.split("/", maxsplit=1)[0]
    if target in ROOMS and (src / included).exists() and not allowed(room, target):
        seen = ", ".join(sorted(ROOMS[room])) or "nothing"
        return f"{room} may not include {target}: it sees {seen}"
    for pattern, folders in CONFINED.items():
        inside = any(str(relative).startswith(folder + "/") for folder in folders)
        if re.fullmatch(pattern, included) and not inside:
            return f"<{included}> is confined to {', '.join(folders) or 'the tests'}"
    if included.startswith("../"):
        return "includes are written from src/"
    return None


def problems(root: Path) -> list[str]:
    """One line per include that goes against an arrow, as file:line: what."""
    src = root / "src"
    found = []
    files = [file for kind in ("*.hpp", "*.cpp", "*.h", "*.c") for file in src.rglob(kind)]
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
