# SPDX-License-Identifier: Apache-2.0
"""All suites, of all fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tailrace_bench.cases import AnyCase
from tailrace_bench.machine import Machine

from hooks import suites as hooks
from kernels import suites as kernels
from server import suites as server

makers: dict[str, Callable[[Machine, int], Iterator[AnyCase]]] = {
    **kernels.makers,
    **hooks.makers,
    **server.makers,
}


def names() -> set[str]:
    return set(makers)


def all_cases(machine: Machine, ranks: int, wanted: list[str] | None) -> list[AnyCase]:
    return [
        case
        for name, maker in makers.items()
        if not wanted or name in wanted
        for case in maker(machine, ranks)
    ]
