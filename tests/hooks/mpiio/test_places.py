# SPDX-License-Identifier: Apache-2.0
"""How the ranks of a program with MPI-IO alone go through its files: what the intents say of it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from mpi_programs import BUILD, MPIEXEC, SANITIZERS, mpi_components  # noqa: E402
from profiled import file_of, profiled  # noqa: E402

from tailrace.intent.native_calls import intents_of  # noqa: E402

PROGRAM = BUILD / "tests" / "bin" / "mpiio_places"
COMPONENTS = mpi_components()
PIECE, PIECES = 4096, 8
SAID = {
    "blocks": ("sequential", "high", "disjoint_blocks"),
    "turns": ("strided", "high", "interleaved"),
    "random": ("random", "high", "disjoint_blocks"),
    "columns": ("strided", "high", "interleaved"),
    "column_rows": ("strided", "high", "interleaved"),
    "mesh": ("strided", "medium", "interleaved"),
    "input": ("one_transfer", "high", "same_region"),
    "log": ("not known", "low", "not known"),
}


@pytest.mark.parametrize(("name", "environment"), COMPONENTS)
def test_ways_through_files(tmp_path: Path, name: str, environment: dict[str, str]) -> None:
    (tmp_path / "input").write_bytes(bytes(PIECE * PIECES))
    command = (*MPIEXEC, "-n", "4", PROGRAM, tmp_path)
    ran, profile = profiled(tmp_path, *command, **SANITIZERS, **environment)
    assert ran.code == 0, ran.err
    text = intents_of([("profile.json", json.dumps(profile))])
    files = json.loads(text)["files"]
    said = {}
    for path, file in files.items():
        order = file["order"]
        said[Path(path).name] = (order["value"], order["confidence"], file["how_shared"]["value"])
        assert file["layers"]["mpiio"]["order"]["value"] == order["value"]
    assert said == SAID
    assert files[str(tmp_path / "blocks")]["fs_size"]["bytes"] == 512 + 4 * PIECES * PIECE
    assert "strided" in files[str(tmp_path / "turns")]["words"]["how"]
    assert "interleaved" in files[str(tmp_path / "turns")]["words"]["how"]


@pytest.mark.parametrize(("name", "environment"), COMPONENTS)
def test_places_in_the_file(tmp_path: Path, name: str, environment: dict[str, str]) -> None:
    """The view's displacement, its elementary type and its gaps are in them."""
    (tmp_path / "input").write_bytes(bytes(PIECE * PIECES))
    _, profile = profiled(tmp_path, *MPIEXEC, "-n", "4", PROGRAM, tmp_path, **SANITIZERS,
                          **environment)  # fmt: skip

    def ranges(file: str, direction: str = "writes") -> list[tuple[Any, ...]]:
        listed = file_of(profile, file)["mpiio"][direction]["ranges"]
        keys = ("process", "calls", "bytes", "first_byte", "end_byte")
        return [tuple(one[key] for key in keys) for one in listed]

    block = PIECE * PIECES
    assert ranges("blocks") == [
        (rank, PIECES, block, 512 + rank * block, 512 + (rank + 1) * block) for rank in range(4)
    ]
    for file, calls in (("turns", PIECES), ("columns", 1), ("column_rows", PIECES)):
        last = (PIECES - 1) * 4 * PIECE
        assert ranges(file) == [
            (rank, calls, block, rank * PIECE, last + (rank + 1) * PIECE) for rank in range(4)
        ], file
    assert ranges("input", "reads") == [(rank, 1, block, 0, block) for rank in range(4)]
    turns = file_of(profile, "turns")["mpiio"]["writes"]
    assert turns["order"]["step"] == [4 * PIECE]
    assert turns["highest_byte"] == 4 * block - 1
    columns = file_of(profile, "columns")["mpiio"]["writes"]
    assert (columns["in_pieces"], columns.get("irregular_pieces", 0)) == (4, 0)
    assert file_of(profile, "mesh")["mpiio"]["writes"]["irregular_pieces"] == 4
    log = file_of(profile, "log")["mpiio"]["writes"]
    assert (log["placed"], log["not_placed"]) == (0, 4)
