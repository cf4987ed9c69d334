# SPDX-License-Identifier: Apache-2.0
"""At a terminal: progress on standard error, colours, Ctrl-C."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
import seism_files as files
from tailrace_cli import environment, read_to_end, tailrace


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    """Long enough (a deflated chunk at a time) to be interrupted; mostly fill values."""
    path = tmp_path / "long.h5"
    case = files.Case((1, 1, 1), (64, 256, 256), 40, "rank")
    with h5py.File(path, "w") as file:
        options = {"chunks": (1, 64, 256, 256), "compression": 1}
        file.create_dataset("chunked", case.shape, "<f4", **options)
        for name, item in files.attributes(case).items():
            file.attrs[name] = item
    return path


def at_terminal(*words: str, interrupt: bool = False) -> tuple[int, bytes]:
    """Standard error is a terminal; Ctrl-C is typed as soon as something appears on it."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", *words], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=slave, env=environment(TERM="xterm"),
    )  # fmt: skip
    os.close(slave)
    seen = b""
    for got in read_to_end(master):
        seen += got
        if interrupt:
            process.send_signal(signal.SIGINT)
            interrupt = False
    return process.wait(timeout=60), seen


def test_progress_is_on_standard_error_of_a_terminal_only(long_file: Path) -> None:
    code, seen = at_terminal("verify", str(long_file))
    assert code == 3  # nothing was ever written
    assert b"long.h5" in seen and b"iB" in seen
    assert tailrace("verify", "--show", "1", long_file).expect(3).err == ""
    code, seen = at_terminal("verify", "--quiet", str(long_file))
    assert code == 3 and seen == b""


def test_ctrl_c(long_file: Path) -> None:
    code, seen = at_terminal("verify", str(long_file), interrupt=True)
    assert code == 130
    assert seen and b"interrupted" in seen and b"Traceback" not in seen
