# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on the way: the old file is as it was, and nothing is left behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import h5py
import pytest
from own_namespace import small_disk
from repacking import contents, plan, rows, untouched
from tailrace_cli import called, environment

from tailrace.errors import ExitCode, TailraceError
from tailrace.repack import Options, publish, repack, scratch
from tailrace.repack.opening import failed

CHUNK = Options(chunks=["rows=400x20"], priced=False)


def at(step: str, act: Callable[[], None]) -> Any:
    """Meters that do something when a step has begun."""

    @contextmanager
    def meters(title: str) -> Iterator[Any]:
        def tell(_done: int, _total: int) -> None:
            if title.startswith(step):
                act()

        yield tell

    return meters


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.h5"
    rows(path)
    return path


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("step", ["copying", "comparing"])
def test_an_interrupt(file: Path, step: str) -> None:
    before = contents(file.parent)
    with pytest.raises(KeyboardInterrupt):
        repack(file, options=CHUNK, meters=at(step, interrupt))
    assert untouched(file.parent, before)
    assert repack(file, options=CHUNK).done, "nothing of the first try is in the way"


def test_the_file_changes_meanwhile(file: Path) -> None:
    def act() -> None:
        os.utime(file, ns=(1, 1))

    data = file.read_bytes()
    with pytest.raises(TailraceError) as error:
        repack(file, options=CHUNK, meters=at("comparing", act))
    assert "was changed while it was repacked" in error.value.what
    assert contents(file.parent) == {"rows.h5": data}


def test_another_file_takes_its_place_meanwhile(file: Path) -> None:
    other = file.with_name("other.h5")
    rows(other, (20, 30))
    data = other.read_bytes()

    def act() -> None:
        if other.exists():
            other.replace(file)

    with pytest.raises(TailraceError) as error:
        repack(file, options=CHUNK, meters=at("comparing", act))
    assert "was changed" in error.value.what and contents(file.parent) == {"rows.h5": data}


