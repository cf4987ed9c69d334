# SPDX-License-Identifier: Apache-2.0
"""The MPI launcher that fits a program, and how it is called here."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.run.programs import MpiLibrary, output_of

# `srun -c 2` is no number of ranks; `mpiexec -c 2` is one.
_rank_option = re.compile(r"(--?(?:n|np|ntasks)|-c)(?:=?(\d+))?")
_srun_rank_option = re.compile(r"(-n|--ntasks)(?:=?(\d+))?")
_root_settings = {
    "openmpi": (
        "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
        "PRTE_ALLOW_RUN_AS_ROOT",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",
    )
}

# Those that start the ranks themselves, and those whose daemons do.
launchers = ("mpiexec", "mpirun", "orterun", "prterun")
by_daemons = ("srun", "jsrun", "aprun", "flux")


@dataclass(frozen=True)
class Launch:
    """The words before the program, what is added to the environment, and what to tell the user."""

    words: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    open_mpi: bool = False  # an mpiexec of Open MPI
    ranks: int = 1


def launch_for(
    mpi: MpiLibrary | None,
    ranks: int,
    given: str = "",
    environment: Mapping[str, str] = os.environ,
) -> Launch:
    """The launcher that was given, srun inside a Slurm job, or the mpiexec of the program's MPI."""
    flavour = mpi.flavour if mpi else "unknown"
    if given:
        words = _given_words(given)
    elif _slurm_fits(mpi, environment):
        words = ["srun", *(["--mpi=pmix"] if flavour == "openmpi" else [])]
    else:
        words = [_mpiexec(mpi)]
    notes: list[str] = []
    is_mpiexec = Path(words[0]).name.startswith(("mpiexec", "mpirun"))
    words, has_ranks = _with_ranks_apart(words, is_mpiexec)
    if not has_ranks:
        words += ["-n", str(ranks)]
    added: dict[str, str] = {}
    if flavour == "openmpi" and is_mpiexec:
        if not given and ranks > cores():
            words.append("--oversubscribe")
            notes.append(f"{ranks} ranks on {cores()} cores: --oversubscribe is added")
        if os.geteuid() == 0:
            added = {key: "1" for key in _root_settings[flavour] if key not in environment}
            if added:
                notes.append(
                    "running as root: Open MPI is told to allow it (OMPI_ALLOW_RUN_AS_ROOT)"
                )
    return Launch(words, added, notes, flavour == "openmpi" and is_mpiexec, ranks)


def cores() -> int:
    """Cores that this process may use; Open MPI counts cores, not hardware threads."""
    try:
        allowed = os.sched_getaffinity(0)
    except OSError:
        return os.cpu_count() or 1
    found = set()
    for cpu in allowed:
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            names = ("physical_package_id", "core_id")
            found.add(tuple((topology / name).read_text().strip() for name in names))
        except OSError:
            found.add((str(cpu),))
    return max(1, len(found))


def flavour_of(launcher: str, run: Callable[[list[str]], str] = output_of) -> str:
    """Which MPI a launcher belongs to, as it says itself."""
    text = run([launcher, "--version"])
    if any(name in text for name in ("Open MPI", "OpenRTE", "PRRTE")):
        return "openmpi"
    if any(name in text for name in ("HYDRA", "Hydra", "MPICH", "Intel(R) MPI")):
        return "mpich"
    return "unknown"


def candidates(mpi: MpiLibrary | None) -> list[str]:
    """Launchers in the order of preference: the library's own prefix first."""
    flavour = mpi.flavour if mpi else "unknown"
    names = ["mpiexec", "mpirun"]
    if flavour in {"openmpi", "mpich"}:
        names = [f"mpiexec.{flavour}", "mpiexec", f"mpirun.{flavour}", "mpirun"]
    found = []
    if mpi is not None:
        prefix = mpi.path.resolve().parent.parent
        for folder in (prefix / "bin", prefix.parent / "bin"):
            found += [str(folder / name) for name in names if os.access(folder / name, os.X_OK)]
    return found + [where for name in names if (where := shutil.which(name))]


def _mpiexec(mpi: MpiLibrary | None) -> str:
    flavour = mpi.flavour if mpi else "unknown"
    found = list(dict.fromkeys(candidates(mpi)))
    for launcher in found:
        if flavour == "unknown" or flavour_of(launcher) in {flavour, "unknown"}:
            return launcher
    library = {"openmpi": "Open MPI", "mpich": "MPICH"}.get(flavour, "MPI")
    what = f"no launcher (mpiexec) of {library}, the MPI of the program, is here"
    if found:
        what += f"; {found[0]} belongs to another MPI and would start {library} programs one by one"
    raise TailraceError(
        what,
        where="run",
        hint="load the module of your MPI or install it (Debian: apt-get install openmpi-bin); "
        'or name the launcher: --launcher "mpiexec ..."',
        code=ExitCode.CAPABILITY_MISSING,
    )


def words_of(given: str) -> list[str]:
    """The words of --launcher, as a shell splits them."""
    try:
        return shlex.split(given)
    except ValueError as error:
        raise TailraceError(
            f"{given!r}: {error}",
            where="--launcher",
            hint="close the quotation",
        ) from error


def _given_words(given: str) -> list[str]:
    words = words_of(given)
    if not words or shutil.which(words[0]) is None:
        raise TailraceError(
            f'there is no program "{words[0] if words else given}"',
            where="--launcher",
            hint="for example --launcher mpiexec, or with options: "
            '--launcher "mpiexec --mca io romio321"',
            code=ExitCode.CAPABILITY_MISSING,
        )
    return words


def _with_ranks_apart(words: list[str], is_mpiexec: bool) -> tuple[list[str], bool]:
    """Whether the number of ranks is among the words. `-n1` and `-np=1` become two words, which
    every mpiexec knows; srun and others knows best how it is called."""
    option = _srun_rank_option if Path(words[0]).name == "srun" else _rank_option
    apart: list[str] = words[:1]
    found = False
    for word in words[1:]:
        match = option.fullmatch(word)
        found = found or match is not None
        joined = is_mpiexec and match is not None and match[2] is not None
        apart += [match[1], match[2]] if joined and match else [word]
    return apart, found


def _slurm_fits(mpi: MpiLibrary | None, environment: Mapping[str, str]) -> bool:
    """Inside a job, where srun can start programs of this MPI: Open MPI by PMIx, of MPICH what has
    no Hydra, such as Cray's. A Hydra finds the job by itself, and srun may not know its PMI: then
    each rank would be alone."""
    if "SLURM_JOB_ID" not in environment or shutil.which("srun") is None:
        return False
    if mpi is not None and mpi.flavour == "openmpi":
        return "pmix" in output_of(["srun", "--mpi=list"])
    return mpi is None or not any(flavour_of(one) == "mpich" for one in candidates(mpi))
