# SPDX-License-Identifier: Apache-2.0
"""What a program writes is compared as it was at each close, also what is gone in the end."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import h5py
import pytest
from mpi_programs import BUILD, MPIEXEC, SANITIZERS

from tailrace.sandbox.home_folder import InPlace
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune import closed_files, content
from tailrace.tune.content import Result
from tailrace.tune.measurement import Measured, Runner, Setting

PROGRAM = BUILD / "tests/bin/tune_program"


def ran(folder: Path, text: str, name: str = "run", keep: bool = True) -> Measured:
    """A run of a script in a folder with an input file."""
    home, root = folder / "home", folder / name
    home.mkdir(exist_ok=True)
    (home / "in.bin").write_bytes(b"0" * 100)
    os.utime(home / "in.bin", (10**9, 10**9))
    (home / "script.py").write_text(text)
    return measured([sys.executable, "-S", "script.py"], home, root, keep)


def measured(words: list[str], home: Path, root: Path, keep: bool = True) -> Measured:
    ground = Scratch(home, root, survey(home, set()), set())
    ground.fill()
    found = Runner(Setting(words, home, root), ground).run("run", None, 60, keep)
    assert found.outcome.code == 0
    return found


def files_of(found: Measured) -> dict[str, bytes]:
    assert found.result is not None
    return {name: path.read_bytes() for name, path in found.result.files.items()}


AGAIN = """
import os
def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
for number in range(3):
    write("again", b"%d" % number)
write("gone", b"gone")
os.remove("gone")
write("moved", b"moved")
os.rename("moved", "here")
write("same", b"same")
write("same", b"same")
write("empty", b"")
os.remove("empty")
"""


def test_what_is_written_again_removed_or_renamed_is_kept(tmp_path: Path) -> None:
    assert files_of(ran(tmp_path, AGAIN)) == {
        "again (close 1)": b"0",
        "again (close 2)": b"1",
        "again": b"2",
        "gone (close 1)": b"gone",
        "moved (close 1)": b"moved",
        "here": b"moved",
        "same": b"same",
    }


def test_what_is_written_again_with_the_same_content_is_not_kept(tmp_path: Path) -> None:
    """Whatever its bytes: else their number would depend on the clock."""
    home = tmp_path / "home"
    home.mkdir()
    text = (
        "import h5py\nfor chunks in ((2,), (3,), (6,)):\n    with h5py.File('a.h5', 'w') as file:\n"
    )
    text += "        file.create_dataset('x', data=range(6), chunks=chunks)\n"
    (home / "script.py").write_text(text)
    found = measured([sys.executable, "script.py"], home, tmp_path / "run")
    assert list(files_of(found)) == ["a.h5"]


def test_a_timed_run_copies_nothing(tmp_path: Path) -> None:
    found = ran(tmp_path, "import os\nprint(os.environ.get('LD_PRELOAD', 'none'))", keep=False)
    assert (found.left, found.notes) == (None, [])
    loaded = ran(tmp_path, "import os\nprint('posix' in os.environ['LD_PRELOAD'])", name="proof")
    assert loaded.result is not None
    assert loaded.result.stdout == b"True\n"


def test_another_content_of_a_file_that_is_gone_is_a_difference(tmp_path: Path) -> None:
    def one(name: str, gone: str) -> Result:
        text = AGAIN.replace('b"gone"', f'b"{gone}"')
        result = ran(tmp_path, text, name).result
        assert result is not None
        return result

    default, again = one("1", "gone"), one("2", "gone")
    known = content.by_itself(default, again)
    assert known.names == []
    good = content.against_default(default, one("3", "gone"), known)
    assert good.equal, good.differences
    assert (good.files_compared, good.closes_compared) == (3, 4)
    assert good.what.startswith("3 files, 4 earlier closes, ")
    bad = content.against_default(default, one("4", "GONE"), known)
    assert bad.differences == ["gone (close 1): has other bytes"]


def test_what_is_only_read_or_opened_for_nothing_is_not_copied(tmp_path: Path) -> None:
    text = """
open("in.bin", "rb").close()
open("in.bin", "r+b").close()
"""
    assert files_of(ran(tmp_path, text)) == {}


def test_who_closes_last_has_it_copied_whole(tmp_path: Path) -> None:
    """A second process writes while the first has the file open; a child that only inherits the
    descriptor closes it in the middle."""
    text = """
import os, subprocess, sys
file = os.open("both", os.O_RDWR | os.O_CREAT)
os.write(file, b"first, ")
child = os.fork()
if child == 0:
    os.close(file)
    os._exit(0)
