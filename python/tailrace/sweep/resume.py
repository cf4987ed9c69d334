# SPDX-License-Identifier: Apache-2.0
"""Which sweep of a results file is to be gone on with."""

from __future__ import annotations

from tailrace.errors import TailraceError
from tailrace.results import Record, read_results
from tailrace.sweep.plan import Plan


def last_sweep(plan: Plan) -> str | None:
    """The name of the last one with the same kernel, inputs, factors, ranks and software; None
    where there is none. What stands in the name decides."""
    found: list[str] = []

    def of_it(record: Record) -> bool:
        if record.arm is not None and is_of(plan, record.arm.comparison):
            found.append(record.arm.comparison)
        return False

    if plan.results.is_file():
        try:
            read_results([plan.results], of_it)
        except TailraceError:  # it holds no Record at all
            if plan.results.stat().st_size:
                raise
    return found[-1] if found else None


def is_of(plan: Plan, sweep: str) -> bool:
    """BEGIN-STAMP-MARK-SEED."""
    parts = sweep.split("-")
    begin = plan.sweep.split("-")[0]
    return len(parts) == 4 and parts[0] == begin and parts[2] == plan.mark and parts[3].isdigit()
