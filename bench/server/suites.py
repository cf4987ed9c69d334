# SPDX-License-Identifier: Apache-2.0
"""The cases: what a server may cost a model, and what it must bring. Anchors of other systems:
docs/developer/benchmarks.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tailrace_bench.cases import Case
from tailrace_bench.machine import Machine

from .arms import (
    DdFiles,
    Figure,
    History,
    batch_gb,
    computation_s,
    copy_s,
    cpu_s,
    field_s,
    memory_gb,
    messages,
    stall_s,
    total_s,
)

_busy = ("compute=0.2",)  # 343 MB in 18 steps, three files
_record_bytes = 4 * 360 * 181 * 73


def _model(ranks: int) -> int:
    """Ranks beside one server: with more ranks than cores the scheduler is measured."""
    return max(1, ranks - 1)


def _stall(_: Machine, ranks: int) -> Iterator[Case]:
    model = _model(ranks)
    on = f"{model} + 1 ranks"
    for where in ("tmpfs", "disk"):
        yield Case(
            "server",
            f"stall of the model / one copy in memory, {on}, busy, {where}",
            where,
            History(model, 1, _busy, copy_s),
            History(model, 1, _busy, stall_s),
            1 / 1.5,
            unit="1/s",
        )
        yield Case(
            "server",
            f"computation and output / computation, {on}, busy, {where}",
            where,
            History(model, 1, _busy, computation_s),
            History(model, 1, _busy, total_s),
            1 / 1.05,
            unit="1/s",
        )


def _many(_: Machine, ranks: int) -> Iterator[Case]:
    """Small fields, no computation: what each of them costs."""
    steps = ("days=1", "records_per_day=2")
    flat = ("fields_2d=0", "fields_3d=0", "km=1", *steps)
    solid = ("fields_2d=0", "fields_3d=1", "km=400", *steps)
    for servers, model in ((1, _model(ranks)), (0, ranks)):
        how = f"{model} + {servers} ranks"
        yield Case(
            "server",
            f"800 fields without levels / 400, time per field, {how}",
            "tmpfs",
            History(model, servers, (*flat, "extra_2d=400"), field_s, repeat=3),
            History(model, servers, (*flat, "extra_2d=800"), field_s, repeat=3),
            2 / 2.1,
            unit="1/s",
        )
        yield Case(
            "server",
            f"400 fields without levels / one with 400 levels, {how}",
            "tmpfs",
            History(model, servers, solid, repeat=3),
            History(model, servers, (*flat, "extra_2d=400"), repeat=3),
            1 / 1.2,
        )


def _memory(_: Machine, ranks: int) -> Iterator[Case]:
    words = ("memory_every=0.01",)
    model = _model(ranks)
    yield Case(
        "server",
        f"memory of all processes above idle / two steps, {model} + 1 ranks",
        "tmpfs",
        History(model, 1, words, batch_gb),
        History(model, 1, words, memory_gb),
        1 / 2.5,
        unit="1/GB",
    )


def _writing(_: Machine, ranks: int) -> Iterator[Case]:
    for where in ("tmpfs", "disk"):
        yield Case(
            "server",
            f"embedded / plain parallel netCDF-4, {ranks} ranks, {where}",
            where,
            History(ranks, None, repeat=3),
            History(ranks, 0, repeat=3),
            1.0,
        )
        yield Case(
            "server",
            f"one server / dd, 3 files of 114 MB, {where}",
            where,
            DdFiles(3, 6, _record_bytes),
            History(1, 1, repeat=3),
            0.9,
        )


def _growing(_: Machine, __: int) -> Iterator[Case]:
    """As much per rank; one server. With 33 ranks on few cores the scheduler is measured, too."""
    counted: tuple[tuple[str, Figure, str], ...] = (
        ("messages", messages, "1/message"),
        ("processor time", cpu_s, "1/s"),
    )
    for what, figure, unit in counted:
        yield Case(
            "server",
            f"{what} of a field and rank, 32 ranks / 2",
            "tmpfs",
            History(2, 1, _latitudes(2), figure),
            History(32, 1, _latitudes(32), figure),
            1 / 1.2,
            unit=unit,
        )


def _latitudes(ranks: int) -> tuple[str, ...]:
    grid = (f"jm={16 * ranks}", f"decomposition=1x{ranks}", "km=16")
    return (*grid, "fields_2d=4", "fields_3d=4", "compute=0.02 idle", "days=1")


def _server(machine: Machine, ranks: int) -> Iterator[Case]:
    for some in (_stall, _many, _memory, _writing, _growing):
        yield from some(machine, ranks)


makers: dict[str, Callable[[Machine, int], Iterator[Case]]] = {"server": _server}
