# SPDX-License-Identifier: Apache-2.0
"""`tailrace tune` alters no file of the user, whatever the program does, and says what it was."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import h5py
import pytest
from tailrace_cli import Ran, called, tailrace

COUNTS = """
import h5py
with h5py.File({file!r}, "r+") as file:
    file.attrs["n"] = file.attrs.get("n", 0) + 1
"""
# A program that rules have something to say of, and of which two runs have nothing in common: so
# its tune ends after three runs.
DIFFERS = """
import h5py, os, numpy
with h5py.File("out.h5", "w") as file:
    data = file.create_dataset("x", (3, 524288), "f8", chunks=(3, 524288), shuffle=True)
    for number in range(3):
        data[number] = numpy.frombuffer(os.urandom(8 * 524288), "i8")
"""


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    file = tmp_path / "far" / "counter.h5"
    file.parent.mkdir()
    h5py.File(file, "w").close()
    return file


def count(file: Path) -> int:
    with h5py.File(file) as opened:
        return int(opened.attrs.get("n", 0))


def tuned(home: Path, *words: str | Path, text: str = "", code: int = 2, **env: str) -> Ran:
    if text:
        (home / "script.py").write_text(text)
        words = (*words, "--", sys.executable, "script.py")
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    ran = tailrace("tune", *words, cwd=home, timeout=120, **env).expect(code)
    ours = home / "tailrace-tune"
    files = {path for path in home.rglob("*") if path.is_file()}
    after = {path: path.read_bytes() for path in files if not path.is_relative_to(ours)}
    assert after == before
    return ran


def test_a_file_elsewhere_that_is_only_altered(home: Path, counter: Path) -> None:
    ran = tuned(home, text=COUNTS.format(file=str(counter)))
    assert count(counter) == 0
    assert f"outside its working folder: {counter}" in ran.err
    assert f"--allow-outside {counter.parent}" in ran.err


def test_its_own_folder_by_an_absolute_path(home: Path) -> None:
    h5py.File(home / "in.h5", "w").close()
    ran = tuned(home, text=COUNTS.format(file=str(home / "in.h5")))
    assert f"outside its working folder: {home}/in.h5" in ran.err
    assert "by an absolute path or a cd" in ran.err
    assert "--in-place" in ran.err


def test_a_shell_that_goes_to_the_folder(home: Path) -> None:
    ran = tuned(home, "--", "bash", "-c", f"cd {home} && echo hi >> mine.txt")
    assert f"{home}/mine.txt" in ran.err
    assert "by an absolute path or a cd" in ran.err


def test_the_name_of_the_folder_in_the_environment(home: Path) -> None:
    text = 'import os\nopen(os.environ["PWD"] + "/mine.txt", "a").write("more")'
    ran = tuned(home, "--json", text=text, code=0, PWD=str(home))
    assert ran.json["confined"] is True


@pytest.mark.parametrize("target", ["file", "folder", "nothing"])
def test_a_link_that_leads_out(home: Path, tmp_path: Path, target: str) -> None:
    far = tmp_path / "far"
    far.mkdir()
    (far / "in.txt").write_text("of the user")
    name = {"file": "link", "folder": "link/in.txt", "nothing": "link"}[target]
    leads_to = {"file": far / "in.txt", "folder": far, "nothing": far / "none"}[target]
    (home / "link").symlink_to(leads_to)
    words = ["--link", "link"] if target == "file" else []
    ran = tuned(home, *words, text=f"open({name!r}, 'a').write('more')")
    assert (far / "in.txt").read_text() == "of the user"
    assert [path.name for path in far.iterdir()] == ["in.txt"]
    assert "link in the working folder is a link to it" in ran.err


def test_what_lies_beside_the_folder_is_named(home: Path) -> None:
    (home.parent / "data").mkdir()
    h5py.File(home.parent / "data" / "in.h5", "w").close()
    ran = tuned(home, text="import h5py\nh5py.File('../data/in.h5')")
    assert "the program names ../data/in.h5, beside its working folder" in ran.err
    assert "--in-place" in ran.err
    ran = tuned(home, text="open('../out.txt', 'w')")
    assert "the program names ../out.txt, beside its working folder" in ran.err
    assert not (home.parent / "out.txt").exists()


def test_a_program_that_goes_on_without(home: Path, counter: Path) -> None:
    text = f"try:\n    open({str(counter)!r}, 'a')\nexcept OSError:\n    print('without')"
    ran = tuned(home, "--json", text=text, code=0)
    assert any(f"outside its working folder, and went on without it: {counter}"
               in note for note in ran.json["notes"])  # fmt: skip


@pytest.mark.usefixtures("ordinary")
def test_words_that_only_look_like_paths(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too long for one, or in a folder that nobody may look into."""
    closed = home.parent / "closed"
    closed.mkdir(0)
    monkeypatch.chdir(home)
    ran = called("tune", "--json", "--", "true", f"/{'x' * 300}", f"--key={closed}/file").expect(0)
    closed.chmod(0o755)
    assert ran.json["verdict"] == "nothing_to_gain"


