# SPDX-License-Identifier: Apache-2.0
"""Runs in the user's own folder: whatever they do, and whatever the user does meanwhile, it is put
back, and nothing of the user's is lost."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from grounds import ground_of
from tailrace_cli import called, environment, tailrace

from tailrace import interrupts
from tailrace.errors import TailraceError
from tailrace.sandbox import home_folder, restoration, survey
from tailrace.sandbox.home_folder import InPlace
from tailrace.tune import session

Content = dict[str, tuple[int, str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "sub" / "empty").mkdir(parents=True)
    (folder / "one").write_bytes(b"one")
    (folder / "sub" / "two").write_bytes(b"two")
    (folder / "sub" / "again").hardlink_to(folder / "sub" / "two")
    (folder / "latest").symlink_to("not-yet")
    (folder / "current").symlink_to("sub")
    os.mkfifo(folder / "pipe")
    (folder / "sub").chmod(0o750)
    return folder


def everything(home: Path) -> Content:
    """Kind, permissions and content by name, and of hard links the number of names."""
    found: Content = {}
    for path in sorted(home.rglob("*")):
        if home / "tailrace-tune" in (path, *path.parents):
            continue
        status = path.lstat()
        what = str(path.readlink()) if path.is_symlink() else ""
        if stat.S_ISREG(status.st_mode):
            what = f"{path.read_bytes()!r} {status.st_mtime_ns} {status.st_nlink}"
        found[str(path.relative_to(home))] = (status.st_mode, what)
    return found


def same_time_and_size(home: Path) -> None:
    before = (home / "one").stat()
    (home / "one").write_bytes(b"eno")
    os.utime(home / "one", ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced_by_a_folder(home: Path) -> None:
    (home / "one").unlink()
    (home / "one" / "deep").mkdir(parents=True)
    (home / "one" / "deep" / "new").touch()


def emptied(home: Path) -> None:
    (home / "sub" / "empty").rmdir()
    (home / "sub").rename(home / "bus")


def tie_cut(home: Path) -> None:
    (home / "sub" / "again").unlink()
    (home / "sub" / "again").write_bytes(b"two")


def closed(home: Path) -> None:
    (home / "made" / "deep").mkdir(parents=True)
    (home / "made" / "deep" / "new").touch()
    (home / "made" / "deep").chmod(0)
    (home / "sub").chmod(0o500)


def folder_for_a_link(home: Path) -> None:
    for name in ("latest", "current"):
        (home / name).unlink()
        (home / name).mkdir()


CHANGES: dict[str, Callable[[Path], object]] = {
    "content of the same size and time": same_time_and_size,
    "content through a hard link": lambda home: (home / "sub" / "again").write_bytes(b"2"),
    "permissions": lambda home: [(home / name).chmod(0o777) for name in ("one", "sub")],
    "a file that became a folder": replaced_by_a_folder,
    "an empty folder and a renamed one": emptied,
    "a hard link that was cut": tie_cut,
    "folders that were closed": closed,
    "links that became folders": folder_for_a_link,
    "a dangling link that was written": lambda home: (home / "latest").write_bytes(b"now there"),
    "a dangling link that was replaced": lambda home: (home / "one").replace(home / "latest"),
    "a pipe and a socket": lambda home: (os.mkfifo(home / "new"), (home / "pipe").unlink()),
    "a file that was cut": lambda home: os.truncate(home / "one", 1),
    "everything removed": lambda home: subprocess.run(
        "rm -r one sub latest current pipe", shell=True, cwd=home, check=True
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_a_run_does_is_put_back(name: str, home: Path) -> None:
    before = everything(home)
    ground = ground_of(home)
    for run in range(3):
        ground.begin()
        CHANGES[name](home)
        ground.end(str(run))
        assert everything(home) == before
    ground.close()
    assert everything(home) == before
    assert not (home / "tailrace-tune/scratch").exists()


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_a_killed_run_did_is_put_back_and_put_aside(name: str, home: Path) -> None:
    before = everything(home)
    ground_of(home).begin()
    CHANGES[name](home)
    found = survey.survey(home, {home / "tailrace-tune"})
    InPlace(home, home / "tailrace-tune/scratch", found, {home / "tailrace-tune"}).fill()
    assert everything(home) == before


@pytest.mark.usefixtures("ordinary")
def test_a_run_may_close_folders_to_its_user(home: Path) -> None:
    before = everything(home)
    ground = ground_of(home)
    for _ in range(2):
        ground.begin()
        closed(home)
        assert ground.end("one").written == ["made/deep/new"]
        assert everything(home) == before
    ground.close()
    assert everything(home) == before


@pytest.mark.usefixtures("ordinary")
def test_a_file_that_cannot_be_copied_is_refused(home: Path) -> None:
    (home / "one").chmod(0)
    ran = refused_in_place(home)
    assert "one cannot be read" in ran.what
    assert not (home / "tailrace-tune/scratch/tree").exists()


def refused_in_place(home: Path) -> TailraceError:
    with pytest.raises(TailraceError) as error:
        ground_of(home)
    return error.value


def test_a_file_that_is_linked_is_no_output_and_has_a_copy(home: Path) -> None:
    before = everything(home)
    ground = ground_of(home, ("one", "sub*", "latest"))
    ground.begin()
    (home / "one").write_bytes(b"changed")
    (home / "sub" / "two").write_bytes(b"changed")
    (home / "latest").unlink()
    (home / "latest").write_bytes(b"replaced")
    left = ground.end("one")
    assert everything(home) == before
    assert {"one", "latest", "sub/two"} <= set(left.written)
    ground.close()
    assert everything(home) == before


def test_a_tune_in_place_keeps_what_link_names(home: Path) -> None:
    before = everything(home)
    script = "open('one', 'a').write('more'); open('new', 'w'); import os; os.remove('sub/two')"
    words = ("--in-place", "--link", "one", "--", sys.executable, "-S", "-c", script)
    ran = tailrace("tune", *words, cwd=home).expect(0)
    assert everything(home) == before
    assert "in place every file is copied" in ran.err


def test_what_the_user_does_between_runs_is_put_aside_and_named(home: Path) -> None:
    before = everything(home)
    ground = ground_of(home)
    for run in range(3):
        ground.begin()
        (home / "out").write_bytes(b"of a run")
        ground.end(str(run))
    (home / "one").write_bytes(b"edited")
    (home / "notes").write_bytes(b"made")
    ground.begin()
    assert everything(home) == before
    ground.end("last")
    ground.close()
    assert ground.names_put_aside == ["notes", "one"]
    assert (ground.put_aside / "one").read_bytes() == b"edited"
    assert (ground.put_aside / "notes").read_bytes() == b"made"


def test_what_one_run_alone_has_changed_is_put_aside(home: Path) -> None:
    before = everything(home)
    ground = ground_of(home)
    for run in range(4):
        ground.begin()
        (home / f"log-{run}17.txt").write_bytes(b"of a run")
        (home / "one").write_bytes(b"of a run")
        if run == 2:
            (home / "sub" / "two").write_bytes(b"edited while it ran")
        ground.end(str(run))
    assert everything(home) == before
    assert ground.names_put_aside == ["sub/again", "sub/two"]
    assert (ground.put_aside / "sub" / "two").read_bytes() == b"edited while it ran"


def test_a_name_is_put_aside_twice(home: Path) -> None:
    ground = ground_of(home)
    for text in (b"first", b"second"):
        (home / "one").write_bytes(text)
        (home / "notes").write_bytes(text)
        ground.put_back()
    assert ground.names_put_aside == ["again-2/notes", "again-2/one", "notes", "one"]
    assert (ground.put_aside / "again-2" / "one").read_bytes() == b"second"


def test_a_file_with_a_name_elsewhere_stays_the_same_file(home: Path) -> None:
    far = home.parent / "far"
    far.hardlink_to(home / "one")
    ground = ground_of(home)
    ground.begin()
    (home / "one").write_bytes(b"changed")
    left = ground.end("one")
    assert far.samefile(home / "one")
    assert far.read_bytes() == b"one"
    assert (left.folder / "one").read_bytes() == b"changed"


def test_what_cannot_be_put_back_is_told_and_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(home)
    ground = ground_of(home)
    ground.begin()
    (home / "one").write_bytes(b"changed")

    def full(_source: Path, _target: Path) -> bool:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(restoration, "copy_file", full)
        patch.setattr(home_folder, "copy_file", full)
        with pytest.raises(TailraceError, match="could not be put back: one") as error:
            ground.put_back()
        assert "--resume" in error.value.hint
        assert ground.away() == ["one"]
        with pytest.raises(TailraceError):
            ground.close()
    assert (ground.originals / "one").read_bytes() == b"one"
    ground.close()
    assert everything(home) == before


def test_names_may_be_as_long_as_the_system_allows(home: Path) -> None:
    name = "n" * 255
    (home / name).write_bytes(b"long")
    (home / "sub" / name).hardlink_to(home / name)
    (home / name.replace("n", "l")).symlink_to("one")
    before = everything(home)
    ground = ground_of(home)
    for number in range(2):
        ground.begin()
        (home / name).unlink()
        (home / name).write_bytes(b"changed")
        (home / name.replace("n", "l")).unlink()
        (home / name.replace("n", "l")).symlink_to("two")
        ground.end(str(number))
        assert everything(home) == before


def test_a_signal_waits_until_everything_is_put_back(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(home)
    ground = ground_of(home)
    ground.begin()
    (home / "one").write_bytes(b"changed")
    copy = restoration.copy_file

    def interrupted(source: Path, target: Path) -> bool:
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            os.kill(os.getpid(), number)
        assert (home / "one").exists()
        return copy(source, target)

    monkeypatch.setattr(restoration, "copy_file", interrupted)
    old = {number: signal.getsignal(number) for number in interrupts.signals}
    try:
        interrupts.install()
        with pytest.raises(KeyboardInterrupt):
            ground.end("one")
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        interrupts.forget()
    assert everything(home) == before


LONG = """
import os, time
with open("big", "r+b") as file:
    file.write(b"changed")
