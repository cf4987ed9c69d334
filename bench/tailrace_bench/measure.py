# SPDX-License-Identifier: Apache-2.0
"""Runs the arms of a case, interleaved in random order."""

from __future__ import annotations

import os
import random
import sys
from typing import Any

from tailrace.run.quiet import settle

from .cases import AnyCase, Arm, MemoryCase, RunFailed
from .machine import Machine, remove

Measured = dict[str, list[dict[str, Any]]]


def run_case(case: AnyCase, machine: Machine, pairs: int, seed: int) -> Measured:
    """Figures per arm, the k-th of each from the same round. A round in which an arm failed is
    left out of all arms; the failures are kept."""
    if isinstance(case, MemoryCase):
        arms: dict[str, Arm] = {"candidate": case.arm}
        pairs = 3  # memory hardly varies
    else:
        arms = {"baseline": case.baseline, "same": case.baseline, "candidate": case.candidate}
    order = random.Random(seed)
    measured: Measured = {name: [] for name in [*arms, "failures"]}
    while len(measured["candidate"]) < pairs and len(measured["failures"]) < 3:
        names = list(arms)
        order.shuffle(names)
        figures = {}
        for name in names:
            try:
                figures[name] = _one(arms[name], case.where, machine)
            except RunFailed as failure:
                measured["failures"].append({"arm": name, "text": str(failure)})
                print(f"  {name}: {failure}", file=sys.stderr)
        if len(figures) == len(arms):
            for name, found in figures.items():
                measured[name].append(found)
    return measured


def _one(arm: Arm, where: str, machine: Machine) -> dict[str, Any]:
    folder = machine.fresh_folder(where)
    try:
        settle()
        figures = arm.run(machine, folder)
        figures["load_1m"] = os.getloadavg()[0]
        return figures
    finally:
        remove(folder)
