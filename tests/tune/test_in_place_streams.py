# SPDX-License-Identifier: Apache-2.0
"""In place: programs that remove our copies too, and the files that our own words go to."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from grounds import ground_of
from tailrace_cli import environment, tailrace


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "data").write_bytes(b"data")
    (folder / "one").write_bytes(b"one")
    folder.chmod(0o755)
    return folder


def test_a_program_that_removes_the_copies_too(home: Path) -> None:
    """What is not back is never said to be."""
    remove = "import os, shutil; [shutil.rmtree(x) for x in os.listdir('.') if os.path.isdir(x)]"
    words = ["--in-place", "--", sys.executable, "-S", "-c", remove]
    ran = tailrace("tune", *words, cwd=home).expect(1)
    assert "as they were" not in ran.out + ran.err
    said = " ".join(ran.err.split())
    assert "NOT put back: sub" in said and "sub/data" in said
    assert "also removed the copies" in said


def test_where_our_own_words_go(home: Path) -> None:
    """A log in the folder, as a batch system makes one, is no change of a run's."""
    script = "open('one', 'w').write('changed')"
    with (home / "log").open("w") as log:
        log.write("before\n")
        log.flush()
        run = subprocess.run(
            [sys.executable, "-m", "tailrace", "tune", "--in-place", "--", sys.executable, "-S",
             "-c", script],
            cwd=home, env=environment(), stdout=log, stderr=log, timeout=200, check=False,
        )  # fmt: skip
    text = " ".join((home / "log").read_text().split())
    assert text.startswith("before tailrace:") and "report.html" in text, (run.returncode, text)
    assert not list(home.glob("tailrace-tune/scratch/**/log"))
    assert (home / "one").read_bytes() == b"one"


CHANGES = (
    "import time; [open(one, 'w').write('changed') for one in ('one', 'sub/data')]; time.sleep(1)"
)


def tuned(home: Path, how: str, *words: str) -> None:
    """By a shell: `how` says where its words go."""
    argv = [sys.executable, "-m", "tailrace", "tune", *words, "--", sys.executable, "-S", "-c",
            CHANGES]  # fmt: skip
    subprocess.run(
        ["bash", "-c", f"{shlex.join(argv)} {how}"], cwd=home, env=environment(), timeout=200,
        capture_output=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("how", ["2>&1 | tee log", "2>&1 | cat | tee log", "2>&1 | cat > log"])
def test_where_a_pipe_takes_our_words(home: Path, how: str) -> None:
    tuned(home, f"{how} 7<>sub/data", "--in-place")
    assert (home / "sub/data").read_bytes() == b"data"
    assert "report.html" in " ".join((home / "log").read_text().split())
    assert not list(home.glob("tailrace-tune/scratch/**/log"))


@pytest.mark.parametrize("where", [["--in-place"], []])
def test_other_places_for_our_words_when_it_goes_on(home: Path, where: list[str]) -> None:
    """One that was there before the tune began, and the one of the start that was killed."""
    (home / "log").write_text("old text")
    words = [*where, "-o", str(home.parent / "tuned")]
    argv = [sys.executable, "-m", "tailrace", "tune", *words, "--", sys.executable, "-S", "-c",
            CHANGES]  # fmt: skip
    facts = home.parent / "tuned/state/facts.jsonl"
    with (home / "first.out").open("w") as first:
        begun = subprocess.Popen(argv, cwd=home, env=environment(), stdout=first, stderr=first)
        end = time.monotonic() + 100
        while not (facts.is_file() and '"temporary"' in facts.read_text()):
            assert time.monotonic() < end and begun.poll() is None
            time.sleep(0.02)
        time.sleep(0.5)  # into its first run
        begun.kill()
        begun.wait()
    before = (home / "first.out").read_text()
    assert before
    tuned(home, "> log 2>&1", "--resume", *words)
    if where:  # a run may have changed it before, so what it was is kept
        assert (home.parent / "tuned/scratch/put_aside/log").read_text() == "old text"
    text = " ".join((home / "log").read_text().split())
    assert "report.html" in text and "old text" not in text
    assert (home / "first.out").read_text() == before
    assert (home / "one").read_bytes() == b"one"


def test_the_folder_itself_is_as_it_was(home: Path) -> None:
    (home / "other").symlink_to("one")
    os.utime(home / "other", ns=(10**18, 10**18), follow_symlinks=False)
    ground = ground_of(home)
    ground.begin()
    home.chmod(0o700)
    (home / "other").unlink()
    ground.end("run")
    assert home.stat().st_mode & 0o7777 == 0o755
    assert (home / "other").lstat().st_mtime_ns == 10**18
    ground.close()


def test_what_is_put_aside_is_no_name_of_a_file_of_the_user(home: Path) -> None:
    (home / "two").hardlink_to(home / "one")
    ground = ground_of(home)
    ground.begin()
    (home / "one").rename(home / "new")
    ground.end("run")
    aside = home / "tailrace-tune/scratch/put_aside/new"
    assert aside.read_bytes() == b"one" and not aside.samefile(home / "two")
    assert (home / "one").samefile(home / "two") and (home / "one").stat().st_nlink == 2
    ground.close()
