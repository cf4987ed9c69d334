# SPDX-License-Identifier: Apache-2.0
"""The arrows between the rooms hold, and the check sees each way of breaking them."""

import os
from pathlib import Path

import pytest
from arrows import problems

ROOT = Path(os.environ["TAILRACE_SOURCE_DIR"])


def test_no_arrow_points_back() -> None:
    assert problems(ROOT) == []


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [
        ("core/a.hpp", '#include "comm/comm.hpp"', "core may not include comm: it sees nothing"),
        ("comm/a.hpp", '#include "kernels/k.hpp"', "comm may not include kernels"),
        ("hooks/posix/a.cpp", '#include "formats/f.hpp"', "hooks may not include formats"),
        ("kernels/seism/a.cpp", "#include <mpi.h>", "<mpi.h> is confined to comm, hooks"),
        ("formats/posix/a.cpp", "#  include <hdf5.h>", "<hdf5.h> is confined to formats/hdf5"),
        ("formats/posix/a.cpp", '#include "../comm.hpp"', "written from src/"),
        ("tools/a.cpp", "#include <doctest/doctest.h>", "confined to the tests"),
        ("attic/a.cpp", "int a;", "not in the list of rooms"),
    ],
)
def test_each_breach_is_seen(tmp_path: Path, file: str, line: str, text: str) -> None:
    for header in ("comm/comm.hpp", "kernels/k.hpp", "formats/f.hpp", "comm.hpp"):
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