def test_a_copy_that_is_wrong_is_never_published(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(file.parent)
    with monkeypatch.context() as patch:
        patch.setattr("tailrace.repack.copier.copy_fixed", lambda *_: None)
        with pytest.raises(TailraceError) as error:
            repack(file, options=CHUNK)
    assert error.value.code == ExitCode.VERIFICATION_FAILED and "/rows" in error.value.what
    with monkeypatch.context() as patch:
        patch.setattr("tailrace.repack.copier.copy_attributes", lambda *_: None)
        with pytest.raises(TailraceError) as error:
            repack(file, options=CHUNK)
    assert "/rows@units" in error.value.what and untouched(file.parent, before)
    with monkeypatch.context() as patch:
        patch.setattr("tailrace.repack.layout.Change.creation", lambda _self, old: old)
        with pytest.raises(TailraceError) as error:
            repack(file, options=CHUNK)
    assert "did not get the wanted layout" in error.value.what and untouched(file.parent, before)


def test_somebody_writes_the_file(file: Path) -> None:
    """A program that holds no lock, as those with MPI-IO, and one of HDF5 that does."""
    before = contents(file.parent)
    hold = (
        "import sys, os; stream = open(sys.argv[1], 'r+b'); print(os.getpid(), flush=True); input()"
    )
    lock = hold.replace("open(sys.argv[1], 'r+b')", "__import__('h5py').File(sys.argv[1], 'r+')")
    for script, says in ((hold, "is open for writing by process"), (lock, "lock")):
        with subprocess.Popen(
            [sys.executable, "-c", script, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=environment(HDF5_USE_FILE_LOCKING=None),
        ) as other:  # fmt: skip
            assert other.stdout is not None and other.stdin is not None
            number = other.stdout.readline().strip()
            run = called("repack", file, "--chunk", "rows=400x20")
            assert run.code == 2, run.err
            assert says in run.err or f"is open for writing by process {number}" in run.err
            assert script is lock or number in run.err
            other.stdin.write("\n")
    assert {name: len(data) for name, data in contents(file.parent).items()} == {
        name: len(data) for name, data in before.items()
    }


def test_a_mark_that_somebody_writes(tmp_path: Path) -> None:
    """Files of the newer formats carry one, which a crash leaves behind."""
    script = (
        "import h5py, os, sys; file = h5py.File(sys.argv[1], 'w', libver='latest'); "
        "file['x'] = range(100); file.flush(); os._exit(0)"
    )
    file = tmp_path / "marked.h5"
    subprocess.run([sys.executable, "-c", script, file], check=True)
    before = contents(tmp_path)
    run = called("repack", file, "--chunk", "x=10").expect(2)
    assert "says that a program is writing it" in run.err and "h5clear" in run.err
    assert untouched(tmp_path, before)


def test_places_that_are_taken(file: Path) -> None:
    other = file.with_name("other.h5")
    other.write_bytes(b"mine")
    part = file.with_name("rows.h5.part")
    part.write_bytes(b"of somebody")
    before = contents(file.parent)
    for out, says in ((other, "other.h5: is there already"), (None, "rows.h5.part: is there")):
        with pytest.raises(TailraceError) as error:
            repack(file, None, out, CHUNK)
        assert says in error.value.text() and untouched(file.parent, before)
    part.unlink()
    os.link(file, file.with_name("same.h5"))
    with pytest.raises(TailraceError) as error:
        repack(file, options=CHUNK)
    assert "hard links" in error.value.what
    assert repack(file, None, file.with_name("new.h5"), CHUNK).done


def test_a_symbolic_link_stays_one(file: Path) -> None:
    folder = file.with_name("elsewhere")
    folder.mkdir()
    link = folder / "link.h5"
    link.symlink_to(file)
    assert repack(link, plan(file, chunk=[400, 25]), options=Options(priced=False)).done
    assert link.is_symlink() and not file.is_symlink()
    with h5py.File(link) as new:
        assert new["rows"].chunks == (400, 25)


def test_owner_and_attributes_of_the_file_stay(file: Path) -> None:
    file.chmod(0o604)
    if os.getuid() == 0:
        os.chown(file, 12345, 12346)
    about = file.stat()
    with suppress(OSError):  # a file system without such attributes
        os.setxattr(file, "user.note", b"keep")
    names = [os.listxattr(file)]
    repack(file, options=CHUNK)
    new = file.stat()
    assert (new.st_uid, new.st_gid, new.st_mode) == (about.st_uid, about.st_gid, about.st_mode)
    assert [os.listxattr(file)] == names and new.st_ino != about.st_ino


def test_too_little_room(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Known before any work."""
    before = contents(file.parent)
    usage = type("usage", (), {"free": 5000})
    monkeypatch.setattr(publish.shutil, "disk_usage", lambda _folder: usage)
    with pytest.raises(TailraceError) as error:
        repack(file, options=CHUNK)
    assert error.value.code == ExitCode.RUN_FAILED and "4.9 KiB are free" in error.value.what
    assert untouched(file.parent, before)


FULL = """
import shutil, sys
from pathlib import Path
from tailrace.repack import Options, publish, repack, scratch
folder = Path(sys.argv[1])
shutil.copy(sys.argv[2], folder / "rows.h5")
data = (folder / "rows.h5").read_bytes()
publish.check_space = lambda *_: None  # as when others fill the disk meanwhile
for priced in (False, True):
    try:
        repack(folder / "rows.h5", None, None, Options(
            chunks=["rows=400x20"], filters=["rows=none"], priced=priced))
    except Exception as error:
        print(error.text())
    assert [file.name for file in folder.iterdir()] == ["rows.h5"], list(folder.iterdir())
    assert (folder / "rows.h5").read_bytes() == data
print("free", shutil.disk_usage(folder).free)
"""


def test_a_full_disk(file: Path, tmp_path: Path) -> None:
    """In the middle of the copy, and of the sample; the room is free again at once."""
    disk = tmp_path / "disk"
    disk.mkdir()
    run = subprocess.run(
        [*small_disk(disk, 2 << 20), sys.executable, "-c", FULL, disk, file],
        capture_output=True, text=True, timeout=60, check=False, env=environment(),
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("could not be written: No space left on device") == 2, run.stdout
    free = int(run.stdout.split("free ")[1])
    assert free > (2 << 20) - file.stat().st_size - (256 << 10)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_no_room_is_no_damage_whoever_says_it(number: int) -> None:
    """The sample is copied without HDF5, whose texts name the call."""
    said = failed(Path("a.h5"), Path("a.h5.part"), OSError(number, os.strerror(number)))
    assert said.what.startswith("could not be written: "), said.what
    assert (said.where, said.code) == ("a.h5.part", ExitCode.RUN_FAILED)
    read = failed(Path("a.h5"), Path("a.h5.part"), OSError(errno.EIO, os.strerror(errno.EIO)))
    assert (read.where, read.code) == ("a.h5", ExitCode.VERIFICATION_FAILED)


def begun(path: Path, *words: str) -> subprocess.Popen[bytes]:
    """A command that is in the middle of the copy."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", "repack", path, *words],
        env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    until = time.monotonic() + 30
    while not path.with_name(path.name + ".part").exists():
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killed(tmp_path: Path, number: signal.Signals) -> None:
    """By Ctrl-C as if nothing had been; by SIGKILL the old file stays, and the part is named."""
    file = tmp_path / "rows.h5"
    rows(file, (3000, 2000))
    before = contents(tmp_path)
    with begun(file, "--chunk", "rows=3000x20", "--filters", "rows=deflate=2") as process:
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    if number != signal.SIGKILL:
        assert process.returncode == 130, said
        assert untouched(tmp_path, before)
        return
    assert contents(tmp_path)["rows.h5"] == before["rows.h5"]
    run = called("repack", file, "--chunk", "rows=3000x20")
    assert run.code == 2 and "rows.h5.part: is there already" in run.err
    assert "one was killed: then remove it" in run.err


IN_PRICE = """
import os, signal, sys
from pathlib import Path
from tailrace.repack import Options, price, repack

def killed(*_words):
    os.kill(os.getpid(), signal.SIGKILL)

price.measure = killed
repack(Path(sys.argv[1]), options=Options(chunks=["rows=400x20"]))
"""


def test_samples_of_a_killed_repack_are_removed_by_the_next(file: Path) -> None:
    words = [sys.executable, "-c", IN_PRICE, file]
    run = subprocess.run(words, env=environment(), capture_output=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr
    (left,) = file.parent.glob(".tailrace-repack-*")
    foreign = file.parent / ".tailrace-repack-mine"
    foreign.mkdir()
    (foreign / "notes").touch()
    for folder in (left, foreign):
        os.utime(folder, (0, 0))
    with scratch.own_folder(file.parent) as at_work:
        os.utime(at_work, (0, 0))
        said = called("repack", file, "--chunk", "rows=400x20", "--dry-run").expect(0)
        assert at_work.is_dir()
    assert f"{left}, left over from a repack that was killed, was removed" in said.out + said.err
    assert f"{foreign} seems to be left over" in said.out + said.err
    assert not left.exists()
    assert (foreign / "notes").exists()


IN_A_CALLBACK = """
import os, signal
from tailrace import interrupts

class Closing:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(9):
            pass

interrupts.install()
Closing()
try:
    interrupts.check()
except KeyboardInterrupt:
    print("raised")
"""


def test_an_interrupt_within_a_callback_is_raised_later_without_a_traceback() -> None:
    words = [sys.executable, "-c", IN_A_CALLBACK]
    run = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("raised\n", "")


def test_an_interrupt_while_the_command_is_read_in_is_told_in_a_line() -> None:
    script = (
        "import builtins, os, signal; from tailrace.cli import main; from tailrace import "
        "interrupts; interrupts.install(); old = builtins.__import__\n"
        "def reading(name, *more):\n"
        "    if name == 'tailrace.cli.app':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return old(name, *more)\n"
        "builtins.__import__ = reading; print(main.run(['doctor']))"
    )
    words = [sys.executable, "-c", script]
    run = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("130\n", "tailrace: interrupted\n")
