# SPDX-License-Identifier: Apache-2.0
"""Finding the C++ programs, and what they were built with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError

seism = "tailrace-seism"
limit = "tailrace-limit"
slab = "tailrace-slab"
particle = "tailrace-particle"
amr = "tailrace-amr"
history = "tailrace-history"


@dataclass(frozen=True)
class MpiLibrary:
    """The MPI library that a program is linked with. flavour: openmpi, mpich or unknown."""

    flavour: str
    path: Path


def find_program(name: str) -> Path | None:
    """In TAILRACE_BIN, on the PATH, beside this command, or in TAILRACE_BUILD_DIR."""
    for folder in _folders_before_path():
        if _runnable(folder / name):
            return folder / name
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path)
    return next(
        (folder / name for folder in _folders_after_path() if _runnable(folder / name)), None
    )


def program(name: str) -> Path:
    """Raises: exit code 4 with the remedy where the program is not there."""
    found = find_program(name)
    if found is None:
        raise TailraceError(
            f"the program {name} is not installed (it needs MPI and a C++ compiler to build)",
            where="run",
            hint=(
                "in a clone of tailrace type `make build` and `. ./env.sh`; or set TAILRACE_BIN to "
                f"the folder that holds {name}"
            ),
            code=ExitCode.CAPABILITY_MISSING,
        )
    return found


def versions(path: Path) -> dict[str, str]:
    """What `PROGRAM --version` says, as `label: value` lines; the first line is under `program`."""
    text = output_of([str(path), "--version"], timeout_s=30)
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines()):
        label, separator, value = line.partition(":")
        if separator and value.strip():
            found[label.strip()] = value.strip()
        elif number == 0 and line.strip():
            found["program"] = line.strip()
    return found


def mpi_library(path: Path) -> MpiLibrary | None:
    """The MPI library of a program, as the dynamic loader finds it; None: it has none."""
    for line in output_of(["ldd", str(path)], timeout_s=20).splitlines():
        match = re.match(r"\s*(lib(?:p?mpi|mpich)\S*\.so\S*) => (\S+)", line)
        if match is None:
            continue
        name, where = match.group(1), Path(match.group(2))
        if name.startswith("libmpi.so.") and int(name.split(".")[2]) >= 20:
            return MpiLibrary("openmpi", where)
        if name.startswith(("libmpich.so", "libmpi.so.12", "libpmpi.so")):
            return MpiLibrary("mpich", where)
        if name.startswith("libmpi.so"):
            return MpiLibrary("unknown", where)
    return None


def output_of(command: list[str], timeout_s: float = 10) -> str:
    """Standard output of a command, with nothing on its input; empty where it cannot be run."""
    try:
        run = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return run.stdout or run.stderr


def _folders_before_path() -> Iterator[Path]:
    if os.environ.get("TAILRACE_BIN"):
        yield Path(os.environ["TAILRACE_BIN"])


def _folders_after_path() -> Iterator[Path]:
    yield Path(sys.argv[0]).absolute().parent
    yield Path(sys.prefix) / "bin"
    if os.environ.get("TAILRACE_BUILD_DIR"):
        build = Path(os.environ["TAILRACE_BUILD_DIR"])
        yield from (build / "bin", build / "src" / "tools", build)


def _runnable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
