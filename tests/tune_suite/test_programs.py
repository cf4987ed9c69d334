# SPDX-License-Identifier: Apache-2.0
"""Each program of the suite, as it is and with the plan that its own profile leads to: the same
files with the same content. Sizes are tiny: what is gained is not looked at."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "bench" / "tune"))
sys.path.insert(0, str(SOURCE / "tests" / "support" / "python"))

from mpi_programs import BUILD, MPIEXEC  # noqa: E402
from own_namespace import not_run  # noqa: E402
from tailrace_cli import called  # noqa: E402
from tune_suite.contents import different  # noqa: E402
from tune_suite.programs import Places, Program, read  # noqa: E402

from tailrace.tune.touched_files import was_opened  # noqa: E402

PLACES = Places(BUILD, tuple(MPIEXEC))


def move_out(data: Path, keep: set[str], to: Path) -> None:
    """What was written."""
    to.mkdir()
    for path in list(data.iterdir()):
        if path.name not in keep:
            path.rename(to / path.name)


@pytest.mark.parametrize("program", read(), ids=lambda one: one.name)
def test_content_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Program) -> None:
    if missing := program.missing(PLACES):
        not_run(f"needs {missing}")
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.chdir(data)
    ranks = min(program.ranks, 2)
    words = program.words(PLACES, program.tiny, ranks=ranks)
    if program.input:
        made = program.words(PLACES, program.tiny, make_input=True)
        subprocess.run(made, check=True, timeout=60)
    keep = {path.name for path in data.iterdir()}
    subprocess.run(words, check=True, timeout=60, stdout=subprocess.DEVNULL)
    move_out(data, keep, tmp_path / "as_it_is")
    profile, plan = str(tmp_path / "profile.json"), str(tmp_path / "plan.json")
    called("profile", "-o", profile, "--", *words).expect(0)
    files = json.loads(Path(profile).read_text())["files"]
    assert any(map(was_opened, files)), "tune would say that no file was seen"
    move_out(data, keep, tmp_path / "profiled")
    called("advise", profile, "-o", plan).expect(0)
    called("apply", plan, "--", *words).expect(0)
    move_out(data, keep, tmp_path / "applied")
    for other in ("profiled", "applied"):
        assert different(tmp_path / "as_it_is", tmp_path / other, program.by_itself) == []
    shutil.rmtree(data)


def test_differences_are_found(tmp_path: Path) -> None:
    """The comparison itself: bytes, elements, files that are missing, and nothing at all."""
    import h5py

    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    assert different(one, other) == ["nothing was written that could be compared"]
    for folder, value in ((one, 1), (other, 2)):
        (folder / "a.bin").write_bytes(bytes([value]))
        with h5py.File(folder / "b.h5", "w") as file:
            file["x"] = [0, value]
    (other / "c.bin").write_bytes(b"")
    assert different(one, other) == [
        "c.bin: only in other", "a.bin: other bytes", "b.h5: /x[1]: 1 / 2",
    ]  # fmt: skip
    assert different(one, other, ["b.h5", "c.bin"]) == ["a.bin: other bytes"]
    (other / "a.bin").write_bytes(bytes([1]))
    (other / "c.bin").unlink()
    with h5py.File(other / "b.h5", "w", libver="latest") as file:  # other bytes, the same content
        file.create_dataset("x", data=[0, 1], chunks=(1,))
    assert different(one, other) == []
