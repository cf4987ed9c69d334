# SPDX-License-Identifier: Apache-2.0
"""Scratch folders: whatever a run does, the user's files stay as they are."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from tailrace.errors import TailraceError
from tailrace.sandbox import copies, snapshot, survey
from tailrace.sandbox.home_folder import InPlace
from tailrace.sandbox.outside_files import Outside
from tailrace.sandbox.scratch import Scratch

BIG = b"x" * (survey.small_bytes + 1)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A working folder with a small file, a large one, a folder, and links."""
    folder = tmp_path / "home"
    (folder / "sub").mkdir(parents=True)
    (folder / "script.py").write_bytes(b"print()")
    (folder / "big.h5").write_bytes(BIG)
    (folder / "sub" / "other").write_bytes(b"other")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "far").write_bytes(b"far")
    (folder / "link").symlink_to("../elsewhere")
    (folder / "near").symlink_to("sub/other")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(10**18, 10**18))  # the clock of files has steps of some ms
    return folder


def scratch_of(home: Path, copies: set[str] | None = None) -> Scratch:
    root = home / "tailrace-tune" / "scratch"
    found = survey.survey(home, {home / "tailrace-tune"})
    made = Scratch(home, root, found, copies or set())
    made.fill()
    return made


def contents(folder: Path) -> dict[str, bytes]:
    ours = folder / "tailrace-tune"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ours not in path.parents
    }


def test_large_files_are_linked_to_a_copy_and_small_ones_copied(home: Path) -> None:
    run = scratch_of(home).begin()
    assert (run / "big.h5").is_symlink()
    assert (run / "big.h5").resolve() != home / "big.h5"
    assert not (run / "script.py").is_symlink()
    assert str((run / "near").readlink()) == "sub/other"
    assert (run / "link").resolve() == (home.parent / "elsewhere").resolve()
    assert contents(run) == contents(home)


def test_no_file_of_a_run_shares_its_inode_with_one_of_the_user(home: Path) -> None:
    run = scratch_of(home, {"big.h5"}).begin()
    own = {path.stat().st_ino for path in home.glob("*") if path.is_file()}
    for name in ("script.py", "big.h5", "near", "sub/other"):
        assert (run / name).stat().st_ino not in own, name
        assert os.lstat(run / name).st_nlink == 1


def test_what_a_run_does_to_its_files_alters_no_original(home: Path) -> None:
    before = contents(home)
    scratch = scratch_of(home)
    run = scratch.begin()
    (run / "script.py").write_bytes(b"changed")
    with (run / "big.h5").open("r+b") as stream:
        stream.write(b"changed")
    (run / "sub" / "other").unlink()
    (run / "new").write_bytes(b"new")
    left = scratch.end("one")
    assert contents(home) == before
    assert left.written == ["big.h5", "new", "script.py"]
    assert left.removed == ["sub/other"]
    assert (left.folder / "big.h5").read_bytes().startswith(b"changed")
    assert (left.folder / "new").read_bytes() == b"new"


def test_a_file_that_was_written_by_a_link_is_a_copy_from_then_on(home: Path) -> None:
    scratch = scratch_of(home)
    run = scratch.begin()
    with (run / "big.h5").open("r+b") as stream:
        stream.write(b"changed")
    assert scratch.inputs / "big.h5" in scratch.written()
    assert scratch.end("one").altered == ["big.h5"]
    run = scratch.begin()
    assert not (run / "big.h5").is_symlink()
    assert (run / "big.h5").read_bytes() == BIG
    with (run / "big.h5").open("r+b") as stream:
        stream.write(b"changed")
    left = scratch.end("two")
    assert (left.altered, left.written) == ([], ["big.h5"])


def test_a_file_made_beside_an_input_behind_its_link_is_a_stray(home: Path) -> None:
    scratch = scratch_of(home)
    run = scratch.begin()
    ((run / "big.h5").resolve().parent / "beside.h5").touch()
    assert scratch.end("one").strays == ["beside.h5"]
    scratch.begin()
    assert scratch.end("two").strays == []


def test_a_file_that_is_replaced_is_written_and_its_input_stays(home: Path) -> None:
    scratch = scratch_of(home)
    run = scratch.begin()
    (run / "part").write_bytes(b"new")
    (run / "part").replace(run / "big.h5")
    left = scratch.end("one")
    assert (left.written, left.altered) == (["big.h5"], [])


def test_what_python_compiles_is_no_output(home: Path) -> None:
    scratch = scratch_of(home)
    run = scratch.begin()
    (run / "__pycache__").mkdir()
    (run / "__pycache__" / "x.pyc").touch()
    assert scratch.end("one").written == []


