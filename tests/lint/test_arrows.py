# SPDX-License-Identifier: Apache-2.0
"""The arrows between the rooms hold, and the check sees each way of breaking them."""

import os
from pathlib import Path

import pytest
from arrows import SUB_ROOMS, problems

ROOT = Path(os.environ["TAILRACE_SOURCE_DIR"])


def test_no_arrow_points_back() -> None:
    assert problems(ROOT) == []


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [
        ("core/a.hpp", '#include "comm/comm.hpp"', "core may not include comm: it sees nothing"),
        ("comm/a.hpp", '#include "kernels/k.hpp"', "comm may not include kernels"),
        ("runner/a.cpp", '#include "kernels/k.hpp"', "runner may not include kernels"),
        ("formats/a.cpp", '#include "runner/run.hpp"', "formats may not include runner"),
        ("server/a.cpp", '#include "runner/run.hpp"', "server may not include runner"),
        ("hooks/posix/a.cpp", '#include "formats/f.hpp"', "hooks may not include formats"),
        ("kernels/seism/a.cpp", "#include <mpi.h>", "<mpi.h> is confined to comm, hooks"),
        ("formats/posix/a.cpp", "#  include <hdf5.h>", "<hdf5.h> is confined to formats/hdf5"),
        (
            "hooks/posix/a.cpp",
            "#include <hdf5.h>",
            "<hdf5.h> is confined to formats/hdf5, hooks/vol/library",
        ),
        ("formats/posix/a.cpp", '#include "../comm.hpp"', "written from src/"),
        ("tools/a.cpp", "#include <doctest/doctest.h>", "confined to the tests"),
        ("attic/a.cpp", "int a;", "not in the list of rooms"),
    ],
)
def test_each_breach_is_seen(tmp_path: Path, file: str, line: str, text: str) -> None:
    for header in ("comm/comm.hpp", "kernels/k.hpp", "formats/f.hpp", "runner/run.hpp", "comm.hpp"):
        (tmp_path / "src" / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / header).touch()
    (tmp_path / "src/comm.hpp").unlink()
    target = tmp_path / "src" / file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"// first line\n{line}\n")
    found = problems(tmp_path)
    assert len(found) == 1
    assert text in found[0]


def test_what_is_allowed_passes(tmp_path: Path) -> None:
    for file, text in {
        "core/error.hpp": "#include <string>",
        "comm/mpi_comm.cpp": '#include <mpi.h>\n#include "core/error.hpp"',
        "formats/hdf5/h5.cpp": "#include <hdf5.h>",
    }.items():
        (tmp_path / "src" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / file).write_text(text + "\n")
    assert problems(tmp_path) == []


def test_every_sub_room_is_there_and_its_arrows_run_one_way() -> None:
    """A sub-room sees only those that stand before it in the table, so there are no circles."""
    for folder, table in SUB_ROOMS.items():
        there = {path.name for path in (ROOT / "src" / folder).iterdir() if path.is_dir()}
        assert there == set(table)
        before: set[str] = set()
        for room, seen in table.items():
            assert seen <= before, room
            before.add(room)


def sub_room(root: Path, path: str, text: str, readme: str | None = "in\nout\n") -> None:
    """A file of a sub-room, with the door of that."""
    file = root / "src" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"// first line\n{text}\n")
    if readme is not None:
        (file.parent / "README.md").write_text(readme)


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [
        (
            "hooks/vol/library/a.cpp",
            '#include "hooks/vol/objects/object.hpp"',
            "a.cpp:2: hooks/vol/library may not include hooks/vol/objects: it sees nothing",
        ),
        (
            "hooks/vol/plan/a.hpp",
            '#  include "hooks/vol/apply/proven.hpp"',
            "hooks/vol/plan may not include hooks/vol/apply: it sees library, objects, record",
        ),
        (
            "hooks/vol/observe/a.cpp",
            '#include "hooks/vol/holes/holes.hpp"',
            "hooks/vol/observe may not include hooks/vol/holes: it sees objects, plan",
        ),
        (
            "hooks/vol/apply/a.cpp",
            '#include "hooks/vol/calls/info.hpp"',
            "hooks/vol/apply may not include hooks/vol/calls",
        ),
        (
            "hooks/vol/record/a.def",
            '#include "hooks/vol/library/abi.hpp"',
            "hooks/vol/record may not include hooks/vol/library: it sees nothing",
        ),
        (
            "hooks/vol/calls/a.cpp",
            "#include <H5VLconnector.h>",
            "<H5VLconnector.h> is confined to formats/hdf5, hooks/vol/library",
        ),
        (
            "hooks/vol/attic/a.cpp",
            '#include "hooks/vol/calls/info.hpp"',
            "src/hooks/vol/attic: this sub-room is not in the list of sub-rooms",
        ),
    ],
)
def test_each_breach_between_sub_rooms_is_seen(
    tmp_path: Path, file: str, line: str, text: str
) -> None:
    sub_room(tmp_path, file, line)
    found = problems(tmp_path)
    assert len(found) == 1
    assert text in found[0]


@pytest.mark.parametrize(
    ("readme", "text"),
    [
        (None, "src/hooks/vol/holes: this sub-room has no README.md"),
        ("in\n", "src/hooks/vol/holes/README.md: two lines"),
        ("in\nout\nmore\n", "src/hooks/vol/holes/README.md: two lines"),
    ],
)
def test_a_sub_room_without_a_door_is_seen(tmp_path: Path, readme: str | None, text: str) -> None:
    sub_room(tmp_path, "hooks/vol/holes/a.cpp", "int a;", readme)
    found = problems(tmp_path)
    assert len(found) == 1
    assert text in found[0]


def test_a_source_beside_the_sub_rooms_is_seen(tmp_path: Path) -> None:
    sub_room(tmp_path, "hooks/vol/a.cpp", "int a;", None)
    assert problems(tmp_path) == ["src/hooks/vol/a.cpp: sources lie in the sub-rooms of hooks/vol"]


def test_what_is_allowed_between_sub_rooms_passes(tmp_path: Path) -> None:
    for file, text in {
        "library/check_abi.cpp": "#include <hdf5.h>",
        "plan/put.hpp": '#include "hooks/vol/objects/object.hpp"',
        "apply/put_file.cpp": '#include "hooks/vol/apply/proven.hpp"\n#include <dlfcn.h>',
        "calls/connector.cpp": '#include "hooks/vol/apply/proven.hpp"',
    }.items():
        sub_room(tmp_path, f"hooks/vol/{file}", text)
    assert problems(tmp_path) == []
