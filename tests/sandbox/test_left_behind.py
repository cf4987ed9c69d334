# SPDX-License-Identifier: Apache-2.0
"""A tune that is killed leaves processes behind: they are ended before anything is put back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tailrace_cli import environment

from tailrace.errors import TailraceError
from tailrace.sandbox import leftovers, processes
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.processes import Process

TUNES = """
import sys
from pathlib import Path
from tailrace.sandbox import processes
from tailrace.sandbox.supervision import Job, supervised
here = Path.cwd()
processes.adopt()
words = ["sh", "-c", sys.argv[1]]
variables = {"TMPDIR": str(here / "temporary")}
supervised(Job(words, variables, here, here / "prints", noted=here / "session"))
"""
# Two that do not hear SIGTERM; each says its number.
IN_SESSION = "(trap '' TERM; sh -c 'echo $PPID' >in_session; sleep 61; sleep 61) &"
ALONE = "setsid sh -c 'trap \"\" TERM; echo $$ >alone; sleep 61; sleep 61' &"
WITHOUT = "env -i sh -c 'echo $$ >without; sleep 61; sleep 61' &"


def text_of(file: Path) -> str:
    """As soon as somebody has written it."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if file.exists() and (text := file.read_text().strip()):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{file.name} was not begun")


def number(file: Path) -> int:
    return int(text_of(file))


def left_by_a_killed_tune(folder: Path, script: str, names: list[str]) -> list[Process]:
    words = [sys.executable, "-c", TUNES, f"{script} wait"]
    with subprocess.Popen(words, cwd=folder, env=environment()) as tune:
        found = [Process.of(number(folder / name)) for name in names]
        leader = json.loads(text_of(folder / "session"))["session"]
        tune.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while Process.of(leader).is_there() and time.monotonic() < end:
        time.sleep(0.02)  # the system ends it with the tune
    assert all(one.is_there() for one in found)
    return found


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "61"], start_new_session=True) as process:
        yield process
        process.kill()


def test_what_a_killed_tune_has_left_is_ended_when_it_goes_on(tmp_path: Path) -> None:
    left = left_by_a_killed_tune(tmp_path, f"{IN_SESSION} {ALONE}", ["in_session", "alone"])
    ledger = Ledger(tmp_path)
    ledger.note("temporary", str(tmp_path / "temporary"))
    heard: list[str] = []
    leftovers.put_right(ledger, tmp_path, heard.append)
    assert not any(one.is_there() for one in left)
    (text,) = heard
    assert text.startswith("ended what a killed run had left: ")
    assert not (tmp_path / "session").exists()


def test_what_may_be_somebody_elses_is_named(tmp_path: Path) -> None:
    """The first of its session is gone, and its environment tells nothing."""
    with subprocess.Popen(["sh", "-c", WITHOUT], cwd=tmp_path, start_new_session=True) as first:
        processes.note_session(tmp_path / "session", first.pid)
    one = Process.of(number(tmp_path / "without"))
    try:
        with pytest.raises(TailraceError, match=rf"may still write .*\b{one.pid}\b"):
            processes.end_noted(tmp_path / "session", str(tmp_path / "temporary"))
        assert one.is_there()
    finally:
        os.killpg(first.pid, signal.SIGKILL)  # the session is of this test alone


def noted(folder: Path, **other: object) -> Path:
    file = folder / "session"
    file.write_text(json.dumps({**json.loads(file.read_text()), **other}))
    return file


@pytest.mark.parametrize("other", ["start", "boot"])
def test_a_session_of_the_same_number_is_not_taken_for_it(
    tmp_path: Path, stranger: subprocess.Popen[bytes], other: str
) -> None:
    processes.note_session(tmp_path / "session", stranger.pid)
    file = noted(tmp_path, **{other: 5 if other == "start" else "another"})
    assert processes.end_noted(file, None) == []
    assert stranger.poll() is None


def test_one_that_is_still_at_work_is_let_alone(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
) -> None:
    """Where the file system has no locks that would tell."""
    processes.note_session(tmp_path / "session", stranger.pid)
    tune = Process.of(stranger.pid)
    file = noted(tmp_path, tune=[tune.pid, tune.start])
    with pytest.raises(TailraceError, match=f"is at work in this folder: process {tune.pid}"):
        processes.end_noted(file, None)
    assert stranger.poll() is None


def test_a_run_on_another_machine_is_told(tmp_path: Path) -> None:
    processes.note_session(tmp_path / "session", os.getpid())
    noted(tmp_path, boot="another", host="node7")
    heard: list[str] = []
    leftovers.put_right(Ledger(tmp_path), tmp_path, heard.append)
    assert heard == ["a run of it was at work on node7: see that no process of it is left there"]
