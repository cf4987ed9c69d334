# SPDX-License-Identifier: Apache-2.0
"""Plans written by hand, and runs with them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

from profiled import profiled, script
from tailrace_cli import Ran, tailrace

from tailrace.intent import advice, proof
from tailrace.native import core

Json = dict[str, Any]


def setting(rule: str, key: str, value: Any = None, cls: str = "safe", **more: Any) -> Json:
    because = {"rule": rule, "text": "t", "effect": "e", "source": "s"}
    given = {} if value is None else {"value": value}
    return {"key": key, **given, **more, "class": cls, "because": because}


def entry(file: str, *settings: Json, dataset: str = "", when: str = "any") -> Json:
    return {"file": file, "dataset": dataset, "when": when, "settings": list(settings)}


def for_files(pattern: str, threshold_bytes: int) -> Json:
    """What shows in a file but changes nothing that it says."""
    return entry(
        pattern,
        setting("1", "alignment_threshold_bytes", threshold_bytes, "layout"),
        setting("1", "alignment_bytes", 4096, "layout"),
        setting("3", "meta_block_bytes", 1 << 16),
        setting("11", "sieve_buffer_bytes", 1 << 20),
        setting("7", "metadata_cache_initial_bytes", 16 << 20),
    )


def for_datasets(pattern: str, *more: Json) -> Json:
    """What changes memory only."""
    cache = setting("13", "chunk_cache_bytes", 1 << 22)
    return entry(pattern, cache, setting("36", "conversion_buffer_bytes", 1 << 17), *more,
                 dataset="/*")  # fmt: skip


def write_plan(folder: Path, *entries: Json, name: str = "plan.json") -> Path:
    file = folder / name
    origin = {"version": "0"}
    file.write_text(json.dumps({"schema": "tailrace-plan/1", "origin": origin, "entries": entries}))
    return file


def prove(plan: Path, *words: str | Path, **changes: str | None) -> Path:
    """The plan with the proof of a run that is made here, without it."""
    document, command = advice.load(plan), [str(word) for word in words]
    before = proof.files_of(command)
    ran, profile = profiled(plan.parent, *command, **changes)
    ran.expect(0)
    own = {name: value for name, value in changes.items() if value is not None}
    with patch.dict(os.environ, own):  # as the run had it
        document["proof"] = proof.of_run(document, command, before, profile)
    plan.write_text(json.dumps(document))
    return plan


def compiled(plan: Path) -> Path:
    module = core()
    assert module is not None
    file = plan.with_suffix(".compiled")
    file.write_bytes(module.compiled_plan(plan.read_text(), str(plan)))
    return file


def applied(
    folder: Path, plan: Path, text: str, *options: str, **changes: str | None
) -> tuple[Ran, dict[tuple[str, str], Json]]:
    """How a script ended under a plan, and the lines by rule and setting."""
    ran = tailrace(
        "apply", plan, "--json", *options, "--", *script(folder, text), cwd=folder, **changes
    )
    assert list(folder.glob("*.spools*")) == []
    lines = reversed(ran.json["lines"])  # of several about one setting the first
    return ran, {(line["rule"], line["setting"]): line for line in lines}
