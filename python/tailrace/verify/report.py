# SPDX-License-Identifier: Apache-2.0
"""What a check of a kernel's file found, whatever the kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from tailrace.errors import ExitCode
from tailrace.verify.close import EXACT, Tolerance

Meter = Callable[[int, int], None]
Run = TypeVar("Run")
Wrong = TypeVar("Wrong")


@dataclass
class Report(Generic[Run, Wrong]):
    """run: what the file says of itself; first: the first elements that are not as written."""

    path: Path
    format: str
    run: Run
    tolerance: Tolerance = EXACT
    quantized: str = ""  # by which algorithm of netCDF, where that decides the tolerance
    correct: int = 0
    wrong: int = 0
    unwritten: int = 0  # elements without storage, wherever they read as what is expected
    read_bytes: int = 0
    elapsed_s: float = 0.0
    first: list[Wrong] = field(default_factory=list)
    wrong_by_rank: Counter[int] = field(default_factory=Counter)
    wrong_by_step: Counter[int] = field(default_factory=Counter)

    @property
    def ok(self) -> bool:
        return self.wrong == 0 and self.unwritten == 0

    @property
    def code(self) -> ExitCode:
        return ExitCode.OK if self.ok else ExitCode.VERIFICATION_FAILED