def test_a_copy_that_a_kill_cut_short_is_made_again(home: Path) -> None:
    scratch = scratch_of(home)
    (scratch.inputs / "big.h5").write_bytes(b"x")
    (scratch.inputs / "beside").touch()
    again = scratch_of(home)
    assert again.begin().joinpath("big.h5").read_bytes() == BIG
    assert not (again.inputs / "beside").exists()


def test_version_control_is_left_out_and_environments_are_linked(home: Path) -> None:
    (home / ".git").mkdir()
    (home / ".git" / "x").touch()
    (home / "env").mkdir()
    (home / "env" / "pyvenv.cfg").touch()
    found = survey.survey(home, set())
    assert found.links["env"] == str(home / "env")
    assert not any(name.startswith((".git", "env/")) for name in found.files)


def test_files_that_are_only_read_can_be_linked(home: Path) -> None:
    found = survey.survey(home, set(), ["*.h5", "su?/", "nothing*"])
    assert found.links["big.h5"] == str(home / "big.h5")
    assert found.links["sub"] == str(home / "sub")
    assert found.notes == ["--link nothing*: nothing has that name"]


def test_too_many_files_are_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "most_files", 2)
    with pytest.raises(TailraceError, match="more than 2 files"):
        survey.survey(home, set())


def test_too_little_room_is_said_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(TailraceError, match=r"2\.0 MiB are needed.*1\.0 MiB are free"):
        survey.check_space(2 << 20, 1 << 20, tmp_path)


def test_in_place_everything_is_put_back_after_each_run(home: Path) -> None:
    before = contents(home)
    ours = {home / "tailrace-tune"}
    ground = InPlace(home, home / "tailrace-tune/scratch", survey.survey(home, ours), ours)
    ground.fill()
    assert ground.begin() == home
    (home / "big.h5").write_bytes(b"changed")
    (home / "script.py").unlink()
    (home / "made" / "deep").mkdir(parents=True)
    (home / "made" / "deep" / "new").write_bytes(b"new")
    left = ground.end("one")
    assert contents(home) == before
    assert not (home / "made").exists()
    assert (left.written, left.removed) == (["big.h5", "made/deep/new"], ["script.py"])
    assert (left.folder / "big.h5").read_bytes() == b"changed"
    ground.close()
    assert contents(home) == before


def test_in_place_what_a_killed_run_has_left_is_put_aside(home: Path) -> None:
    before = contents(home)
    ours = {home / "tailrace-tune"}
    root = home / "tailrace-tune" / "scratch"
    killed = InPlace(home, root, survey.survey(home, ours), ours)
    killed.fill()
    killed.begin()
    (home / "big.h5").write_bytes(b"changed")
    (home / "new").write_bytes(b"half")
    resumed = InPlace(home, root, survey.survey(home, ours), ours)
    resumed.fill()
    assert contents(home) == before
    assert (root / "put_aside" / "new").read_bytes() == b"half"


