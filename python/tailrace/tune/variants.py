# SPDX-License-Identifier: Apache-2.0
"""Plans that differ from one in a single number: what a search tries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tailrace.errors import TailraceError
from tailrace.intent.native_calls import call

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


def around(plan: Document) -> list[Variant]:
    """Each number doubled and halved, by itself; settings of one rule that are the same in several
    places are changed together. What the checks of plans refuse is left out."""
    found: dict[str, Variant] = {}
    for entry in plan.get("entries", []):
        for setting in entry["settings"]:
            for name, changed in _changes(setting):
                if name not in found:
                    found[name] = Variant(name, _replaced(plan, setting, changed))
    return [variant for variant in found.values() if _is_good(variant.plan)]


def _changes(setting: Document) -> Iterator[tuple[str, Document]]:
    """Names and settings."""
    title = f"rule {setting['because']['rule']}, {setting['key']}"
    function = setting.get("function")
    if function is not None:
        argument = _arguments.get(function["name"])
        if argument in function.get("numbers", {}):
            for number in _near(function["numbers"][argument]):
                numbers = {**function["numbers"], argument: number}
                yield (
                    f"{title}: {argument} {number}",
                    {**setting, "function": {**function, "numbers": numbers}},
                )
        return
    value, key = setting.get("value"), setting["key"]
    if key == "chunk" and isinstance(value, list):
        for axis in range(len(value)):
            for extent in _near(value[axis]):
                chunk = [*value[:axis], extent, *value[axis + 1 :]]
                yield f"{title}: {'x'.join(map(str, chunk))}", {**setting, "value": chunk}
    elif key in _sizes and isinstance(value, int):
        for number in _near(value):
            yield f"{title}: {number}", {**setting, "value": number}
    elif key.startswith("hint.") and isinstance(value, str) and value.isdigit():
        for number in _near(int(value)):
            yield f"{title}: {number}", {**setting, "value": str(number)}


def _near(number: int) -> list[int]:
    return [number * 2, number // 2] if number > 1 else [number * 2]


def _replaced(plan: Document, old: Document, new: Document) -> Document:
    """The plan with one setting for another, wherever it stands."""
    same = _identity(old)
    entries = [
        {**entry, "settings": [new | {"because": one["because"]} if _identity(one) == same else one
                               for one in entry["settings"]]}
        for entry in plan["entries"]
    ]  # fmt: skip
    return {**{key: value for key, value in plan.items() if key != "hash"}, "entries": entries}


def _identity(setting: Document) -> str:
    """Rule, key and value; the evidence may be another one elsewhere."""
    kept = {key: setting.get(key) for key in ("key", "value", "function", "ranks")}
    return json.dumps([setting["because"]["rule"], kept], sort_keys=True)


def _is_good(plan: Document) -> bool:
    try:
        call("checked_plan", json.dumps(plan), "a variant")
    except TailraceError:
        return False
    return True
