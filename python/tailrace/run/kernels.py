# SPDX-License-Identifier: Apache-2.0
"""What a command has to know of a kernel to run it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from tailrace.errors import TailraceError, did_you_mean
from tailrace.run import programs


@dataclass(frozen=True)
class Kernel:
    """geometry: inputs for a first try, taken where none of them is given.

    has_grid: its input `processor` says how many ranks; otherwise any number will do.
    needs_inputs: without any it would read standard input.
    first_names_input: its first word may be the name of a file with inputs.
    fresh_name: of the file in a folder of its own; a kernel of several files needs a name for each.
    """

    program: str
    prefix: str  # of environment variables
    filename: str  # that it writes by default
    geometry: Mapping[str, str]
    has_grid: bool = False
    needs_inputs: bool = False
    first_names_input: bool = False
    fresh_name: str = "out"

    def usual_ranks(self) -> int | None:
        """Where nobody says how many: the cores for this process; None: it must be said."""
        return None if self.has_grid else max(1, len(os.sched_getaffinity(0)))


_cube = {"processor": "2x2x1", "domain": "64x64x64", "time": "4"}

seism = Kernel(
    programs.seism, "TAILRACE_SEISM_", "seism-test.h5", _cube, has_grid=True, needs_inputs=True
)
limit = Kernel(
    programs.limit, "TAILRACE_SEISM_", "seism-test.h5", _cube, has_grid=True, needs_inputs=True
)
slab = Kernel(programs.slab, "TAILRACE_SLAB_", "output.h5", {"n1": "200000", "n2": "50"})
particle = Kernel(
    programs.particle, "TAILRACE_PARTICLE_", "test.h5", {"timesteps": "5", "dim_1": "65536"}
)

amr = Kernel(
    programs.amr,
    "TAILRACE_AMR_",
    "plt00000.nc",
    {"ncells": "64", "max_grid_size": "32", "nlevs": "1", "ncomp": "6", "nppc": "2"},
    first_names_input=True,
)

history = Kernel(
    programs.history,
    "TAILRACE_HISTORY_",
    "history.%Y%m%d.nc4",
    {"im": "90", "jm": "46", "km": "10"},
    fresh_name="out_%c.%Y%m%d_%H%M.nc4",
)

kernels = {
    "seism": seism, "slab": slab, "particle": particle, "amr": amr, "history": history,
    "limit": limit,
}  # fmt: skip


def kernel_of(name: str, where: str) -> Kernel:
    """Raises: exit code 2 where there is none of this name."""
    if name not in kernels:
        raise TailraceError(
            f'there is no kernel "{name}".{did_you_mean(name, kernels)}',
            where=where,
            hint="known: " + ", ".join(kernels),
        )
    return kernels[name]
