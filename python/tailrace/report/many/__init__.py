# SPDX-License-Identifier: Apache-2.0
"""Figures of Records that belong together: of a sweep, of a scaling."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.report.many.scalings import scaling_figures
from tailrace.report.many.sweeps import sweep_figures
from tailrace.report.model import Figure, Notice
from tailrace.results import Record
from tailrace.scale.scaling import mode_of
from tailrace.sweep.data import is_sweep


def figures(records: Sequence[Record]) -> tuple[list[Figure], list[Notice]]:
    """Of the last sweep and the last scaling among these; what is to be said of others."""
    found: list[Figure] = []
    notices: list[Notice] = []
    for what, make, belongs in (
        ("sweep", sweep_figures, is_sweep),
        ("scaling", scaling_figures, lambda record: mode_of(record) is not None),
    ):
        names = list(dict.fromkeys(r.arm.comparison for r in records if r.arm and belongs(r)))
        if not names:
            continue
        found += make([r for r in records if r.arm and r.arm.comparison == names[-1]])
        if len(names) > 1:
            words = (
                f"These Records are of {len(names)} {what}s; the plots are of the last one, "
                f"{names[-1]}. Another: results.jsonl::comparison={names[0]}."
            )
            notices.append(Notice("info", words))
    return found, notices
