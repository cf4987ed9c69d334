# SPDX-License-Identifier: Apache-2.0
"""A run is fed, listened to, interrupted and waited for."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tailrace.run import execute as room
from tailrace.run import fresh
from tailrace.run.execute import execute
from tailrace.run.launcher import Launch
from tailrace.run.noise import forward_without_banners
from tailrace.run.variant import Variant

FRAME = "-" * 74 + "\n"
EXIT_BANNER = [
    FRAME, "Primary job  terminated normally, but 1 process returned\n",
    "a non-zero exit code. Per user-direction, the job has been aborted.\n", FRAME,
    FRAME,
    "mpiexec detected that one or more processes exited with non-zero status, thus causing\n",
    "the job to be terminated. The first process to do so was:\n", "\n", "  Exit code:    2\n",
    FRAME,
]  # fmt: skip
SIGNAL_BANNER = [FRAME, "mpiexec noticed that process rank 0 exited on signal 11.\n", FRAME]


def script(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(("given", "kept"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (77, 1)])
def test_exit_codes_of_ours_pass_and_others_are_1(given: int, kept: int) -> None:
    ended = execute(script(f"raise SystemExit({given})"), stdin=None, environment={})
    assert ended.code == kept


def test_a_killed_program_is_a_failed_run() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert execute(script(code), stdin=None, environment={}).code == 1


def test_input_goes_through_and_lines_come_back() -> None:
    lines: list[str] = []
    text = "".join(f"line {number}\n" for number in range(20000))  # more than a pipe holds
    code = "import os, sys; sys.stdout.write(sys.stdin.read() + os.environ['X'])"
    ended = execute(script(code), stdin=text.encode(), environment={"X": "end"}, line=lines.append)
    assert ended.code == 0 and lines == [*text.splitlines(), "end"]


def test_bytes_go_through_as_they_are(tmp_path: Path) -> None:
    data = b"caf\xe9 \xff\x00\r\n"
    code = f"import sys; open({str(tmp_path / 'got')!r}, 'wb').write(sys.stdin.buffer.read())"
    assert execute(script(code), stdin=data, environment={}).code == 0
    assert (tmp_path / "got").read_bytes() == data


def test_input_that_nobody_reads_does_not_block() -> None:
    assert execute(script("raise SystemExit(2)"), stdin=b"x" * 1_000_000, environment={}).code == 2


def interrupt_after(seconds: float, number: int) -> None:
    thread = threading.Timer(seconds, os.kill, (os.getpid(), number))
    thread.daemon = True
    thread.start()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_are_passed_on_and_waited_for(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    mark = tmp_path / "cleaned"
    program = (
        "import pathlib, signal, sys, time\n"
        "def end(*_):\n"
        "    time.sleep(0.3)\n"
        f"    pathlib.Path({str(mark)!r}).write_text('yes')\n"
        "    sys.exit(1)\n"
        "for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, end)\n"
        "time.sleep(60)\n"
    )
    interrupt_after(1.0, number)
    ended = execute(script(program), stdin=None, environment={})
    assert (ended.code, ended.signal_number) == (code, number)
    assert mark.read_text() == "yes" and ended.elapsed_s < room._patience_s
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_run_ends_with_a_command_that_is_killed(tmp_path: Path) -> None:
    """SIGKILL leaves no time to pass anything on: the system does it."""
    mark = tmp_path / "mark"
    program = (
        "import os, pathlib, signal, sys, time\n"
        f"mark = pathlib.Path({str(mark)!r})\n"
        "def end(number, _): mark.write_text(f'signal {number}'); sys.exit(1)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "mark.write_text(f'began {os.getpid()}')\n"
        "time.sleep(60)\n"
    )
    command = (
        "from tailrace.run.execute import execute\n"
        f"execute([{sys.executable!r}, '-c', {program!r}], stdin=None, environment={{}})"
    )
    python = str(Path(room.__file__).parents[2])
    process = subprocess.Popen(script(command), env={**os.environ, "PYTHONPATH": python})
    wait_for(mark, "began")
    process.kill()
    process.wait()
    wait_for(mark, f"signal {signal.SIGTERM}")


def wait_for(file: Path, text: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not (file.exists() and text in file.read_text()):
        assert time.monotonic() < end, f"no {text!r} within {seconds} s"
        time.sleep(0.05)


def test_a_signal_while_the_program_is_made_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = subprocess.Popen

    def make(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = made(*arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return process

    monkeypatch.setattr(room.subprocess, "Popen", make)
    program = "import sys, time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: sys.exit(7)"
    ended = execute(script(program), stdin=None, environment={})
    assert (ended.code, ended.signal_number) == (130, signal.SIGINT) and ended.elapsed_s < 30


@pytest.mark.parametrize("when", ["settle", "execute", "rmtree"])
def test_an_interrupt_at_any_time_leaves_no_folder(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[bool] = []
    removed = shutil.rmtree

    def interrupted(*_: object, **__: object) -> None:
        there.append(any(tmp_path.iterdir()))
        monkeypatch.setattr(fresh.shutil, "rmtree", removed)
        raise KeyboardInterrupt

    monkeypatch.setattr(fresh.shutil if when == "rmtree" else fresh, when, interrupted)
    variant = Variant([], tmp_path / "f", Launch([]))
    with pytest.raises(KeyboardInterrupt):
        fresh.run_fresh(Path("/bin/true"), variant, fresh.Place("c", "a", 1), tmp_path / "r")
    assert there == [True] and list(tmp_path.iterdir()) == []


def test_who_does_not_listen_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_patience_s", 0.3)
    program = (
        "import signal, time\n"
        "for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n"
        "time.sleep(60)\n"
    )
    started = time.monotonic()
    interrupt_after(1.0, signal.SIGINT)
    assert execute(script(program), stdin=None, environment={}).code == 130
    assert time.monotonic() - started < 30


def test_banners_that_repeat_an_exit_code_are_dropped() -> None:
    said: list[str] = []
    lines = ["tailrace: error: x\n", *EXIT_BANNER, "after\n", *SIGNAL_BANNER]
    forward_without_banners(io.StringIO("".join(lines)), said.append)
    assert said == ["tailrace: error: x\n", "after\n", *SIGNAL_BANNER]


def test_what_is_said_within_a_banner_is_passed_on() -> None:
    ours = ["tailrace: error: y\n", "       hint: z\n", "tailrace-seism: note\n"]
    for place in range(1, len(EXIT_BANNER)):
        said: list[str] = []
        lines = [*EXIT_BANNER[:place], *ours, *EXIT_BANNER[place:], "       hint: after\n"]
        forward_without_banners(io.StringIO("".join(lines)), said.append)
        assert said == [*ours, "       hint: after\n"]
