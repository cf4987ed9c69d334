# SPDX-License-Identifier: Apache-2.0
"""bench/tune/programs.toml: which programs there are, and how one is started."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from tailrace.errors import TailraceError

folder = Path(__file__).resolve().parents[1]
table = folder / "programs.toml"
again_scale = 2.0


@dataclass(frozen=True)
class Program:
    name: str
    title: str
    command: tuple[str, ...]  # {programs}, {bin} and {kernels} are folders; {python} is Python
    cause: str  # of its slowness
    cure: str
    rules: tuple[str, ...]  # that should cure it; none where nothing is to be gained
    expected_s: float  # as it is, on the machine of the sessions
    output: str  # its option for what it writes, such as "--output out_{run}.h5"
    input: str = ""  # the same for what it reads; made beforehand by "--make-input"
    ranks: int = 1  # 1: not started by mpiexec
    again_ranks: int = 0  # of the check with another number of ranks; 0: the same
    size: str = "--scale {}"  # how it is told its size
    count: int = 0  # what a size of 1 is there, where it counts something
    tiny: float = 0.02  # the scale of the tests
    by_itself: tuple[str, ...] = ()  # files that differ from run to run: they hold times
    modules: tuple[str, ...] = ()  # of Python that it needs beside those of Tailrace
    optimal: bool = False  # nothing is to be gained: it must be left alone
    by_hand: str = ""  # its option for the cure that a person would write
    by_code: bool = False  # that cure is the program's alone: no plan and no copy can have it

    def words(
        self,
        places: Places,
        scale: float = 1.0,
        *,
        ranks: int | None = None,
        run: int = 1,
        make_input: bool = False,
        by_hand: bool = False,
    ) -> list[str]:
        """The command; `run` is the number in the names of its files."""
        words = [word.format_map(places.names()) for word in self.command]
        words += shlex.split(self.size.format(round(self.count * scale) if self.count else scale))
        for option in (self.output, self.input):
            words += shlex.split(option.format(run=f"{run:03}"))
        if by_hand:
            words.append(self.by_hand)
        if make_input:
            return [*words, "--make-input"]
        count = self.ranks if ranks is None else ranks
        return words if self.ranks == 1 else [*places.mpiexec, "-n", str(count), *words]

    def missing(self, places: Places) -> str:
        """What it needs and this machine lacks; empty: nothing."""
        absent = [name for name in self.modules if importlib.util.find_spec(name) is None]
        if absent:
            return f"the Python module {absent[0]}"
        program = self.words(places, make_input=True)[0]
        if shutil.which(program) is None:
            return f"the program {program}"
        return ""


@dataclass(frozen=True)
class Places:
    """Where what the commands name lies."""

    build: Path
    mpiexec: tuple[str, ...] = ("mpiexec",)
    python: str = sys.executable

    def names(self) -> dict[str, str]:
        return {
            "programs": str(folder / "programs"),
            "bin": str(self.build / "bench" / "tune"),
            "kernels": str(self.build / "bin"),
            "python": self.python,
        }


def environment() -> dict[str, str]:
    """That of the caller, but for what MPI asks of the administrator, and of more ranks than
    cores."""
    added = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
    }
    return os.environ | added


def read(file: Path = table) -> list[Program]:
    """All programs, in the order of the table. A key that is not known is an error."""
    known = {field.name for field in fields(Program)}
    found = []
    for entry in tomllib.loads(file.read_text(encoding="utf-8"))["program"]:
        for key in entry:
            if key not in known:
                raise TailraceError(f"{file.name}: {entry.get('name', '?')}: unknown key {key!r}")
        lists = {key: tuple(value) for key, value in entry.items() if isinstance(value, list)}
        found.append(Program(**(entry | lists)))
    names = [one.name for one in found]
    if len(set(names)) != len(names):
        raise TailraceError(f"{file.name}: two programs have one name")
    return found
