# SPDX-License-Identifier: Apache-2.0
"""Plans that differ from one in a single number: what a search tries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tailrace.errors import TailraceError
from tailrace.intent.native_calls import call
from tailrace.tune import mpi_io

Document = dict[str, Any]

_sizes = {
    "alignment_bytes", "alignment_threshold_bytes", "chunk_cache_bytes", "conversion_buffer_bytes",
    "meta_block_bytes", "metadata_cache_initial_bytes", "page_buffer_bytes", "sieve_buffer_bytes",
    "small_data_block_bytes", "subfiling_stripe_bytes",
}  # fmt: skip
# The argument of a function that its result goes with.
_arguments = {
    "tile": "max_bytes", "block_per_rank": "max_bytes", "rows_of_bytes": "bytes",
    "fs_blocks": "count", "cache_of_selection": "percent",
}  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """name: what is another number, and which."""

    name: str
    plan: Document


@dataclass(frozen=True)
class Knob:
    """A number of a plan. places: of its setting, (entry, setting); the same setting of one rule in
    several places is one. axis: of a chunk. argument: of a function."""

    title: str
    number: int
    places: tuple[tuple[int, int], ...]
    axis: int | None = None
    argument: str = ""

    def changed(self, setting: Document, number: int) -> Document:
        """A setting at one of the places with another number."""
        if self.argument:
            function = setting["function"]
            numbers = {**function["numbers"], self.argument: number}
            return {**setting, "function": {**function, "numbers": numbers}}
        if self.axis is not None:
            chunk = [*setting["value"][: self.axis], number, *setting["value"][self.axis + 1 :]]
            return {**setting, "value": chunk}
        kind = type(setting["value"])  # hints are text
        return {**setting, "value": kind(number)}

    def words(self, setting: Document) -> str:
        """What a setting with another number is called."""
        if self.argument:
            number = setting["function"]["numbers"][self.argument]
            return f"{self.title}: {self.argument} {number}"
        value = setting["value"]
        shown = "x".join(map(str, value)) if isinstance(value, list) else value
        return f"{self.title}: {shown}"


def knobs(plan: Document) -> list[Knob]:
    """The numbers of a plan, in its order."""
    places: dict[str, list[tuple[int, int]]] = {}
    for number, entry in enumerate(plan.get("entries", [])):
        for place, setting in enumerate(entry["settings"]):
            places.setdefault(_identity(setting), []).append((number, place))
    found: list[Knob] = []
    for where in places.values():
        number, place = where[0]
        found += _knobs_of(plan["entries"][number]["settings"][place], tuple(where))
    return found


def with_number(plan: Document, knob: Knob, number: int) -> Variant:
    """The plan with another number at all places of a knob."""
    entries = [{**entry, "settings": list(entry["settings"])} for entry in plan["entries"]]
    for one, place in knob.places:
        settings = entries[one]["settings"]
        settings[place] = knob.changed(settings[place], number)
    one, place = knob.places[0]
    name = knob.words(entries[one]["settings"][place])
    return Variant(name, {**_without_hash(plan), "entries": entries})


def around(plan: Document) -> list[Variant]:
    """Each number doubled and halved, by itself, and those of MPI-IO. What the checks of plans
    refuse is left out."""
    found: dict[str, Variant] = {}
    for knob in knobs(plan):
        for number in _near(knob.number):
            variant = with_number(plan, knob, number)
            found.setdefault(variant.name, variant)
    for name, changed in mpi_io.alternatives(plan):
        found.setdefault(name, Variant(name, changed))
    return [variant for variant in found.values() if is_good(variant.plan)]


def _knobs_of(setting: Document, places: tuple[tuple[int, int], ...]) -> Iterator[Knob]:
    title = f"rule {setting['because']['rule']}, {setting['key']}"
    function = setting.get("function")
    if function is not None:
        argument = _arguments.get(function["name"], "")
        if argument in function.get("numbers", {}):
            yield Knob(title, function["numbers"][argument], places, argument=argument)
        return
    value, key = setting.get("value"), setting["key"]
    if key == "chunk" and isinstance(value, list):
        for axis, extent in enumerate(value):
            yield Knob(title, extent, places, axis)
    elif key in _sizes and isinstance(value, int):
        yield Knob(title, value, places)
    elif key.startswith("hint.") and isinstance(value, str) and value.isdigit():
        yield Knob(title, int(value), places)


def _near(number: int) -> list[int]:
    return [number * 2, number // 2] if number > 1 else [number * 2]


def _without_hash(plan: Document) -> Document:
    return {key: value for key, value in plan.items() if key != "hash"}


def _identity(setting: Document) -> str:
    """Rule, key and value; the evidence may be another one elsewhere."""
    kept = {key: setting.get(key) for key in ("key", "value", "function", "ranks")}
    return json.dumps([setting["because"]["rule"], kept], sort_keys=True)


def is_good(plan: Document) -> bool:
    """Whether the checks of plans take it."""
    try:
        call("checked_plan", json.dumps(plan), "a variant")
    except TailraceError:
        return False
    return True