def test_a_program_that_fails_of_itself_is_not_told_of_folders(home: Path) -> None:
    ran = tuned(home, "--", "sh", "-c", "echo > /nowhere/file", code=1)
    assert "outside" not in ran.err


def test_in_place_nothing_else_is_altered(home: Path, counter: Path) -> None:
    ran = tuned(home, "--in-place", text=COUNTS.format(file=str(counter)))
    assert count(counter) == 0
    assert f"outside its working folder: {counter}" in ran.err


def test_a_file_that_is_allowed_stays_as_the_recording_run_left_it(
    home: Path, tmp_path: Path
) -> None:
    far = tmp_path / "far"
    far.mkdir()
    (far / "counter").write_bytes(bytes(9))
    text = f"""
import mmap, os
with open({str(far / "counter")!r}, "r+b") as file:
    seen = mmap.mmap(file.fileno(), 0)
    seen[0] += 1
    seen[1:] = os.urandom(8)
open({str(far)!r} + "/new-" + os.urandom(4).hex(), "wb").write(os.urandom(100))
"""
    ran = tuned(home, "--allow-outside", far, text=text + DIFFERS, code=3)
    runs = json.loads((home / "tailrace-tune/result.json").read_text())["runs"]
    assert len(runs) >= 2
    assert (far / "counter").read_bytes()[0] == 1
    left = sorted(path.name for path in far.glob("new-*"))
    assert len(left) == 1 + len(runs)
    assert (
        f"new or changed in {far}, beside the files of the recorded run: {len(runs)} files"
        in ran.out
    )


def test_without_landlock_it_is_said_and_the_profile_is_looked_at(
    home: Path, counter: Path
) -> None:
    ran = tuned(home, text=COUNTS.format(file=str(counter)), TAILRACE_TUNE_CONFINE="off")
    assert f"outside its working folder: {counter}" in ran.err
    assert "runs are not confined" in ran.err
    ran = tuned(home, "--json", text="print(1)", code=0, TAILRACE_TUNE_CONFINE="off")
    assert ran.json["confined"] is False
    assert any("were not confined" in note for note in ran.json["notes"])


def test_without_landlock_what_is_written_beside_the_folder_is_seen(home: Path) -> None:
    ran = tuned(home, text="open('../out.txt', 'w').write('x')", TAILRACE_TUNE_CONFINE="off")
    assert "outside its working folder: " in ran.err
    assert "run/out.txt" in ran.err
    assert not (home.parent / "out.txt").exists()


@pytest.mark.parametrize(
    "change",
    ["open(P, 'w').close()", "open(P, 'a').write('x')", "open(P).close(); os.remove(P)",
     "open(P).close(); os.truncate(P, 1)", "open(P).close(); os.rename(P, P + '2')"],
)  # fmt: skip
def test_without_landlock_changes_of_every_kind_are_seen(
    home: Path, tmp_path: Path, change: str
) -> None:
    far = tmp_path / "far.bin"
    far.write_bytes(b"of the user")
    os.utime(far, (10**9, 10**9))
    text = f"import os\nP = {str(far)!r}\n{change}"
    ran = tuned(home, text=text, TAILRACE_TUNE_CONFINE="off")
    assert f"outside its working folder: {far}" in ran.err
