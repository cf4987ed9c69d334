# SPDX-License-Identifier: Apache-2.0
"""Links, hard links, and files and folders that cannot be read or written: a run in a scratch
folder finds them as it would in the user's."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tailrace.sandbox import survey
from tailrace.sandbox.scratch import Scratch

BIG = b"x" * (survey.small_bytes + 1)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "run1").mkdir(parents=True)
    (folder / "run1" / "in.h5").write_bytes(BIG)
    (folder / "b.h5").write_bytes(b"old")
    return folder


def scratch_of(home: Path, linked: tuple[str, ...] = ()) -> Scratch:
    ours = home / "tailrace-tune"
    made = Scratch(home, ours / "scratch", survey.survey(home, {ours}, linked), set())
    made.fill()
    return made


@pytest.mark.parametrize("size", [3, len(BIG)])
@pytest.mark.parametrize("how", ["relative", "absolute", "two", "hard"])
def test_what_is_written_by_one_name_is_read_by_the_other(home: Path, size: int, how: str) -> None:
    (home / "b.h5").write_bytes(b"o" * size)
    if how == "hard":
        (home / "a.h5").hardlink_to(home / "b.h5")
    else:
        (home / "between").symlink_to("b.h5")
        target = {"relative": "b.h5", "absolute": home / "b.h5", "two": "between"}[how]
        (home / "a.h5").symlink_to(target)
    scratch = scratch_of(home)
    for number in range(2):
        run = scratch.begin()
        with (run / "b.h5").open("r+b") as stream:
            stream.write(b"new")
        assert (run / "a.h5").read_bytes()[:3] == b"new"
        left = scratch.end(str(number))
        assert "b.h5" in {*left.written, *(["b.h5"] if "a.h5" in left.altered else [])}
    assert (home / "b.h5").read_bytes() == b"o" * size


def test_hard_links_are_one_file_in_a_run_and_none_of_the_users(home: Path) -> None:
    (home / "a.h5").hardlink_to(home / "b.h5")
    run = scratch_of(home).begin()
    assert (run / "a.h5").samefile(run / "b.h5")
    assert not (run / "a.h5").samefile(home / "b.h5")


def test_a_dangling_link_leads_to_what_the_run_makes(home: Path) -> None:
    (home / "latest.h5").symlink_to(home / "out.h5")
    scratch = scratch_of(home)
    run = scratch.begin()
    (run / "latest.h5").write_bytes(b"made")
    assert (run / "out.h5").read_bytes() == b"made"
    assert scratch.end("one").written == ["out.h5"]
    assert not (home / "out.h5").exists()


def test_a_link_to_a_folder_within_leads_to_the_copies(home: Path) -> None:
    (home / "current").symlink_to("run1")
    scratch = scratch_of(home)
    for _ in range(2):
        run = scratch.begin()
        with (run / "current" / "in.h5").open("r+b") as stream:
            stream.write(b"changed")
        (run / "current" / "new").touch()
        left = scratch.end("one")
        assert left.written == ["run1/in.h5", "run1/new"]
    assert (home / "run1" / "in.h5").read_bytes() == BIG
    assert [path.name for path in (home / "run1").iterdir()] == ["in.h5"]
    assert scratch.source_of("current/in.h5") == scratch.inputs / "run1" / "in.h5"


def test_a_repacked_file_is_found_by_each_of_its_names(home: Path) -> None:
    (home / "current").symlink_to("run1")
    (home / "run1" / "again.h5").hardlink_to(home / "run1" / "in.h5")
    packed = home.parent / "packed"
    packed.write_bytes(b"packed")
    scratch = scratch_of(home)
    for name in ("current/in.h5", "run1/in.h5", "run1/again.h5"):
        scratch.instead = {name: packed}
        run = scratch.begin()
        for other in ("current/in.h5", "run1/again.h5"):
            assert (run / other).read_bytes() == b"packed", (name, other)


def test_links_to_what_runs_do_not_have_lead_there(home: Path) -> None:
    (home / ".git").mkdir()
    (home / ".git" / "HEAD").write_text("ref")
    (home / "head").symlink_to(".git/HEAD")
    (home / "linked").symlink_to("b.h5")
    (home / "nowhere").symlink_to("../nowhere")
    run = scratch_of(home, ("b.h5",)).begin()
    assert (run / "head").read_text() == "ref"
    assert not (run / "head").samefile(home / "head")
    assert (run / "linked").resolve() == home / "b.h5"
    assert (run / "nowhere").is_symlink()


@pytest.mark.usefixtures("ordinary")
def test_a_run_that_leaves_closed_folders_leaves_nothing_of_them(home: Path) -> None:
    (home / "in").mkdir()
    scratch = scratch_of(home)
    for _ in range(2):
        run = scratch.begin()
        (run / "made" / "deep").mkdir(parents=True)
        (run / "made" / "deep" / "out").write_text("x")
        for folder, mode in (("made/deep", 0o555), ("made", 0o000), ("in", 0o555)):
            (run / folder).chmod(mode)
        left = scratch.end("one")
        assert left.written == ["made/deep/out"]
        assert (left.folder / "made/deep/out").read_text() == "x"
    scratch.begin()
    (scratch.folder / "in").chmod(0o000)
    scratch.close()
    assert not scratch.root.exists()
    assert stat.S_IMODE((home / "in").stat().st_mode) & 0o700 == 0o700


@pytest.mark.usefixtures("ordinary")
def test_what_cannot_be_read_is_linked_to_and_said(home: Path) -> None:
    (home / "closed").mkdir()
    (home / "secret").write_text("x")
    for name in ("closed", "secret"):
        (home / name).chmod(0)
    found = survey.survey(home, set())
    assert found.closed == ["closed", "secret"]
    assert found.notes == [
        "closed cannot be read by you: it is linked to, not copied",
        "secret cannot be read by you: it is linked to, not copied",
    ]
    run = scratch_of(home).begin()
    with pytest.raises(PermissionError):
        (run / "secret").read_text()
    (home / "closed").chmod(0o700)
