# SPDX-License-Identifier: Apache-2.0
"""All that follows from the Records of a scaling."""

from __future__ import annotations

from dataclasses import dataclass

from tailrace.results import Record
from tailrace.scale.curve import Point, curve, real_seconds
from tailrace.scale.model import Model, NoModel, fit
from tailrace.sweep.data import Runs

_prefix = "scale_"


@dataclass(frozen=True)
class Scaling:
    runs: Runs
    mode: str
    points: list[Point]
    model: Model | NoModel


def scaling(runs: Runs, mode: str) -> Scaling:
    points = curve(runs, mode)
    return Scaling(
        runs, mode, points, fit(points, mode, [real_seconds(runs, one.case) for one in points])
    )


def mode_of(record: Record) -> str | None:
    """weak or strong, of a Record that `tailrace scale` has made; None for others."""
    comparison = record.arm.comparison if record.arm is not None else ""
    if not comparison.startswith(_prefix):
        return None
    return comparison.removeprefix(_prefix).partition("-")[0]
