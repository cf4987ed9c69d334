# SPDX-License-Identifier: Apache-2.0
"""What the parts of a section are made of: a group of Records, some of them in full."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tailrace.report import numbers
from tailrace.report.known_phases import phase_order
from tailrace.results import Group, Record
from tailrace.results.model import off_the_clock

Json = dict[str, Any]

_most_read_in_full = 24


@dataclass
class View:
    """name: unique on the page, begins the names of figures."""

    name: str
    group: Group

    @cached_property
    def position(self) -> dict[int, int]:
        """Number of each Record (by its id()) in the order of the files, counted from 1."""
        return {id(record): place for place, record in enumerate(self.group.records, 1)}

    @cached_property
    def timed(self) -> list[Record]:
        return self.group.timed

    @cached_property
    def typical(self) -> Record:
        return self.group.typical()

    @cached_property
    def full(self) -> Json:
        """The typical repetition with everything."""
        return self.typical.full()

    @cached_property
    def some_in_full(self) -> list[Json]:
        """Timed repetitions, evenly spread where there are very many."""
        places = numbers.spread(len(self.timed), _most_read_in_full)
        return [
            self.full if self.timed[place] is self.typical else self.timed[place].full()
            for place in places
        ]

    @cached_property
    def _known(self) -> dict[str, list[float]]:
        return {}

    def values(self, name: str) -> list[float]:
        """As Group.values, computed once: there may be very many Records."""
        if name not in self._known:
            found = (getattr(record, name) for record in self.timed)
            self._known[name] = [float(value) for value in found if value is not None]
        return self._known[name]

    @cached_property
    def phase_spreads(self) -> dict[str, np.ndarray]:
        """Of each phase on the clock an array (repetition, [min, mean, max over ranks, on
        the path]) in seconds; of the measured repetitions, of all where there is none."""
        by_names: dict[tuple[str, ...], list[bytes]] = {}
        for record in self.timed or self.group.records:
            by_names.setdefault(record.phase_names, []).append(record.phase_s.tobytes())
        parts: dict[str, list[np.ndarray]] = {}
        for names, texts in by_names.items():
            times = np.frombuffer(b"".join(texts)).reshape(len(texts), len(names), 4)
            for place, name in enumerate(names):
                parts.setdefault(name, []).append(times[:, place, :])
        return {name: np.concatenate(parts[name]) for name in self.phase_names if name in parts}

    def typical_words(self) -> str:
        """Which repetition stands for all."""
        place = self.position[id(self.typical)]
        if not self.timed:
            return f"Shown is number {place}, the last one: none is left after the warm-up."
        if len(self.timed) == 1:
            return f"Shown is number {place}, the only measured one."
        return f"Shown is number {place}, the one with the median durable time."

    @cached_property
    def phase_names(self) -> list[str]:
        """Phases on the clock, in the order in which a run passes them."""
        alike = {record.phase_names for record in self.group.records}
        found = {name for names in alike for name in names}
        return sorted(found - off_the_clock, key=phase_order)
