# SPDX-License-Identifier: Apache-2.0
"""What can run: our kernel in some configuration, or several dd at once."""

from __future__ import annotations

import atexit
import functools
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace_bench.cases import RunFailed
from tailrace_bench.machine import Machine, remove

timeout_s = 300
repetitions = 3  # measured in each run, after a warm-up; the one with the median time counts


@dataclass(frozen=True)
class Piece:
    """What one rank writes in one step, and how often."""

    grid: tuple[int, int, int]
    domain: tuple[int, int, int]
    steps: int

    @property
    def ranks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def bytes(self) -> int:
        return 4 * self.domain[0] * self.domain[1] * self.domain[2]

    @property
    def total_bytes(self) -> int:
        return self.bytes * self.ranks * self.steps


@dataclass(frozen=True)
class Seism:
    """A run of tailrace-seism: a warm-up and the measured repetitions."""

    piece: Piece
    format: str
    io: str = "ompio"
    collective: bool = False
    chunked: bool = True
    extra: tuple[str, ...] = field(default=())
    chunk: tuple[int, int, int] | None = None  # where it is not the block of a rank
    repeat: int = repetitions

    @property
    def ranks(self) -> int:
        return self.piece.ranks

    def program(self, machine: Machine) -> Path:
        return machine.seism

    def words(self) -> list[str]:
        by_x = "x".join
        words = [
            f"format={self.format}",
            f"processor={by_x(map(str, self.piece.grid))}",
            f"domain={by_x(map(str, self.piece.domain))}",
            f"time={self.piece.steps}",
            *self.extra,
        ]
        if self.chunked and self.format not in {"posix-per-rank", "pnetcdf"}:
            words.append(f"chunk={by_x(map(str, self.chunk or self.piece.domain))}")
        if self.format in {"hdf5", "netcdf4"}:
            words.append("never_fill")
        if self.collective:
            words.append("collective_write")
        return words

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        command = [str(machine.seism), *self.words()]
        return run_kernel(machine, command, self.ranks, self.repeat, self.io, folder)


@dataclass(frozen=True)
class Slab:
    """A run of tailrace-slab with one dataset."""

    n1: int
    n2: int
    ranks: int
    axis: str
    format: str
    io: str = "ompio"
    collective: bool = False
    extra: tuple[str, ...] = field(default=())
    repeat: int = repetitions

    def words(self) -> list[str]:
        shape = [f"n1={self.n1}", f"n2={self.n2}", f"axis={self.axis}", f"format={self.format}"]
        return [*shape, *self.extra, *(["collective_write"] if self.collective else [])]

    def program(self, machine: Machine) -> Path:
        return machine.seism.with_name("tailrace-slab")

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        command = [str(self.program(machine)), *self.words()]
        return run_kernel(machine, command, self.ranks, self.repeat, self.io, folder)


@dataclass(frozen=True)
class Particles:
    """A run of tailrace-particle whose file is interleaved and whose memory is not."""

    dim_1: int
    steps: int
    ranks: int
    io: str = "ompio"
    collective: bool = False

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        program = machine.seism.with_name("tailrace-particle")
        words = [f"dim_1={self.dim_1}", f"timesteps={self.steps}", "file_pattern=interleaved"]
        words.append(f"collective_data={'yes' if self.collective else 'no'}")
        return run_kernel(machine, [str(program), *words], self.ranks, repetitions, self.io, folder)


@dataclass(frozen=True)
class Amr:
    """A run of tailrace-amr with one output."""

    cells: int
    components: int
    ranks: int
    format: str
    io: str = "ompio"
    collective: bool = False
    box: int = 32
    extra: tuple[str, ...] = field(default=())
    repeat: int = repetitions

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        program = machine.seism.with_name("tailrace-amr")
        words = [
            f"ncells={self.cells}", f"max_grid_size={self.box}", "nlevs=1",
            f"ncomp={self.components}", "nppc=0", f"format={self.format}", *self.extra,
        ]  # fmt: skip
        if self.format not in {"native", "posix", "posix-per-rank"}:
            words.append(f"collective_write={int(self.collective)}")
        return run_kernel(machine, [str(program), *words], self.ranks, self.repeat, self.io, folder)


@dataclass(frozen=True)
class Swept:
    """What `tailrace sweep` recommends for a kernel within a time; the sweep runs once, before the
    first run, and none of its runs counts here."""

    kernel: Slab | Seism
    vary: tuple[str, ...]
    budget: str

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        found = _sweep(machine, self)
        program = self.kernel.program(machine)
        name = program.name.removeprefix("tailrace-")
        command = [str(program), "--input", str(found / f"{name}.in")]
        exported = (found / "environment.sh").read_text(encoding="utf-8")
        settings = dict(re.findall(r"^export (\w+)=(\S+)$", exported, re.MULTILINE))
        figures = run_kernel(
            machine, command, self.kernel.ranks, repetitions, "ompio", folder, settings
        )
        readme = (found / "README.md").read_text(encoding="utf-8")
        return figures | {"settings": readme.splitlines()[3].split("`")[1]}


@functools.cache
def _sweep(machine: Machine, arm: Swept) -> Path:
    """The folder with the recommended settings."""
    place = machine.fresh_folder("disk")
    atexit.register(remove, place)
    runs = machine.fresh_folder("tmpfs")
    name = arm.kernel.program(machine).name.removeprefix("tailrace-")
    command = [str(machine.seism.with_name("tailrace")), "sweep", name, *arm.kernel.words()]
    command += [f"filename={runs / 'out'}", f"results={place / 'results.jsonl'}"]
    command += ["--ranks", str(arm.kernel.ranks), "--budget", arm.budget, "--seed", "1"]
    for one in arm.vary:
        command += ["--vary", one]
    print(f"  {shlex.join(command)}", file=sys.stderr, flush=True)
    try:
        output_of(
            machine, [*command, "--output", str(place / "best")], "ompio", place, limit_s=1800
        )
    finally:
        remove(runs)
    return place / "best"


