# SPDX-License-Identifier: Apache-2.0
"""All combinations of what a plan can be: its rules on and off, its numbers at several levels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from tailrace.tune.rules_of_plan import rules_of, without
from tailrace.tune.variants import is_good, knobs, with_number

Json = dict[str, Any]


def combinations(plan: Json, levels: Sequence[float]) -> dict[str, Json]:
    """Plans by what they are called, each once; the first of them is none at all. levels: times
    each number of the plan. What the checks of plans refuse is left out."""
    found: dict[str, Json] = {}
    rules = [rule.id for rule in rules_of(plan)]
    for count in range(len(rules) + 1):
        for on in itertools.combinations(rules, count):
            part = without(plan, set(rules) - set(on))
            for name, one in _with_numbers(part, levels):
                found.setdefault(f"rules {', '.join(on) or 'none'}{name}", one)
    return {name: one for name, one in found.items() if not one["entries"] or is_good(one)}


def _with_numbers(plan: Json, levels: Sequence[float]) -> Iterator[tuple[str, Json]]:
    """By the numbers that are not as they were."""
    all_knobs = knobs(plan)
    for choice in itertools.product(levels, repeat=len(all_knobs)):
        one, names = plan, {}
        for knob, level in zip(all_knobs, choice, strict=True):
            number = max(1, round(knob.number * level))
            if number != knob.number:
                variant = with_number(one, knob, number)
                one, names[knob.title] = variant.plan, variant.name
        yield "".join(f"; {name}" for name in names.values()), one
