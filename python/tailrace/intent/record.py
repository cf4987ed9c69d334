# SPDX-License-Identifier: Apache-2.0
"""Runs a program under the hooks, and makes the profile of what they left."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.run.launcher import flavour_of, launchers
from tailrace.whole_files import is_stream


@dataclass(frozen=True)
class Ended:
    """How the program ended, with the exit code that a shell gives for it; `signal_number` where a
    signal ended it."""

    code: int
    elapsed_s: float
    signal_number: int = 0

    @property
    def how(self) -> str:
        by_signal = f"signal {self.signal_number} (exit code {self.code})"
        return by_signal if self.signal_number else f"exit code {self.code}"


def with_environment(
    words: list[str], names: list[str], flavour: Callable[[str], str] = flavour_of
) -> list[str]:
    """The command, with a launcher told to hand these variables on to other nodes."""
    launcher = Path(words[0]).name
    if launcher.startswith(launchers):
        if flavour(words[0]) != "openmpi":
            return words  # those of MPICH and its kin hand on everything
        told = [name for name in names if not name.startswith("OMPI_")]  # those go by themselves
        return [words[0], *(word for name in told for word in ("-x", name)), *words[1:]]
    if launcher == "srun":
        return [_srun_word(word, names) for word in words]
    return words


def _srun_word(word: str, names: list[str]) -> str:
    key, equals, value = word.partition("=")
    if key != "--export" or not equals or "ALL" in value.split(","):
        return word
    kept = [] if value in {"", "NONE"} else [value]
    return f"--export={','.join([*kept, *names])}"


def run(words: list[str], added: dict[str, str], *, quiet_stdout: bool) -> Ended:
    """Runs to the end, in the foreground: the program has the terminal and gets its signals.

    quiet_stdout: what it prints goes to standard error, so that a result can be told apart.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            words,
            env={**os.environ, **added},
            stdout=sys.stderr.fileno() if quiet_stdout else None,
        )
    except OSError as error:
        is_absent = isinstance(error, FileNotFoundError)
        code = ExitCode.NOT_FOUND if is_absent else ExitCode.NOT_STARTED
        raise TailraceError(
            f"the program cannot be started: {error.strerror}", where=words[0], code=code,
            hint="the words after -- are run directly, without a shell",
        ) from error  # fmt: skip
    with _waiting(process):
        status = process.wait()
    elapsed = time.monotonic() - started
    return Ended(128 - status, elapsed, -status) if status < 0 else Ended(status, elapsed)


@contextmanager
def _waiting(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ctrl-C reaches the program by itself; other wishes to end are passed on, that of a terminal
    that is closed too, where nohup does not keep it away."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers[1:]:
        signal.signal(number, lambda caught, _frame: process.send_signal(caught))
    signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def spool_folder(
    output: Path, *, keep: bool, tell: Callable[[str], None], use: str = ""
) -> Iterator[Path]:
    """A folder beside the profile, which all nodes that see the profile's folder see too.

    Where no profile comes of it, what was noted down stays: the run may have taken days.
    use: said behind the folder's name then; {} is the folder.
    """
    folder = _new_folder(Path("profile.json") if is_stream(output) else output).absolute()
    try:
        yield folder
    except BaseException:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass  # the program has removed it
        except OSError:
            name = folder.name if folder.parent == _here() else str(folder)
            tell(f"the records of the processes are kept: {name}{use.format(shlex.quote(name))}")
        raise
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)


def _here() -> Path | None:
    """None: the program has removed it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def _new_folder(output: Path) -> Path:
    number = 0
    while True:
        folder = output.with_name(f"{output.name}.spools{f'-{number}' if number else ''}")
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            pass
        except OSError as error:
            raise TailraceError(
                f"no folder can be made for the records of the processes: {error.strerror}",
                where=str(folder), hint="work in a folder in which you may write",
            ) from error  # fmt: skip
        number += 1
