# SPDX-License-Identifier: Apache-2.0
"""Runs are watched: they end by themselves, by their limit, or before the disk is full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tailrace_cli import environment

from tailrace import interrupts
from tailrace.errors import TailraceError
from tailrace.sandbox import supervision
from tailrace.sandbox.processes import Process
from tailrace.sandbox.supervision import Job, supervised


def job(folder: Path, script: str, **more: Any) -> Job:
    words = [sys.executable, "-S", "-c", script]
    return Job(words, more.pop("environment", {}), folder, folder / "prints", **more)


def test_a_run_that_ends_by_itself(tmp_path: Path) -> None:
    script = (
        "import os, sys; print(os.getcwd(), os.environ['X']); "
        "print('e', file=sys.stderr); sys.exit(3)"
    )
    found = supervised(job(tmp_path, script, environment={"X": "1"}, limit_s=60.0))
    assert (found.code, found.stopped) == (3, "")
    assert 0 < found.elapsed_s < 30
    assert (tmp_path / "prints/stdout").read_text() == f"{tmp_path} 1\n"
    assert (tmp_path / "prints/stderr").read_text() == "e\n"


def test_it_has_no_terminal_and_an_empty_input(tmp_path: Path) -> None:
    script = "import sys; print(repr(sys.stdin.read())); open('/dev/tty')"
    found = supervised(job(tmp_path, script))
    assert found.code == 1
    assert (tmp_path / "prints/stdout").read_text() == "''\n"


def test_its_input_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("yes")
    supervised(job(tmp_path, "print(input())", stdin=tmp_path / "in"))
    assert (tmp_path / "prints/stdout").read_text() == "yes\n"


HANGS = """
import os, signal, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import signal, time; "
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"])
open("child", "w").write(str(child.pid))
time.sleep(60)
"""


def test_a_run_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "_patience_s", 0.3)
    found = supervised(job(tmp_path, HANGS, limit_s=1.5))
    assert found.stopped == "limit"
    assert found.elapsed_s < 30
    assert "its time limit" in found.words
    assert not Process.of(int((tmp_path / "child").read_text())).is_there()


def test_a_run_is_ended_before_the_disk_is_full(tmp_path: Path) -> None:
    found = supervised(job(tmp_path, "import time; time.sleep(60)", least_free_bytes=1 << 62))
    assert found.stopped == "disk"
    assert "before the disk was full" in found.words


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("open('/dev/full', 'wb', 0).write(b'x')", "No space left on device"),
        ("import sys; sys.exit('writes: DISK QUOTA EXCEEDED' + 9000 * '.')", "Disk quota exceeded"),
    ],
)
def test_a_run_that_fails_of_a_full_disk(script: str, words: str, tmp_path: Path) -> None:
    """It need not be full any more."""
    found = supervised(job(tmp_path, script))
    assert (found.code, found.stopped) == (1, "disk")
    assert found.words == f"it failed for want of room: {words}"
    well = f"import sys; print({words!r}, file=sys.stderr)"
    assert supervised(job(tmp_path, well)).stopped == ""


def test_both_file_systems_are_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = {tmp_path: 1 << 30, tmp_path / "prints": 0}

    def disk_usage(folder: Path) -> SimpleNamespace:
        return SimpleNamespace(free=free[folder])

    monkeypatch.setattr(supervision, "_look_s", 60.0)  # only when it has ended
    monkeypatch.setattr(supervision.shutil, "disk_usage", disk_usage)
    found = supervised(job(tmp_path, "import sys; sys.exit(2)", least_free_bytes=1 << 20))
    assert found.stopped == "disk"
    assert f"less than 1.0 MiB are free in {tmp_path}/prints" in found.words


def watched(process: subprocess.Popen[bytes], folder: Path) -> str:
    """What a watch makes of it that finds its limit over."""
    watch = supervision._Watch(process, job(folder, "", limit_s=1.0), time.monotonic() - 3)
    watch.start()
    time.sleep(0.5)
    watch.finish()
    return watch.stopped


def test_one_that_has_ended_by_itself_did_not_meet_its_limit(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"], start_new_session=True)
    ended.wait()
    assert watched(ended, tmp_path) == ""
    assert watched(subprocess.Popen(["sleep", "60"], start_new_session=True), tmp_path) == "limit"


HELD = """
from pathlib import Path
from tailrace.sandbox import supervision
supervision._held_s = 0.5
here = Path.cwd()
words = ["sh", "-c", "touch began; sleep 5"]
found = supervision.supervised(supervision.Job(words, {}, here, here / "prints", 4.0))
print(found.stopped, found.was_held)
"""


def test_a_tune_that_is_stopped_takes_nothing_for_a_hang(tmp_path: Path) -> None:
    """Ctrl-Z, or a batch system: the program goes on, and nobody looks at the clock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELD], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    while not (tmp_path / "began").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGSTOP)
    time.sleep(4.5)
    process.send_signal(signal.SIGCONT)
    assert process.communicate(timeout=30)[0] == " True\n"