def test_what_the_user_may_not_read_is_linked_to(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests may run as root, who may read everything."""
    (home / "locked").mkdir()
    (home / "locked" / "x").touch()
    closed = {home / "locked", home / "big.h5"}
    monkeypatch.setattr(survey.os, "access", lambda path, _mode, **_more: path not in closed)
    found = survey.survey(home, set())
    assert {name: Path(target) for name, target in found.links.items()}.items() >= {
        ("locked", home / "locked"), ("big.h5", home / "big.h5")
    }  # fmt: skip
    assert "big.h5" not in found.files
    assert not any(name.startswith("locked") for name in [*found.files, *found.folders])
    assert sum("cannot be read by you" in note for note in found.notes) == 2


def test_nothing_is_left_beside_the_folder_of_a_run(home: Path) -> None:
    scratch = scratch_of(home)
    beside = scratch.begin().parent / "beside"
    beside.write_text("by a run that was not confined")
    scratch.begin()
    assert not beside.exists()


def test_in_place_what_runs_do_not_see_is_left_alone(home: Path) -> None:
    (home / ".git" / "refs" / "tags").mkdir(parents=True)
    (home / ".git" / "HEAD").write_text("ref")
    (home / "env" / "empty").mkdir(parents=True)
    (home / "env" / "pyvenv.cfg").touch()
    ours = {home / "tailrace-tune"}
    root = home / "tailrace-tune" / "scratch"
    killed = InPlace(home, root, survey.survey(home, ours), ours)
    killed.fill()
    killed.begin()
    resumed = InPlace(home, root, survey.survey(home, ours), ours)
    resumed.fill()
    assert (home / ".git" / "refs" / "tags").is_dir()
    assert (home / ".git" / "HEAD").read_text() == "ref"
    assert (home / "env" / "empty").is_dir()
    assert (home / "env" / "pyvenv.cfg").is_file()
    assert not resumed.put_aside.exists()


def test_in_place_what_was_put_aside_stays_in_the_end(home: Path) -> None:
    ours = {home / "tailrace-tune"}
    root = home / "tailrace-tune" / "scratch"
    ground = InPlace(home, root, survey.survey(home, ours), ours)
    ground.fill()
    ground.begin()
    (home / "new").write_bytes(b"whose?")
    ground.close()
    assert (ground.put_aside / "new").read_bytes() == b"whose?"
    assert [path.name for path in root.iterdir()] == ["put_aside"]


def test_in_place_links_to_files_stay_links(home: Path) -> None:
    far = home.parent / "elsewhere" / "far"
    (home / "to_far").symlink_to("../elsewhere/far")
    ours = {home / "tailrace-tune"}
    ground = InPlace(home, home / "tailrace-tune/scratch", survey.survey(home, ours), ours)
    ground.fill()
    ground.begin()
    (home / "to_far").write_bytes(b"changed by a run")
    (home / "near").unlink()
    (home / "near").write_bytes(b"a file now")
    left = ground.end("one")
    assert far.read_bytes() == b"far"
    assert (left.folder / "to_far").read_bytes() == b"changed by a run"
    assert left.written == ["near", "to_far"]
    assert str((home / "near").readlink()) == "sub/other"
    assert str((home / "to_far").readlink()) == "../elsewhere/far"
    assert (home / "near").read_bytes() == b"other"


def test_a_file_that_vanishes_while_a_folder_is_looked_at_is_none(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = [(str(home), [], ["gone", "script.py"])]
    monkeypatch.setattr(snapshot, "_walk", lambda *_: listed)
    assert list(snapshot.take(home)) == ["script.py"]


def test_outputs_outside_are_put_back_and_kept(tmp_path: Path) -> None:
    file, kept = tmp_path / "far.h5", tmp_path / "kept"
    file.write_bytes(b"as recorded")
    outside = Outside([file], tmp_path / "root")
    outside.save()
    file.write_bytes(b"by a run")
    assert outside.written() == [file]
    (name,) = outside.end(kept)
    assert (kept / name).read_bytes() == b"by a run"
    assert file.read_bytes() == b"as recorded"
    assert outside.written() == []


def test_a_copy_keeps_content_permissions_and_time(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_bytes(b"content" * 100_000)
    source.chmod(0o750)
    os.utime(source, ns=(10**18, 10**18))
    copies.copy_file(source, target)
    assert target.read_bytes() == source.read_bytes()
    assert copies.is_copy_of(target, source)
    assert target.stat().st_mode == source.stat().st_mode
    assert target.stat().st_ino != source.stat().st_ino


def test_a_write_of_the_same_size_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    os.utime(tmp_path / "a", ns=(10**18, 10**18))
    before = snapshot.take(tmp_path)
    (tmp_path / "a").write_bytes(b"two")
    assert snapshot.written(before, snapshot.take(tmp_path)) == ["a"]


def test_what_is_rewritten_with_its_time_set_back_is_seen(home: Path) -> None:
    scratch = scratch_of(home)
    run = scratch.begin()
    time.sleep(0.05)  # the clock of files has steps
    for name in ("script.py", "big.h5"):
        before = (run / name).stat()
        with (run / name).open("r+b") as stream:
            stream.write(b"PRINT")
        os.utime(run / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    left = scratch.end("one")
    assert (left.written, left.altered) == (["big.h5", "script.py"], ["big.h5"])
    assert scratch.begin().joinpath("big.h5").read_bytes() == BIG


def test_what_is_only_read_and_linked_to_is_not_written(home: Path) -> None:
    scratch = scratch_of(home)
    run = scratch.begin()
    time.sleep(0.05)
    assert contents(run) == contents(home)
    (run / "big.h5").resolve().open("rb").close()
    (run / "again").symlink_to("script.py")
    left = scratch.end("one")
    assert (left.written, left.altered) == (["again"], [])


@pytest.mark.parametrize("can", [True, False])
def test_copies_share_their_blocks_where_the_file_system_can(
    can: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it asks for, since not every machine has a file system that can."""
    source, target = tmp_path / "one", tmp_path / "two"
    source.write_bytes(b"content")
    asked = []

    def clone(writing: int, request: int, reading: int) -> int:
        asked.append((request, os.fstat(writing).st_ino, os.fstat(reading).st_ino))
        if not can:
            raise OSError(errno.EOPNOTSUPP, "no")
        return os.write(writing, os.pread(reading, 100, 0))

    monkeypatch.setattr(copies.fcntl, "ioctl", clone)
    assert copies.copy_file(source, target) is can
    request = 1 << 30 | 4 << 16 | 0x94 << 8 | 9  # FICLONE is _IOW(0x94, 9, int)
    assert asked == [(request, target.stat().st_ino, source.stat().st_ino)]
    assert target.read_bytes() == b"content" and not target.samefile(source)
    assert target.stat().st_mtime_ns == source.stat().st_mtime_ns
