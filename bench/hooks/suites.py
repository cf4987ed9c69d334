# SPDX-License-Identifier: Apache-2.0
"""The cases: what the hooks may cost, and what they must bring."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tailrace_bench.cases import CallCase, Case
from tailrace_bench.machine import Machine

from .arms import Calls, Kernel, Script

_calls = "1000000"
_storm = "20000"


def _cost(_: Machine, __: int) -> Iterator[Case | CallCase]:
    """With nothing to apply."""
    for what in ("write", "read"):
        yield CallCase(
            "hooks-cost",
            f"the idle connector, per H5D{what} of one element",
            "tmpfs",
            Calls((what, _calls), "none"),
            Calls((what, _calls), "idle"),
            0.5,
        )
    yield Case(
        "hooks-cost",
        "the idle connector, a storm of 20,000 datasets and attributes",
        "tmpfs",
        Calls(("storm", _storm), "none"),
        Calls(("storm", _storm), "idle"),
        1 / 1.02,
        unit="1/s",
    )


def _record(_: Machine, ranks: int) -> Iterator[Case]:
    """Wall time of the kernels under `tailrace profile`."""
    seism = ("tailrace-seism", f"processor={ranks}x1x1", "domain=128x128x128", "time=16")
    kernels = (
        ("seism", (*seism, "chunk=128x128x128", "repeat=5")),
        ("slab", ("tailrace-slab", "n1=1280000", "n2=25", "repeat=5")),
        ("particle", ("tailrace-particle", "timesteps=5", "dim_1=1048576", "repeat=5")),
    )
    for name, words in kernels:
        yield Case(
            "hooks-record",
            f"recording {name} (HDF5, all hooks), wall time",
            "tmpfs",
            Kernel(ranks, words, False),
            Kernel(ranks, words, True),
            1 / 1.05,
            unit="1/s",
        )


def _gain(_: Machine, __: int) -> Iterator[Case]:
    chunks = "h5py, gzip chunks larger than the chunk cache"
    for words, what in ((), chunks), (("reopen",), f"{chunks}, opened anew for each read"):
        yield Case(
            "hooks-gain",
            f"{what}: with apply / as it is, end to end",
            "tmpfs",
            Script(False, words),
            Script(True, words),
            20,
            unit="1/s",
        )


makers: dict[str, Callable[[Machine, int], Iterator[Case | CallCase]]] = {
    "hooks-cost": _cost,
    "hooks-record": _record,
    "hooks-gain": _gain,
}
