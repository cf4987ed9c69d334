# SPDX-License-Identifier: Apache-2.0
"""The proof in a plan: the run that its collective settings were seen to work in, and whether a
command is that run once more. `tune` writes it; `apply` compares."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xxhash

from tailrace.errors import TailraceError
from tailrace.intent.program_file import is_compiled
from tailrace.readable import is_readable, readable
from tailrace.run.launcher import launchers
from tailrace.run.ranks import ranks_of
from tailrace.units import plural

Document = dict[str, Any]

_most_hashed_bytes = 256 << 20  # of larger files the time of the last change has to do
variable = "TAILRACE_PROVEN"


# Beginnings of the names of variables that change what MPI and the libraries of formats do.
_prefixes = ("OMPI_MCA_", "MPICH_", "MPIR_CVAR_", "I_MPI_", "ROMIO_", "HDF5_", "H5FD_", "NC_",
             "PNETCDF_", "LD_PRELOAD", "LD_LIBRARY_PATH")  # fmt: skip
# What tailrace and its own launchers set themselves.
_ours = {"HDF5_PLUGIN_PATH", "HDF5_VOL_CONNECTOR"}


def files_of(command: Sequence[str], more: Sequence[Path] = ()) -> list[Document]:
    """The files that a command names: launcher, program, script, inputs (also `key=file`), the
    shared libraries of its programs, and `more` that the run reads. To be asked before the run:
    what it changes is no input."""
    words = dict.fromkeys([*command, *map(str, more)])
    named = {word: path for word in words if (path := _found(word))}
    libraries = {name: Path(name) for path in named.values() for name in _libraries(path)}
    return [_state(word, path) for word, path in (named | libraries).items()]


def changed(before: Sequence[Document], now: Sequence[Document]) -> list[str]:
    """Names of files that are new, gone, or others, by what files_of() gave and gives now."""
    was, found = ({one["name"]: one for one in files} for files in (before, now))
    return sorted(name for name in was.keys() | found.keys() if was.get(name) != found.get(name))


def environment_of_run() -> dict[str, str]:
    """The variables that change what MPI and the libraries of formats do, as they are now."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(_prefixes) and name not in _ours
    }


def of_run(
    plan: Document, command: Sequence[str], before: list[Document], profile: Document
) -> Document:
    """The proof for a plan, after a run of the command with it went well.

    before: what files_of() gave before the run. profile: of that run.
    """
    run = profile["run"]
    proof: Document = {
        "plan": plan["hash"],
        "argv": list(command),
        "files": [one for one in before if _differs(one) == ""],
        "environment": environment_of_run(),
    }
    if "ranks" in run:
        proof["ranks"] = run["ranks"]
    for key in ("hdf5_version", "mpi_version"):
        versions = {process[key] for process in run["processes"] if key in process}
        if len(versions) > 1 or any(", " in version for version in versions):
            raise TailraceError(
                f"its processes have several libraries: {', '.join(sorted(versions))}",
                where="proof", hint="collective settings are only proven for one HDF5 and one MPI",
            )  # fmt: skip
        if versions:
            proof[key] = versions.pop()
    _check_it_can_be_written(proof)
    return proof


def _check_it_can_be_written(proof: Document) -> None:
    """A word that is escaped would not be the word of the command that it is compared with."""
    files = (one["name"] for one in proof["files"])
    for text in (*proof["argv"], *files, *proof["environment"].values()):
        if not is_readable(text):
            raise TailraceError(
                f"{readable(text)} is not UTF-8, which a plan has to be",
                where="proof", hint="rename it: collective settings are only proven by name",
            )  # fmt: skip


def differences(plan: Document, command: Sequence[str]) -> list[str]:
    """In what a command is not the run of the plan's proof. The versions of HDF5 and MPI, and the
    ranks of each file, are left to the connector, which sees them; variables to why_not_seen()."""
    proof = plan["proof"]
    found = []
    if proof["plan"] != plan.get("hash"):
        found.append("the settings of the plan have been changed since")
    found += _other_words(proof["argv"], list(command))
    found += [why for one in proof["files"] if (why := _differs(one))]
    if "environment" in proof:
        found += _other_variables(proof["environment"], environment_of_run())
    return found


