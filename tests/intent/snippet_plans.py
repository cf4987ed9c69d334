# SPDX-License-Identifier: Apache-2.0
"""Plans with what a test wants in them, as `tailrace advise` would hand them to the snippets."""

from __future__ import annotations

from typing import Any

from tailrace.intent.advice import rule_table

Json = dict[str, Any]
FILE, DATASET = "/data/*.h5", "/g/x"
OF_DATASET = {"new dataset", "dataset", "transfer"}


def setting(key: str, value: Any, rule: str = "1") -> Json:
    because = {"rule": rule, "text": "", "evidence": [], "effect": "", "source": ""}
    return {"key": key, "value": value, "class": "safe", "because": because}


def plan_of(
    of_file: Json, of_dataset: Json | None = None, path: str = FILE, dataset: str = DATASET
) -> Json:
    """Settings of a file and of a dataset in it."""
    entries = [
        {"file": path, "dataset": name, "when": "any",
         "settings": [setting(key, value) for key, value in values.items()]}
        for name, values in (("", of_file), (dataset, of_dataset or {}))
        if values
    ]  # fmt: skip
    return {"entries": entries, "environment": []}


def preemption_alone(path: str = FILE, asked: Json | None = None) -> Json:
    """What rules 14 and 15 make: the preemption, and what cache was asked for when profiled."""
    plan = plan_of({}, {"chunk_cache_preemption": 0.5}, path)
    plan["entries"][0]["settings"][0]["because"]["evidence"] = [
        {"name": f"dataset.{key}_asked_for", "value": value} for key, value in (asked or {}).items()
    ]
    return plan


def every_setting() -> list[tuple[str, str, Any]]:
    """(key, what it is of, value): each word and both flags of every key there is."""
    found: list[tuple[str, str, Any]] = []
    for one in rule_table([])["settings"]:
        key = one["key"].replace("NAME", "cb_nodes")
        for value in _values(key, one):
            found.append((key, one["of"], value))
    return found


def _values(key: str, one: Json) -> list[Any]:
    if key.startswith("hint."):
        return ["4"]
    if one["words"]:
        return list(one["words"].split())
    if key == "chunk":
        return [[128, 3000]]
    if key == "chunk_cache_preemption":
        return [0.5]
    if key == "chunk_cache_slots":
        return [521]
    if (one["low"], one["high"]) == (0, 1):
        return [True, False]
    return [int(max(one["low"], min(8, one["high"])))]


def plan_with(key: str, of: str, value: Any) -> Json:
    """A plan of one setting."""
    one = {key: value}
    return plan_of({}, one) if of in OF_DATASET else plan_of(one)
