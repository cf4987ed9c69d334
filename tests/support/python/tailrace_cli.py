# SPDX-License-Identifier: Apache-2.0
"""Runs the `tailrace` command as a user does: a process of its own."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def expect(self, code: int) -> Ran:
        assert self.code == code, f"exit code {self.code}\n{self.out}\n{self.err}"
        assert "Traceback" not in self.err, self.err
        return self


def environment(**changes: str | None) -> dict[str, str]:
    """Of this process, with the package found; a change to None removes a variable."""
    found = dict(os.environ)
    if "tailrace" not in found.get("PYTHONPATH", ""):
        paths = [found.get("PYTHONPATH", ""), str(SOURCE / "python")]
        found["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    found["COLUMNS"] = "80"
    for name, value in changes.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = value
    return found


def called(*words: str | Path) -> Ran:
    """The command within this process, where a process of its own would prove nothing more."""
    from tailrace.cli.main import run

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(word) for word in words])
    return Ran(code, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Screen:
    """All that a terminal was sent, without the codes that move the cursor."""

    code: int
    text: str


def read_to_end(master: int) -> Iterator[bytes]:
    """What comes out of a terminal, until the other end is closed."""
    with suppress(OSError):  # which is how a terminal tells its end
        while got := os.read(master, 65536):
            yield got
    os.close(master)


def in_terminal(words: list[str], cwd: Path, timeout: float = 90) -> Screen:
    """Runs with all three streams on a terminal of 80 columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", *words], stdin=slave, stdout=slave, stderr=slave,
        cwd=cwd, env=environment(TERM="xterm"),
    )  # fmt: skip
    os.close(slave)
    seen = b"".join(read_to_end(master))
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode("utf-8", "replace"))
    return Screen(process.wait(timeout=timeout), text)


def tailrace(
    *words: str | Path,
    cwd: Path | None = None,
    stdin: str = "",
    timeout: float = 90,
    **changes: str | None,
) -> Ran:
    """Runs it to the end; after `timeout` seconds it is told to end, and tells its program."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tailrace", *map(str, words)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd,
        env=environment(**changes),
    )  # fmt: skip
    try:
        out, err = process.communicate(stdin, timeout)
    except BaseException:
        process.terminate()
        try:
            process.communicate(timeout=5)
        finally:
            process.kill()
        raise
    return Ran(process.returncode, out, err)
