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
from types import FrameType

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
    """Signals that tailrace gets alone are passed on; those of a whole process group, such as
    Ctrl-C and the end of a job's step, the program has got already. What is ignored (nohup) stays
    so."""
    numbers = [one for one in _passed_on if signal.getsignal(one) is not signal.SIG_IGN]
    before = {number: signal.getsignal(number) for number in numbers}
    witness = _Witness()

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if not witness.got(number):
            process.send_signal(number)

    for number in numbers:
        signal.signal(number, pass_on)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        witness.end()


_passed_on = (
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
)  # fmt: skip


class _Witness:
    """A process of this group that does nothing and blocks all signals: what is pending there was
    sent to the group. It ends with this process."""

    _others_s = 0.1  # in which a batch system sends a signal to each process of a step

    def __init__(self) -> None:
        self._begin()

    def got(self, number: int) -> bool:
        """A new one begins: another signal of this number is told apart. Further signals wait."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _passed_on)
        time.sleep(self._others_s)
        status = Path(f"/proc/{self._id}/status").read_text(encoding="ascii", errors="replace")
        # Somebody may have killed it.
        pending = next((one for one in status.splitlines() if one.startswith("ShdPnd:")), "- 0")
        self.end()
        self._begin()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return bool(int(pending.split()[1], 16) >> (number - 1) & 1)

    def end(self) -> None:
        """Waits until it has ended."""
        os.close(self._alive)
        os.waitpid(self._id, 0)

    def _begin(self) -> None:
        until, self._alive = os.pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self._id = os.fork()
        if self._id == 0:
            os.close(self._alive)
            os.read(until, 1)  # to the end of the file: of the process that holds the other end
            os._exit(0)
        os.close(until)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
