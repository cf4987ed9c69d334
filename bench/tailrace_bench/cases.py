# SPDX-License-Identifier: Apache-2.0
"""What a benchmark is: two arms, where they run, and the goal. The cases themselves are in a folder
per field, such as bench/kernels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .machine import Machine

MiB = 1 << 20


class RunFailed(Exception):
    pass


class Arm(Protocol):
    def run(self, machine: Machine, folder: Path) -> dict[str, Any]:
        """One run in a fresh folder: its figures. Throws RunFailed."""


@dataclass(frozen=True)
class Case:
    suite: str
    name: str
    where: str  # "tmpfs" or "disk"
    baseline: Arm
    candidate: Arm
    goal: float  # the least ratio of durable rates, lower bound of the interval
    same_pieces: bool = False  # both arms must ask the kernel for the same writes
    write_goal: float | None = None  # the same for the rates in write calls alone
    no_fall: bool = False  # the goal is met within noise: see judge.within_noise
    unit: str = "B/s"  # of the rates; else "1/s", "1/GB" or "1/message"


@dataclass(frozen=True)
class CallCase:
    """What something costs per call, in microseconds: the difference of the arms."""

    suite: str
    name: str
    where: str
    baseline: Arm
    candidate: Arm
    goal: float  # the most microseconds, upper bound of the interval


@dataclass(frozen=True)
class MemoryCase:
    suite: str
    name: str
    where: str
    arm: Arm
    note: str = ""
    goal: str = "peak above MPI_Init <= data * 1.10 + 64 MiB"

    @staticmethod
    def limit_bytes(data_bytes: int) -> int:
        return data_bytes * 11 // 10 + 64 * MiB


AnyCase = Case | CallCase | MemoryCase
