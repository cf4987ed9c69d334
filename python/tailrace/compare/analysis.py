# SPDX-License-Identifier: Apache-2.0
"""Two selections of Records compared: the headline, the verdict and what differs around it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tailrace import statistics
from tailrace.compare import differences
from tailrace.compare.differences import Difference, PhaseDifference
from tailrace.compare.pairing import Pairs, find_pairs
from tailrace.compare.sides import Side, Sides, metrics, read_sides
from tailrace.compare.words import verdict_words
from tailrace.results import Selection
from tailrace.results.model import Json
from tailrace.statistics import Comparison
from tailrace.units import plural


@dataclass(frozen=True)
class Analysis:
    """metric: durable, write or aggregate; of its rate the comparison is. same: A against A again,
    where the file holds that."""

    sides: Sides
    metric: str
    comparison: Comparison
    pairs: Pairs | None
    same: Comparison | None
    phases: list[PhaseDifference]
    writers: list[Difference]
    steps: list[Difference]
    configuration: list[Difference]
    in_force: list[Difference]
    context: list[Difference]
    notes: list[str]

    @property
    def verdict(self) -> list[str]:
        """In words: the verdict, and what has to be said with it."""
        return verdict_words(self.comparison, self.metric)

    def as_json(self) -> Json:
        return {
            "metric": self.metric,
            "a": _side_json(self.sides.a),
            "b": _side_json(self.sides.b),
            "comparison": self.comparison.as_json(),
            "pairs_by": self.pairs.how if self.pairs else None,
            "pairs_dropped": self.pairs.dropped if self.pairs else 0,
            "a_against_a": self.same.as_json() if self.same else None,
            "words": self.verdict,
            "phases": [one.as_json() for one in self.phases],
            "writers": differences.as_json(self.writers),
            "steps": differences.as_json(self.steps),
            "configuration": differences.as_json(self.configuration),
            "in_force": differences.as_json(self.in_force),
            "context": differences.as_json(self.context),
            "notes": self.notes,
            "left_out": self.sides.problems.as_json(),
        }


def analyse(a: Selection, b: Selection, metric: str = "durable") -> Analysis:
    """Raises TailraceError where the two cannot be compared."""
    sides = read_sides(a, b, metric)
    figure = f"{metric}_bytes_per_s"
    pairs = find_pairs(sides.a, sides.b, figure, sides.everything)
    comparison, same = _compared(sides, pairs, figure)
    one, other = sides.a, sides.b
    return Analysis(
        sides=sides,
        metric=metric,
        comparison=comparison,
        pairs=pairs,
        same=same,
        phases=differences.phases(one, other),
        writers=differences.writers(one, other),
        steps=differences.steps(one, other),
        configuration=differences.configuration(one, other),
        in_force=differences.in_force(one, other),
        context=differences.context(one, other),
        notes=_notes(sides, pairs),
    )


def _compared(
    sides: Sides, pairs: Pairs | None, figure: str
) -> tuple[Comparison, Comparison | None]:
    """Rates: the larger the better."""
    if pairs is None:
        values = sides.a.values(figure), sides.b.values(figure)
        return statistics.compare_unpaired(*values, "larger"), None
    if pairs.same is None:
        return statistics.compare(pairs.a, pairs.b, "larger"), None
    same = statistics.compare(*pairs.same, "larger")
    return statistics.compare_checked(*pairs.same, pairs.a, pairs.b, "larger"), same


def _notes(sides: Sides, pairs: Pairs | None) -> list[str]:
    notes = []
    for side in (sides.a, sides.b):
        if side.warm_ups:
            notes.append(f"{side.name}: {plural(len(side.warm_ups), 'warm-up')} left out")
        if side.lost:
            first = side.lost[0]
            notes.append(
                f"{side.name}: {plural(len(side.lost), 'failed repetition')} left out "
                f"({first.where}: {first.error})"
            )
    if pairs and pairs.dropped:
        notes.append(f"{plural(pairs.dropped, 'pair')} left out: a side failed or is missing")
    sizes = [set(side.values("logical_bytes")) for side in (sides.a, sides.b)]
    if sizes[0] != sizes[1]:
        notes.append("A and B did not write the same number of bytes; the rates are compared")
    return notes + sides.problems.texts()


def _side_json(side: Side) -> Json:
    rates = {f"{name}_bytes_per_s": side.values(f"{name}_bytes_per_s") for name in metrics}
    return {
        "selection": side.selection.text,
        "kernel": side.kernel,
        "records": len(side.records),
        "repetitions": len(side.timed),
        "warm_ups": len(side.warm_ups),
        "failed": len(side.lost),
        "runs": side.runs,
        "rates": {
            name: asdict(statistics.summarize(values)) if values else None
            for name, values in rates.items()
        },
    }
