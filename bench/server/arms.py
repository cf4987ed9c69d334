# SPDX-License-Identifier: Apache-2.0
"""The history kernel with servers and without, and dd of the same bytes."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.arms import output_of, timeout_s
from tailrace_bench.cases import RunFailed
from tailrace_bench.machine import Machine

Json = dict[str, Any]
Figure = Callable[[Json], float]


def stall_s(record: Json) -> float:
    return float(record["serving"]["stall_s"]["max"])


def copy_s(record: Json) -> float:
    return float(record["serving"]["memory_copy_s"])


def computation_s(record: Json) -> float:
    return sum(float(step["compute_s"]["max"]) for step in record["steps"] if "compute_s" in step)


def total_s(record: Json) -> float:
    """The durable time is without computation, and with what is waited for after it."""
    return computation_s(record) + float(record["elapsed"]["durable_s"])


def _fields(record: Json) -> int:
    asked = record["configuration"]
    return sum(int(asked[key]) for key in ("fields_2d", "fields_3d", "extra_2d"))


def field_s(record: Json) -> float:
    """Of a field of all steps."""
    return float(record["elapsed"]["durable_s"]) / _fields(record)


def memory_gb(record: Json) -> float:
    """Above idle, of all processes; the model's own fields are in it."""
    memory = record["serving"].get("memory")
    if memory is None:
        raise RunFailed("the memory was not measured")
    return float(memory["peak_bytes"] - memory["idle_bytes"]) / 1e9


def batch_gb(record: Json) -> float:
    """What the queue may hold: two steps."""
    return 2e-9 * float(record["bytes"]["logical"]) / len(record["steps"])


def _per_field_and_rank(record: Json) -> float:
    return _fields(record) * len(record["steps"]) * float(record["serving"]["model"]["ranks"])


def messages(record: Json) -> float:
    """Of the model and back, per field, step and rank."""
    model = record["serving"]["model"]
    of_rank = model["messages_sent"]["mean"] + model["messages_received"]["mean"]
    return float(of_rank) * model["ranks"] / _per_field_and_rank(record)


def cpu_s(record: Json) -> float:
    """Of model (in its calls) and servers, per field, step and rank."""
    parts = (record["serving"]["model"], record["serving"]["servers"])
    seconds = sum(part["cpu_s"]["mean"] * part["ranks"] for part in parts if "cpu_s" in part)
    return float(seconds) / _per_field_and_rank(record)


@dataclass(frozen=True)
class History:
    """A run of tailrace-history: a warm-up and the measured repetitions. figure: what of it is
    judged, the less the better; None: the durable rate."""

    model: int
    servers: int | None
    words: tuple[str, ...] = ()
    figure: Figure | None = None
    repeat: int = 1

    def run(self, machine: Machine, folder: Path) -> Json:
        results = folder / "results.jsonl"
        ranks = self.model + (self.servers or 0)
        command = [machine.mpiexec, "-n", str(ranks)]
        command += [str(machine.seism.with_name("tailrace-history")), *self.words]
        command += [] if self.servers is None else [f"servers={self.servers}"]
        command += [f"repeat={self.repeat}", f"results={results}"]
        command.append(f"filename={folder / 'h.%Y%m%d.nc4'}")
        output_of(machine, command, "ompio", folder)
        lines = results.read_text(encoding="utf-8").splitlines()
        measured = [one for one in map(json.loads, lines) if not one["warm_up"]]
        if len(measured) != self.repeat or any(one["status"] != "ok" for one in measured):
            raise RunFailed(f"not all records are good: {' '.join(command)}")
        figure = self.figure or (lambda one: float(one["elapsed"]["durable_s"]))
        measured.sort(key=figure)
        middle = measured[len(measured) // 2]
        return _figures(middle) | {"per_s": 1 / figure(middle)}


def _figures(record: Json) -> Json:
    """What is kept of a record."""
    serving = {key: value for key, value in record["serving"].items() if key != "files"}
    return {
        "durable_bytes_per_s": record["rates"]["durable_bytes_per_s"],
        "durable_s": record["elapsed"]["durable_s"],
        "computation_s": computation_s(record),
        "bytes": record["bytes"]["logical"],
        "longest_stall_s": max(step["stall_s"]["max"] for step in record["steps"]),
        "serving": serving,
        "files_s": [one["elapsed_s"] for one in record["serving"]["files"]],
        "load_1m": record["context"]["load_1m"],
    }


@dataclass(frozen=True)
class DdFiles:
    """One dd after the other, each a file of so many records."""

    files: int
    records: int
    record_bytes: int

    def run(self, _: Machine, folder: Path) -> Json:
        self._all(folder)  # the warm-up
        for file in folder.iterdir():
            file.unlink()
        elapsed = self._all(folder)
        total = self.files * self.records * self.record_bytes
        return {"durable_bytes_per_s": total / elapsed, "durable_s": elapsed, "bytes": total}

    def _all(self, folder: Path) -> float:
        started = time.monotonic()
        for number in range(self.files):
            words = ["dd", "if=/dev/zero", f"of={folder / str(number)}", f"bs={self.record_bytes}"]
            words += [f"count={self.records}", "conv=fsync"]
            run = subprocess.run(words, check=False, capture_output=True, timeout=timeout_s)
            if run.returncode != 0:
                raise RunFailed(f"dd: {run.stderr.decode()}")
        return time.monotonic() - started