def why_not_seen(
    plan: Document, command: Sequence[str], given: Mapping[str, str] = os.environ
) -> str:
    """Why nobody can see, before a run that differences() finds nothing in, that it has the ranks
    and the MPI of the proof. Settings wait for the hooks, which see them; variables cannot."""
    proof = plan["proof"]
    proven, found = proof.get("ranks"), ranks_of(command, given)
    if found is None or proven is None:
        return (
            "nothing tells how many ranks the run will have: name them in the launcher's words "
            f"(mpiexec -n {proven or 'RANKS'}), for tailrace tune too"
        )
    if found != proven:
        return f"the run has {plural(found, 'rank')}, and the proven one had {proven}"
    names = [Path(one["name"]).name for one in proof["files"]]
    if any(name.startswith(("libmpi", *launchers)) for name in names):
        return ""  # and it is as it was
    return (
        f"nothing tells that its MPI is {proof.get('mpi_version', 'that of the proven run')}: the "
        "program is not linked with it, and the launcher is none of its own"
    )


def environment(plan: Document) -> Mapping[str, str]:
    """What tells the hooks the versions of the proven run; of one without either nothing collective
    is proven."""
    proof = plan["proof"]
    mpi = [proof["mpi_version"]] if "mpi_version" in proof else []
    return {variable: ";".join([proof.get("hdf5_version", ""), *mpi]) or ";"}


def _other_words(proven: list[str], given: list[str]) -> list[str]:
    for number, (was, now) in enumerate(zip(proven, given, strict=False), start=1):
        if was != now:
            return [f'word {number} of the command is "{now}" and was "{was}"']
    if len(proven) != len(given):
        return [f"the command has {len(given)} words and had {len(proven)}"]
    return []


def _other_variables(proven: dict[str, str], now: dict[str, str]) -> list[str]:
    def said(value: str | None) -> str:
        return "not set" if value is None else f'"{value}"'

    return [
        f"{name} is {said(now.get(name))} and was {said(proven.get(name))}"
        for name in sorted(proven.keys() | now.keys())
        if proven.get(name) != now.get(name)
    ]


def _libraries(program: Path) -> list[str]:
    """The shared libraries that the loader finds for a program; none for what is no program."""
    if not is_compiled(program):
        return []
    try:
        # The loader lists them and runs nothing of the program.
        ran = subprocess.run(
            ["ldd", program], check=False, capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    words = [word for line in ran.stdout.splitlines() for word in line.split()]
    return [word for word in words if word.startswith("/")]


def _found(word: str) -> Path | None:
    """The file that a word of a command stands for."""
    for name in (word, word.partition("=")[2]):
        try:
            if name and Path(name).is_file():
                return Path(name)
        except OSError:  # a word that is too long for a path
            return None
    program = shutil.which(word) if "/" not in word else None
    return Path(program) if program else None


def _state(word: str, path: Path) -> Document:
    status = path.stat()
    state: Document = {"name": word, "bytes": status.st_size}
    if status.st_size > _most_hashed_bytes:
        return {**state, "modified_ns": status.st_mtime_ns}
    with path.open("rb") as file:
        return {**state, "hash": hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()}


def _differs(proven: Document) -> str:
    """What has become of a file, as the end of a sentence; "": it is as it was."""
    name = proven["name"]
    path = _found(name)
    if path is None:
        return f"{name} does not exist any more"
    if path.stat().st_size != proven["bytes"]:
        return f"{name} has {path.stat().st_size} bytes and had {proven['bytes']}"
    now = _state(name, path)
    if now.get("hash") != proven.get("hash") or now.get("modified_ns") != proven.get("modified_ns"):
        return f"{name} has been changed"
    return ""