os.waitpid(child, 0)
code = "import os; f = os.open('both', os.O_WRONLY | os.O_APPEND); os.write(f, b'second, ')"
subprocess.run([sys.executable, "-S", "-c", code + "; os.close(f)"], check=True)
os.lseek(file, 0, os.SEEK_END)
os.write(file, b"third")
os.close(file)
os.remove("both")
"""
    assert files_of(ran(tmp_path, text)) == {"both (close 1)": b"first, second, third"}


def test_a_copied_descriptor_keeps_it_open_and_streams_count_too(tmp_path: Path) -> None:
    text = """
import os
file = os.open("twice", os.O_WRONLY | os.O_CREAT)
more = os.dup(file)
os.close(file)
os.write(more, b"by the copy")
os.dup2(os.open("over", os.O_WRONLY | os.O_CREAT), more)
os.write(more, b"over")
os.remove("twice")
os.system("echo words > shell; rm shell")
import ctypes
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.fopen(b"stream", b"w"))
libc.fputs(b"text", stream)
libc.freopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.freopen(b"reopened", b"w", stream))
libc.fputs(b"other", stream)
libc.freopen(None, b"a", stream)
libc.fputs(b" text", stream)
libc.fclose(stream)
os.remove("stream")
os.remove("reopened")
"""
    assert files_of(ran(tmp_path, text)) == {
        "over": b"over",
        "reopened (close 1)": b"other text",
        "shell (close 1)": b"words\n",
        "stream (close 1)": b"text",
        "twice (close 1)": b"by the copy",
    }


def test_descriptors_that_a_program_closes_all_are_not_taken_for_others(tmp_path: Path) -> None:
    """The lock's descriptor is closed behind its back, and becomes one of the program."""
    text = """
import os
file = os.open("one", os.O_WRONLY | os.O_CREAT)
os.closerange(3, file)
os.closerange(file + 1, 64)
mine = [os.open("in.bin", os.O_RDONLY) for _ in range(4)]
os.write(file, b"one")
os.close(file)
for one in mine:
    assert os.read(one, 4) == b"0000"
"""
    assert files_of(ran(tmp_path, text)) == {"one": b"one"}


def test_many_closes_are_counted_and_said(tmp_path: Path) -> None:
    text = """
for number in range(12):
    with open("log", "a") as file:
        print(number, file=file)
"""
    found = ran(tmp_path, text)
    assert len(files_of(found)) == 9
    assert [note.split(" (")[0] for note in found.notes] == ["not compared: 4 of 12 closes of log"]
    assert found.result is not None
    known = content.by_itself(found.result, found.result)
    report = content.against_default(found.result, found.result, known)
    assert report.notes == found.notes


def test_a_program_that_takes_no_hook_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        closed_files.program_file, "why_no_preload", lambda *_: "is linked statically"
    )
    found = ran(tmp_path, AGAIN)
    assert set(files_of(found)) == {"again", "here", "same"}
    assert len(found.notes) == 1
    assert found.notes[0].startswith("not compared: files that a run removes or overwrites")
    assert found.notes[0].endswith("is linked statically)")


def test_a_file_of_two_ranks_is_copied_once_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SANITIZERS.items():
        monkeypatch.setenv(name, value)
    home = tmp_path / "home"
    home.mkdir()
    ranks = f"{' '.join(MPIEXEC)} -n 2 {PROGRAM}"
    script = f"{ranks} out.h5 ranks && rm out.h5 && {ranks} last.h5 ranks"
    found = measured(["sh", "-c", script], home, tmp_path / "run")
    assert found.result is not None
    files = found.result.files
    assert sorted(files) == ["last.h5", "out.h5 (close 1)"]
    with h5py.File(files["last.h5"]) as last, h5py.File(files["out.h5 (close 1)"]) as first:
        assert first["shared"].shape == (64, 4096)
        assert (first["shared"][:] == last["shared"][:]).all()


def test_in_place_only_what_the_program_writes_is_copied(tmp_path: Path) -> None:
    """There the notes of the connector lie below the working folder too."""
    home, root = tmp_path / "home", tmp_path / "home" / "scratch"
    home.mkdir()
    (home / "script.py").write_text(
        "import h5py, os\nwith h5py.File('a.h5', 'w') as f: f['x'] = 1\nos.remove('a.h5')\n"
    )
    ground = InPlace(home, root, survey(home, {root}), {root})
    ground.fill()
    runner = Runner(Setting([sys.executable, "script.py"], home, root), ground)
    found = runner.run("run", None, 60, keep=True)
    assert list(files_of(found)) == ["a.h5 (close 1)"]
