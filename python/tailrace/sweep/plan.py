# SPDX-License-Identifier: Apache-2.0
"""What a sweep is going to run: every combination of the values of its factors."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.results import Selection
from tailrace.run import programs
from tailrace.run.kernels import Kernel, kernels
from tailrace.run.launcher import Launch, launch_for
from tailrace.run.programs import MpiLibrary
from tailrace.run.variant import Variant, gathered, joined, key_of, variant
from tailrace.sweep.factors import Factor, Keys, factors_of

most_combinations = 4096
prefix = "sweep"
_steering = (
    "OMPI_MCA_", "PMIX_MCA_", "ROMIO_", "MPICH_", "PNETCDF_", "NETCDF_", "H5FD_", "HDF5_",
    *sorted({one.prefix for one in kernels.values()}),
)  # fmt: skip


@dataclass(frozen=True)
class Combination:
    """places: of each factor which value. name: `collective=on cb_nodes=2`, unique in a plan."""

    places: tuple[int, ...]
    name: str
    variant: Variant


@dataclass(frozen=True)
class Plan:
    """sweep: the name under which the Records are kept; it ends with the seed of the order."""

    kernel: str
    program: Path
    factors: list[Factor]
    combinations: list[Combination]
    results: Path
    sweep: str
    mark: str  # equal for equal plans on equal software, so that one can be gone on with
    seed: int
    bare: Combination | None = None  # nothing varied: what the kernel does by itself

    def selection(self) -> Selection:
        return Selection(self.results, (("comparison", self.sweep),))

    def order(self, number: int, among: Sequence[Combination]) -> list[Combination]:
        """Of a round: random, and the same for the same seed whatever else was run."""
        shuffled = list(self.combinations)
        random.Random(f"{self.seed}/{number}").shuffle(shuffled)
        wanted = {one.places for one in among}
        return [one for one in shuffled if one.places in wanted]

    def resumed(self, sweep: str) -> Plan:
        """The same under the name, and with the order, of one that was begun."""
        return replace(self, sweep=sweep, seed=int(sweep.rpartition("-")[2]))


def make_plan(
    kernel: str, program: Path, common: list[str], vary: Sequence[str], *,
    ranks: int | None, launcher: str, seed: int | None,
) -> Plan:  # fmt: skip
    """Raises TailraceError for factors that are none; the program says what inputs mean."""
    mpi = programs.mpi_library(program)
    check_common(common, prefix)
    keys = Keys.of_help(programs.output_of([str(program), "--help"]))
    factors = factors_of(vary, keys, mpi)
    count = 1
    for factor in factors:
        count *= len(factor.levels)
    if count > most_combinations:
        raise TailraceError(
            f"these are {count:,} combinations", where="sweep",
            hint=f"at most {most_combinations:,} are made; vary less at a time",
        )  # fmt: skip
    combinations = [
        _combination(kernels[kernel], factors, places, common, mpi, ranks, launcher)
        for places in itertools.product(*(range(len(one.levels)) for one in factors))
    ]
    given = gathered(common or ["results=results.jsonl"], kernels[kernel])
    results = given.path("results", "results.jsonl")
    mark = mark_of(kernel, program, common, factors, ranks, launcher)
    plan = named(prefix, kernel, program, factors, combinations, results, mark, seed)
    bare = _combination(kernels[kernel], [], (), common, mpi, ranks, launcher)
    return replace(plan, bare=bare)


def named(
    begin: str, kernel: str, program: Path, factors: list[Factor],
    combinations: list[Combination], results: Path, mark: str, seed: int | None,
) -> Plan:  # fmt: skip
    """A new one: BEGIN-STAMP-MARK-SEED."""
    chosen = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    name = f"{begin}-{stamp}-{mark}-{chosen}"
    return Plan(kernel, program, factors, combinations, results, name, mark, chosen)


def check_common(common: Sequence[str], command: str) -> None:
    """Raises TailraceError for inputs that a command which makes many runs gives itself."""
    for word in common:
        if word == "-":
            raise TailraceError("inputs of many runs are words, not standard input", where=command)
        if key_of(word) == "repeat":
            raise TailraceError(
                f'"{word}": every run is one repetition', where=command,
                hint="--repeat N says how many each combination gets",
            )  # fmt: skip


def _combination(
    kernel: Kernel, factors: Sequence[Factor], places: tuple[int, ...], common: Sequence[str],
    mpi: MpiLibrary | None, ranks: int | None, launcher: str,
) -> Combination:  # fmt: skip
    levels = [one.levels[place] for one, place in zip(factors, places, strict=True)]
    without = {level.key for level in levels if level.key}
    kept = [word for word in common if key_of(word) not in without]
    words = joined(kept, [word for level in levels for word in level.words])
    inputs = gathered(words or ["results=results.jsonl"], kernel)
    count = ranks or inputs.ranks() or kernel.usual_ranks() or 1
    environment = {key: text for level in levels for key, text in level.environment.items()}
    launch = launch_for(mpi, count, launcher, {**os.environ, **environment})
    exported = [name for level in levels for name in level.exported]
    name = shlex.join(one.setting(place) for one, place in zip(factors, places, strict=True))
    _check_launcher(launch, environment)
    return Combination(places, name, variant(words, inputs, _with(launch, environment, exported)))


def _check_launcher(launch: Launch, environment: Mapping[str, str]) -> None:
    """Open MPI's launcher has the last word on MCA parameters: then nothing would vary."""
    for word, name in itertools.pairwise(launch.words):
        if word in {"--mca", "-mca"} and f"OMPI_MCA_{name}" in environment:
            raise TailraceError(
                f'the launcher sets "{name}" ({word} {name}), so it would not vary',
                where="--launcher", hint=f"take {word} {name} out of --launcher",
            )  # fmt: skip


def _with(launch: Launch, environment: Mapping[str, str], exported: Sequence[str]) -> Launch:
    """Open MPI's mpiexec hands its own variables to all nodes, others where it is told to."""
    words = list(launch.words)
    if exported and launch.open_mpi:
        words += [word for name in exported for word in ("-x", name)]
    return replace(launch, words=words, environment={**launch.environment, **environment})


def mark_of(
    kernel: str, program: Path, common: Sequence[str], factors: Sequence[Factor],
    ranks: int | None, launcher: str,
) -> str:  # fmt: skip
    """Of all that decides what is measured; of the software too, so that figures of two builds
    are never put together."""
    levels = [(one.kind, one.subject, [level.text for level in one.levels]) for one in factors]
    steering = sorted((k, v) for k, v in os.environ.items() if k.startswith(_steering))
    of = [kernel, programs.versions(program), sorted(common), levels, ranks, launcher, steering]
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:8]