@dataclass(frozen=True)
class Classic:
    """What the published kernels do (classic.cpp). words: without repetitions and file."""

    ranks: int
    words: tuple[str, ...]
    io: str = "ompio"
    program: str = "tailrace_bench_classic"

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        program = machine.build / "bench" / self.program
        command = [machine.mpiexec, "-n", str(self.ranks), str(program), *self.words]
        text = output_of(
            machine, [*command, str(repetitions), str(folder / "out")], self.io, folder
        )
        measured = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        if len(measured) != repetitions:
            raise RunFailed(f"not all repetitions are there: {' '.join(command)}")
        measured.sort(key=lambda one: one["durable_s"])
        middle = measured[repetitions // 2]
        return {
            "durable_bytes_per_s": middle["bytes"] / middle["durable_s"],
            "write_bytes_per_s": middle["bytes"] / middle["write_s"],
            "durable_s": middle["durable_s"],
            "bytes": middle["bytes"],
            "all_durable_s": [one["durable_s"] for one in measured],
            "mpi_io": self.io.upper(),
        }


def output_of(
    machine: Machine,
    command: list[str],
    io: str,
    folder: Path,
    settings: dict[str, str] | None = None,
    limit_s: float = timeout_s,
) -> str:
    try:
        run = subprocess.run(
            command,
            check=False,
            env=machine.environment(io) | (settings or {}),
            cwd=folder,
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired as late:
        raise RunFailed(f"no end after {limit_s} s: {' '.join(command)}") from late
    if run.returncode != 0:
        raise RunFailed(f"status {run.returncode}: {' '.join(command)}\n{run.stderr[-2000:]}")
    return run.stdout


def run_kernel(
    machine: Machine,
    command: list[str],
    ranks: int,
    repeat: int,
    io: str,
    folder: Path,
    settings: dict[str, str] | None = None,
    before: tuple[str, ...] = (),
    look: Callable[[str], dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Figures of the repetition with the median time.

    before: words in front of the launcher. look: more figures, from what was printed.
    """
    results = folder / "results.jsonl"
    command = [*before, machine.mpiexec, "-n", str(ranks), *command, f"repeat={repeat}"]
    command += [f"filename={folder / 'out'}", f"results={results}"]
    printed = output_of(machine, command, io, folder, settings)
    records = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    measured = [record for record in records if not record["warm_up"]]
    if len(measured) != repeat or any(one["status"] != "ok" for one in measured):
        raise RunFailed(f"not all records are good: {' '.join(command)}")
    measured.sort(key=lambda record: record["elapsed"]["durable_s"])
    figures = _figures(measured[repeat // 2])
    figures["all_durable_s"] = [record["elapsed"]["durable_s"] for record in measured]
    return figures | (look(printed) if look else {})


def _figures(record: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a record: rates, times, who wrote, memory."""
    writers = record["writers"]["list"]
    in_write = [
        writer["by_phase"].get("write", {"calls": 0, "bytes_done": 0}) for writer in writers
    ]
    return {
        "durable_bytes_per_s": record["rates"]["durable_bytes_per_s"],
        "write_bytes_per_s": record["rates"]["write_bytes_per_s"],
        "aggregate_bytes_per_s": record["rates"]["aggregate_bytes_per_s"],
        "durable_s": record["elapsed"]["durable_s"],
        "phases_s": {name: phase["max_s"] for name, phase in record["phases"].items()},
        "bytes": record["bytes"]["logical"],
        "calls_in_write": [one["calls"] for one in in_write],
        "bytes_in_write": [one["bytes_done"] for one in in_write],
        "ranks_that_wrote": sum(1 for one in in_write if one["bytes_done"] > 0),
        "mpi_io": record["mpi_io"]["implementation"],
        "hints_in_force": record["mpi_io"]["hints_in_force"],
        "collective_actual": record["transfers"]["collective_actual"],
        "file_system": record["context"]["file_system"],
        "memory": record["memory"],
        "load_1m": record["context"]["load_1m"],
    }


@dataclass(frozen=True)
class Dd:
    """As many dd as ranks, started together, each writing what one rank writes."""

    piece: Piece
    shared: bool

    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        self._all(folder)  # the warm-up
        seconds = []
        for _ in range(repetitions):
            for file in folder.iterdir():
                file.unlink()
            seconds.append(self._all(folder))
        seconds.sort()
        middle, total = seconds[repetitions // 2], self.piece.total_bytes
        return {
            "durable_bytes_per_s": total / middle,
            "durable_s": middle,
            "all_durable_s": seconds,
            "bytes": total,
        }

    def _all(self, folder: Path) -> float:
        """The time of the slowest as it reports it: its start-up does not count."""
        running = [
            subprocess.Popen(self._command(folder, rank), stderr=subprocess.PIPE, text=True)
            for rank in range(self.piece.ranks)
        ]
        seconds = []
        for process in running:
            _, text = process.communicate(timeout=timeout_s)
            found = re.search(r"copied, ([0-9.e+-]+) s", text)
            if process.returncode != 0 or found is None:
                raise RunFailed(f"dd: {text}")
            seconds.append(float(found.group(1)))
        return max(seconds)

    def _command(self, folder: Path, rank: int) -> list[str]:
        name = "out" if self.shared else f"out.{rank}"
        return [
            "dd",
            "if=/dev/zero",
            f"of={folder / name}",
            f"bs={self.piece.bytes}",
            f"count={self.piece.steps}",
            f"seek={rank * self.piece.steps if self.shared else 0}",
            "conv=notrunc,fsync",
        ]