open("begun", "w").close()
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_signals_again_and_again_leave_the_files_as_they_were(
    home: Path, number: signal.Signals
) -> None:
    (home / "big").write_bytes(b"x" * (64 << 20))
    before = everything(home)
    words = ["tune", "--in-place", "--", sys.executable, "-S", "-c", LONG]
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", *words], cwd=home, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (home / "begun").exists():
        assert process.poll() is None
        time.sleep(0.02)
    for _ in range(5):
        process.send_signal(number)
        time.sleep(0.1)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "as they were" in err
    assert everything(home) == before
    aside = home / "tailrace-tune/scratch/put_aside"
    assert sorted(path.name for path in aside.iterdir()) == ["begun", "big"]


def test_a_tune_on_copies_keeps_what_one_in_place_has_put_aside(home: Path) -> None:
    aside = home / "tailrace-tune/scratch/put_aside"
    aside.mkdir(parents=True)
    (aside / "notes").write_bytes(b"mine")
    tailrace("tune", "--", "true", cwd=home).expect(0)
    tailrace("tune", "--", "false", cwd=home).expect(1)
    tailrace("tune", "--in-place", "--", "true", cwd=home).expect(0)
    assert (aside / "notes").read_bytes() == b"mine"


def test_what_was_edited_after_a_killed_tune_is_put_aside_and_told(home: Path) -> None:
    (home / "big").write_bytes(b"x" * 100)
    before = everything(home)
    words = ["--in-place", "--", sys.executable, "-S", "-c", LONG]
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", "tune", *words], cwd=home, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not (home / "begun").exists():
        time.sleep(0.02)
    process.kill()
    process.wait()
    (home / "one").write_bytes(b"edited")
    assert "restores your files first" in tailrace("tune", *words, cwd=home).expect(2).err
    assert (home / "one").read_bytes() == b"edited"
    short = ["--in-place", "--resume", "--timeout", "1", *words[1:]]
    ran = tailrace("tune", *short, cwd=home).expect(1)
    assert everything(home) == before
    assert "begun" in ran.err
    aside = home / "tailrace-tune/scratch/put_aside"
    assert (aside / "one").read_bytes() == b"edited"
    assert (aside / "big").read_bytes().startswith(b"changed")


