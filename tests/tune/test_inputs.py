# SPDX-License-Identifier: Apache-2.0
"""Inputs are in the page cache before each run, or out of it, wherever they lie."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from tailrace.sandbox.home_folder import InPlace
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune.inputs import Inputs

Layers = dict[str, Any]

READ: Layers = {"posix": {"opens": 1, "reads": {"calls": 1, "bytes": 5}}}
WRITTEN: Layers = {"posix": {"opens": 1, "writes": {"calls": 1, "bytes": 5}}}
OF_HDF5: Layers = {"hdf5": {"opens": 1, "read_only_opens": 1}}
UPDATED: Layers = {
    "hdf5": {"opens": 1, "read_only_opens": 0},
    "datasets": [{"reads": {"calls": 2}, "writes": {"calls": 1}}],
}


def profile(files: dict[str, Layers]) -> dict[str, Any]:
    return {"files": [{"path": path, **layers} for path, layers in files.items()]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with files, a link to a folder and one to a file elsewhere; more is beside it."""
    folder, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    for made in (folder, elsewhere):
        made.mkdir()
    names = ("home/in.h5", "home/not_read.h5", "home/linked.h5", "elsewhere/far.h5", "named.h5",
             "updated.h5", "written.h5")  # fmt: skip
    for name in names:
        (tmp_path / name).write_bytes(b"12345")
    (folder / "there").symlink_to("../elsewhere")
    (folder / "alias.h5").symlink_to("../elsewhere/far.h5")
    return folder


def scratch_of(home: Path, *linked: str) -> Scratch:
    ours = home / "tailrace-tune"
    made = Scratch(home, ours / "scratch", survey(home, {ours}, linked), set())
    made.fill()
    return made


def test_what_no_run_has_a_copy_of_is_an_input_too(home: Path) -> None:
    scratch, beside = scratch_of(home, "linked.h5"), home.parent
    inputs = Inputs(scratch, home, is_cold=True)
    run = scratch.begin()
    assert {path.name for path in inputs.files()} == {
        "in.h5", "not_read.h5", "alias.h5", "linked.h5"
    }  # fmt: skip
    inputs.know(
        profile({
            f"{home}/in.h5": OF_HDF5, f"{home}/linked.h5": OF_HDF5,
            f"{beside}/elsewhere/far.h5": OF_HDF5, f"{beside}/named.h5": READ,
            f"{beside}/updated.h5": UPDATED, f"{beside}/written.h5": WRITTEN,
            f"{beside}/gone.h5": READ, "/proc/self/status": READ, "/dev/zero": READ,
        })
    )  # fmt: skip
    assert inputs.files() == [
        run / "in.h5", run / "linked.h5", beside / "elsewhere/far.h5", beside / "named.h5",
        beside / "updated.h5",
    ]  # fmt: skip


def test_in_place_a_link_leads_to_an_input_elsewhere(home: Path) -> None:
    ours = home / "tailrace-tune"
    ground = InPlace(home, ours / "scratch", survey(home, {ours}), {ours})
    inputs = Inputs(ground, home, is_cold=False)
    far = home.parent / "elsewhere/far.h5"
    inputs.know(profile({str(home / "in.h5"): OF_HDF5, str(far): OF_HDF5}))
    assert inputs.files() == [home / "in.h5", far]
    inputs.prepare()
    assert inputs.notes == []


@pytest.mark.usefixtures("ordinary")
def test_what_is_not_cold_is_said(home: Path) -> None:
    closed = home.parent / "named.h5"
    closed.chmod(0)
    scratch = scratch_of(home)
    scratch.begin()
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as in_memory:
        seen = profile({str(home / "in.h5"): READ, str(closed): READ, in_memory.name: READ})
        for is_cold in (True, False):
            inputs = Inputs(scratch, home, is_cold=is_cold)
            inputs.know(seen)
            for _ in range(2):
                inputs.prepare()
            notes = " ".join(inputs.notes)
            assert notes.startswith("not put out of the page cache") is is_cold
            assert (str(closed) in notes, in_memory.name in notes) == (is_cold, is_cold)


def test_a_repacked_copy_of_a_linked_file_is_the_input_in_its_place(home: Path) -> None:
    scratch = scratch_of(home, "linked.h5")
    inputs = Inputs(scratch, home, is_cold=True)
    inputs.know(profile({f"{home}/linked.h5": OF_HDF5}))
    scratch.repacked.mkdir(parents=True)
    (scratch.repacked / "linked.h5").write_bytes(b"repacked")
    for there in (scratch.repacked / "linked.h5", home / "linked.h5"):
        scratch.instead = {} if there.parent == home else {"linked.h5": there}
        scratch.begin()
        assert [path.resolve() for path in inputs.files()] == [there.resolve()]


def test_one_file_that_does_not_fit_keeps_no_other_out_of_the_page_cache(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"large.h5": 6, "small.h5": 2, "next.h5": 3, "last.h5": 1}
    for name, size in sizes.items():
        (home.parent / name).write_bytes(b"x" * size)
    # Half of it is ours.
    monkeypatch.setattr("tailrace.tune.inputs.meminfo_bytes", lambda _name: 10)
    scratch = scratch_of(home)
    scratch.begin()
    inputs = Inputs(scratch, home, is_cold=False)
    inputs.know(profile({f"{home.parent}/{name}": READ for name in sizes}))
    inputs.prepare()
    (note,) = inputs.notes
    assert note.startswith("not read into the page cache before each run, for want of memory: ")
    named = {name for name in sizes if f"{home.parent}/{name}" in note}
    assert named == {"large.h5", "last.h5"}
