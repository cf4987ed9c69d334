# SPDX-License-Identifier: Apache-2.0
"""Records as kernels write them (schemas/record-1.schema.json), with figures of one's choice."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MIB = 1 << 20


def a_record(
    *,
    durable_s: float = 0.5,
    run: str = "20260101T000000Z-host-1-aa",
    repetition: int = 1,
    warm_up: bool = False,
    started: str = "2026-01-01T00:00:00.000Z",
    configuration: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    ranks: int = 4,
    failed: bool = False,
    **parts: Any,
) -> dict[str, Any]:
    """Of 64 MiB on `ranks` ranks; `parts` replace whole keys."""
    size = 64 * MIB
    write_s = durable_s / 2
    record = {
        "schema": "tailrace-record/1", "kernel": "seism", "run_id": run, "repetition": repetition,
        "warm_up": warm_up, "status": "ok", "error": None, "started": started,
        "context": _context(ranks) | (context or {}),
        "configuration": _configuration() | (configuration or {}),
        "bytes": {"logical": size, "stored": size + 4096, "allocated": size + 4096},
        "phases": {
            name: {"min_s": share * durable_s * 0.9, "mean_s": share * durable_s,
                   "max_s": share * durable_s * 1.1, "entries": 1}
            for name, share in (("create", 0.1), ("write", 0.5), ("sync", 0.35), ("close", 0.05))
        },
        "steps": [
            {"step": step, "write_s": {"min": write_s / 4, "mean": write_s / 4, "max": write_s / 4}}
            for step in range(4)
        ],
        "elapsed": {"durable_s": durable_s, "write_s": write_s, "aggregate_s": durable_s * 0.6},
        "rates": {"durable_bytes_per_s": size / durable_s, "write_bytes_per_s": size / write_s,
                  "aggregate_bytes_per_s": size / (durable_s * 0.6)},
        "transfers": {"collective_requested": False, "collective_actual": False,
                      "mode": "independent", "no_collective_cause": "",
                      "metadata_collective_requested": False, "metadata_collective_actual": None,
                      "metadata_evidence": ""},
        "mpi_io": {"implementation": "OMPIO 4.1.4", "hints_requested": {}, "hints_in_force": {}},
        "writers": {"measured": True, "ranks_that_wrote": ranks,
                    "list": [_writer(rank, size // ranks) for rank in range(ranks)]},
        "reservation": {"reserved": True, "how": "posix_fallocate"},
        "file": {"path": "/data/out.h5", "parts": ["/data/out.h5"],
                 "settings": {"layout": "contiguous"}, "durable": True},
        "memory": {"after_init_bytes_max": 10 * MIB, "peak_bytes_max": 50 * MIB,
                   "peak_above_init_bytes_max": 40 * MIB, "data_bytes_max": 4 * MIB},
        "verification": {"status": "not_run", "elements": None, "wrong": None, "first": []},
        "read_back": None,
    }  # fmt: skip
    if failed:
        record |= {
            "status": "failed",
            "error": {"code": "no_space", "message": "disk is full", "where": "/data/out.h5",
                      "remedy": "make room", "exit_code": 1, "rank": 1, "failed_ranks": 1,
                      "total_ranks": ranks},
            "bytes": dict.fromkeys(("logical", "stored", "allocated")),
            "elapsed": dict.fromkeys(("durable_s", "write_s", "aggregate_s")),
            "rates": dict.fromkeys(record["rates"]),
            "steps": [],
        }  # fmt: skip
    return record | parts


def a_run(durable_s: Iterable[float], run: str = "run-a", **parts: Any) -> list[dict[str, Any]]:
    """A slow warm-up and a repetition for each time, a second apart."""
    times = list(durable_s)
    return [
        a_record(
            durable_s=time, run=run, repetition=number, warm_up=number == 0,
            started=f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000Z", **parts,
        )
        for number, time in enumerate([2 * max(times), *times])
    ]  # fmt: skip


def with_limit(record: dict[str, Any], rates_mib: dict[str, float | None]) -> dict[str, Any]:
    """The Record with arms of these rates in MiB/s; None: one that failed."""
    arms = {}
    for name, rate in rates_mib.items():
        against = ("durable" if name.endswith("_fsync") else
                   "write" if name == "memory_copy" else "aggregate")  # fmt: skip
        own = record["rates"][f"{against}_bytes_per_s"]
        error = {"code": "no_space", "message": "disk is full", "where": "", "remedy": "",
                 "exit_code": 1, "rank": 0, "failed_ranks": 1, "total_ranks": 4}  # fmt: skip
        arms[name] = {
            "bytes": 64 * MIB, "elapsed_s": 64 / rate if rate else None,
            "rate_bytes_per_s": rate * MIB if rate else None, "against": against,
            "ratio": own / (rate * MIB) if rate and own else None, "error": None if rate else error,
        }  # fmt: skip
    return record | {"limit": {"order": ["kernel", *arms], "arms": arms}}


def written(file: Path, records: Iterable[dict[str, Any] | str]) -> Path:
    """A results file; a text becomes a line as it is."""
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def _context(ranks: int) -> dict[str, Any]:
    return {
        "host": "node1", "os_kernel": "Linux 6.1.0 x86_64", "cores": 4, "load_1m": 0.5,
        "memory_bytes": 16 << 30, "memory_available_bytes": 12 << 30, "page_cache_bytes": 2 << 30,
        "dirty_bytes": 4096, "file_system": "ext4", "mount_point": "/data",
        "mount_options": "rw,relatime", "file_system_source": "/dev/vda1",
        "file_system_free_bytes": 100 << 30, "file_system_total_bytes": 200 << 30, "striping": {},
        "mpi_library": "Open MPI 4.1.4", "mpi_io": "OMPIO 4.1.4", "hdf5_version": "2.2.0",
        "compiler": "GNU 12.2.0", "tailrace_version": "0.1.0", "commit": "0123456789ab",
        "ranks": ranks, "nodes": 1, "ranks_per_node": ranks, "command": ["tailrace-seism"],
        "environment": {},
    }  # fmt: skip


def _configuration() -> dict[str, Any]:
    return {
        "processor": [2, 2, 1], "domain": [64, 64, 256], "time": 4, "chunk": None, "format": "hdf5",
        "collective_write": False, "filename": "out.h5", "results": "results.jsonl", "repeat": 6,
        "hint": {}, "fill": "position",
    }  # fmt: skip


def _writer(rank: int, size: int) -> dict[str, Any]:
    calls = 4
    return {
        "rank": rank, "calls": calls, "bytes_asked": size, "bytes_done": size, "failed_calls": 0,
        "short_calls": 0, "smallest_bytes": size // calls, "largest_bytes": size // calls,
        "by_size": {str(size // calls): calls},
        "by_call": {"write": 0, "pwrite": calls, "writev": 0, "aio": 0, "uring": 0},
        "by_phase": {"write": {"calls": calls, "bytes_asked": size, "bytes_done": size}},
    }  # fmt: skip


def time_lines(
    lines: list[list[tuple[str, float, float]]], *, resolution_s: float = 0.0,
    uncertainty_s: float | None = None, ranks: list[int] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Part of a Record: phase, start and end of the stretches of each rank; uncertainty_s: of
    nodes with clocks of their own."""
    names = list(dict.fromkeys(name for line in lines for name, *_ in line))
    return {
        "elapsed_s": max((end for line in lines for *_, end in line), default=0.0),
        "clock": "one" if uncertainty_s is None else "barrier",
        "clock_uncertainty_s": uncertainty_s or 0.0, "phases": names,
        "list": [
            {"rank": rank, "resolution_s": resolution_s,
             "stretches": [[names.index(name), start, end] for name, start, end in line]}
            for rank, line in zip(ranks or range(len(lines)), lines, strict=True)
        ],
    }  # fmt: skip


def one_wrote(durable_s: float, ranks: int = 4) -> dict[str, Any]:
    """Time lines of a run in which rank 0 wrote 90 % of the time, and the others waited."""
    t = durable_s
    first = [("create", 0.0, 0.1 * t), ("write", 0.1 * t, t)]
    rest = [("create", 0.0, 0.1 * t), ("agree", 0.1 * t, t)]
    return time_lines([first, *[rest] * (ranks - 1)])