def test_work_in_the_background_that_meets_the_limit_is_told(tmp_path: Path) -> None:
    """As a server does that nobody stops."""
    words = ["sh", "-c", "sleep 60 &"]
    found = supervised(Job(words, {}, tmp_path, tmp_path / "prints", 0.5))
    assert (found.code, found.stopped, found.has_left) == (0, "limit", True)
    assert "what it had left in the background was ended" in found.words
    itself = supervised(job(tmp_path, "import time; time.sleep(60)", limit_s=0.5))
    assert (itself.stopped, itself.has_left) == ("limit", False)


def test_work_that_is_left_to_the_background_is_waited_for(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', "
        '\'import time; time.sleep(0.6); open("late", "w")\'])'
    )
    found = supervised(job(tmp_path, script))
    assert found.elapsed_s >= 0.6
    assert (tmp_path / "late").exists()


def test_an_interrupt_that_was_swallowed_ends_it_before_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Library:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)  # where no exception leaves

    before = {number: signal.getsignal(number) for number in interrupts.signals}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    try:
        interrupts.install()
        Library()
        with pytest.raises(KeyboardInterrupt):
            supervised(job(tmp_path, "open('ran', 'w')"))
    finally:
        interrupts.forget()
        for number, handler in before.items():
            signal.signal(number, handler)
    assert not (tmp_path / "ran").exists()


def test_an_interrupt_ends_the_run(tmp_path: Path) -> None:
    def interrupt() -> None:
        while not (tmp_path / "child").exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    script = "import os, time; open('child', 'w').write(str(os.getpid())); time.sleep(60)"
    thread = threading.Thread(target=interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            supervised(job(tmp_path, script))
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert not Process.of(int((tmp_path / "child").read_text())).is_there()


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TailraceError, match="cannot be started"):
        supervised(Job(["/nowhere/program"], {}, tmp_path, tmp_path / "prints"))


def test_a_launcher_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TailraceError, match="cannot be started") as raised:
        supervised(Job(["mpiexec", "-n", "2", "program"], {}, tmp_path, tmp_path / "prints"))
    assert "launcher of MPI programs" in raised.value.hint
    assert "tailrace doctor" in raised.value.hint


def test_death_by_a_signal_is_told(tmp_path: Path) -> None:
    found = supervised(job(tmp_path, "import os; os.kill(os.getpid(), 9)"))
    assert found.words == "it was ended by signal 9"


WAITS = """
import sys, time
from pathlib import Path
from tailrace.sandbox import processes
from tailrace.sandbox.supervision import Job, supervised
here = Path.cwd()
processes.adopt()
words = ["sh", "-c", sys.argv[1]]
found = supervised(Job(words, {}, here, here / "prints", float(sys.argv[2])))
print(found.stopped or (here / "late").exists())
"""


def adopting(folder: Path, script: str, limit_s: float) -> str:
    """A run of a process that adopts orphans, as a tune does: in one of its own."""
    words = [sys.executable, "-c", WAITS, script, str(limit_s)]
    ran = subprocess.run(
        words, cwd=folder, env=environment(), capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


def test_a_process_in_a_session_of_its_own_is_waited_for(tmp_path: Path) -> None:
    script = "(setsid sh -c '(sleep 0.6; setsid sh -c \"sleep 0.4; touch late\" &) &' &)"
    assert adopting(tmp_path, script, 60) == "True"


def test_a_process_in_a_session_of_its_own_is_ended_with_its_run(tmp_path: Path) -> None:
    script = "(setsid sh -c 'echo $$ >child; exec sleep 61' &)"
    assert adopting(tmp_path, script, 1) == "limit"
    assert not Process.of(int((tmp_path / "child").read_text())).is_there()


def test_only_what_a_run_has_started_is_ended(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, time; from tailrace.sandbox import processes; "
        "own = subprocess.Popen(['sleep', '61']); processes.adopt(); "
        "subprocess.run(['sh', '-c', '(setsid sleep 62 & echo $! >child)']); time.sleep(0.1); "
        "processes.end_all_of_ours(); print(own.poll()); own.kill()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert ran.stdout.strip() == "None"
    assert not Process.of(int((tmp_path / "child").read_text())).is_there()