def test_what_is_not_back_is_told_with_quiet_too(home: Path) -> None:
    script = "open('one', 'w'); import shutil; shutil.rmtree('tailrace-tune/scratch/originals')"
    words = ["--in-place", "--quiet", "--", sys.executable, "-S", "-c", script]
    ran = tailrace("tune", *words, cwd=home).expect(1)
    assert "NOT put back: one" in ran.err
    assert "tailrace-tune/scratch/originals" in ran.err
    assert "also removed the copies" in " ".join(ran.err.split())


def test_too_little_room_leaves_nothing_behind(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_little(_needed: int, _free: int, folder: Path) -> None:
        survey.check_space(2, 1, folder)

    monkeypatch.setattr(session, "check_space", too_little)
    monkeypatch.chdir(home)
    ran = called("tune", "--in-place", "--", "true").expect(2)
    assert "are free" in ran.err
    assert "--resume" not in ran.err
    assert not (home / "tailrace-tune").exists()


@pytest.mark.usefixtures("ordinary")
def test_a_file_in_a_folder_that_may_not_be_written(home: Path) -> None:
    """Beyond the folder, where a link leads to: nothing can be made beside it."""
    far = home.parent / "far"
    far.mkdir()
    (far / "mine").write_bytes(b"mine")
    (home / "link").symlink_to(far / "mine")
    far.chmod(0o555)
    before = everything(home), (far / "mine").stat().st_mtime_ns
    ground = ground_of(home)
    ground.begin()
    (home / "link").write_bytes(b"of a run, and longer")
    left = ground.end("run")
    assert (left.folder / "link").read_bytes() == b"of a run, and longer"
    assert (far / "mine").read_bytes() == b"mine"
    assert (everything(home), (far / "mine").stat().st_mtime_ns) == before
    ground.close()
    far.chmod(0o755)
    assert [path.name for path in far.iterdir()] == ["mine"]
