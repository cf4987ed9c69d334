# SPDX-License-Identifier: Apache-2.0
"""What a command has to know of a kernel that runs it in many settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tailrace.run import programs


@dataclass(frozen=True)
class Kernel:
    """geometry: inputs for a first try, taken where none of them is given."""

    program: str
    geometry: Mapping[str, str]


kernels = {
    "seism": Kernel(programs.seism, {"processor": "2x2x1", "domain": "64x64x64", "time": "4"}),
}
