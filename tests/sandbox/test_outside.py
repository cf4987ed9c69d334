# SPDX-License-Identifier: Apache-2.0
"""Files beyond the working folder that runs may write: what the user finds of them in the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tailrace.errors import TailraceError
from tailrace.sandbox import outside_files as module
from tailrace.sandbox.outside_files import Outside, outside_of


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    file = tmp_path / "far" / "archive.h5"
    file.parent.mkdir()
    file.write_bytes(b"as the recording run left it" * 100)
    return file


def saved(archive: Path, tmp_path: Path) -> Outside:
    one = Outside([archive], tmp_path / "root")
    (tmp_path / "root").mkdir(exist_ok=True)
    one.save()
    return one


def test_what_runs_write_is_kept_and_the_file_is_put_back(archive: Path, tmp_path: Path) -> None:
    was, mode = archive.read_bytes(), archive.stat().st_mode
    one = saved(archive, tmp_path)
    archive.write_bytes(b"of a run")
    assert one.written() == one.away() == [archive]
    (name,) = one.end(tmp_path / "kept")
    assert (tmp_path / "kept" / name).read_bytes() == b"of a run"
    assert archive.read_bytes() == was
    assert archive.stat().st_mode == mode
    assert one.away() == one.written() == []
    assert [path.name for path in archive.parent.iterdir()] == ["archive.h5"]


def test_a_copy_that_was_cut_short_never_replaces_the_file(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(source: Path, target: Path) -> bool:
        target.write_bytes(source.read_bytes()[:10])
        raise KeyboardInterrupt

    was = archive.read_bytes()
    (tmp_path / "root").mkdir()
    one = Outside([archive], tmp_path / "root")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module, "copy_file", cut)
        one.save()
    one.put_back()
    assert archive.read_bytes() == was
    again = saved(archive, tmp_path)  # --resume
    archive.write_bytes(b"of a run")
    again.put_back()
    assert archive.read_bytes() == was


def test_what_a_killed_run_left_is_not_saved_as_the_file(archive: Path, tmp_path: Path) -> None:
    was = archive.read_bytes()
    lock = archive.with_name("lock")
    one = Outside([archive, lock], tmp_path / "root")  # the lock was made and removed again
    (tmp_path / "root").mkdir()
    assert one.bytes_to_save == len(was)
    one.save()
    archive.write_bytes(b"half")
    lock.touch()
    again = outside_of({"outside": [str(archive), str(lock)]}, tmp_path / "root")
    assert again.bytes_to_save == 0
    again.save()
    again.put_back()
    assert archive.read_bytes() == was
    assert outside_of(None, tmp_path / "root").away() == []


def test_what_cannot_be_put_back_is_named_with_its_copy(archive: Path, tmp_path: Path) -> None:
    one = saved(archive, tmp_path)
    archive.unlink()
    archive.mkdir()  # a folder stands there now: nothing can be renamed over it
    (archive / "inner").touch()
    with pytest.raises(TailraceError, match=r"NOT put back: .*archive\.h5") as raised:
        one.put_back()
    assert str(tmp_path / "root" / "outside") in (raised.value.hint or "")
    assert one.away() == [archive]
    assert [path.name for path in archive.parent.iterdir()] == ["archive.h5"]


def test_names_of_one_file_stay_names_of_one(archive: Path, tmp_path: Path) -> None:
    was, other = archive.read_bytes(), archive.with_name("another name")
    other.hardlink_to(archive)
    one = saved(archive, tmp_path)
    archive.write_bytes(b"of a run" * 10_000)
    one.put_back()
    assert archive.samefile(other)
    assert (archive.read_bytes(), one.away(), one.written()) == (was, [], [])


@pytest.mark.usefixtures("ordinary")
@pytest.mark.parametrize("mode", [0o644, 0o444])
def test_a_file_in_a_folder_that_may_not_be_written(
    archive: Path, tmp_path: Path, mode: int
) -> None:
    was = archive.read_bytes()
    archive.chmod(mode)
    one = saved(archive, tmp_path)
    archive.chmod(0o644)
    archive.write_bytes(b"of a run")
    archive.chmod(mode)
    archive.parent.chmod(0o555)
    one.put_back()
    archive.parent.chmod(0o755)
    assert (archive.read_bytes(), one.away(), one.written()) == (was, [], [])
    assert archive.stat().st_mode & 0o777 == mode


def test_a_file_of_somebody_else_is_back_by_its_content(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whom we cannot ask for their file's dates."""

    def not_yours(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    was = archive.read_bytes()
    one = saved(archive, tmp_path)
    archive.write_bytes(b"of a run")
    with monkeypatch.context() as patch:
        patch.setattr(module, "_replace", not_yours)
        patch.setattr(module.shutil, "copystat", not_yours)
        one.put_back()
        assert (archive.read_bytes(), one.away()) == (was, [])
