# SPDX-License-Identifier: Apache-2.0
"""Open MPI's two implementations of MPI-IO: whether the other one is there, and what a search tries
of it. OMPIO's own numbers are left alone: with several aggregators it loses data in some runs, and
no number of equal ones shows that it does not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tailrace.doctor.mpi import offered
from tailrace.run.launcher import launchers

Document = dict[str, Any]

choice = "OMPI_MCA_io"
_not_ompio = "^ompio"
_romio_buffer_bytes = 16 << 20  # its default


def why_not(plan: Document, command: Sequence[str]) -> str:
    """Why files cannot be opened by the other one, as ompi_info beside the launcher tells; "": they
    can, or nobody tells, and the first run does."""
    if not rule_of(plan):
        return ""
    first = shutil.which(command[0]) or command[0]
    beside = Path(first).parent / "ompi_info"
    own = Path(first).name.startswith(launchers) and beside.is_file()
    there = offered(str(beside) if own else "ompi_info")
    if not there or any(name.startswith("romio") for name in there):
        return ""
    return f"this Open MPI has no other MPI-IO than {', '.join(sorted(there))}"


def alternatives(plan: Document) -> Iterator[tuple[str, Document]]:
    """A name for each, and the plan with it: numbers of ROMIO, where the plan chooses it."""
    if (one := _variable(plan, choice)) is None or one["value"] != _not_ompio:
        return
    for count in sorted({2, _ranks(one)}) if _ranks(one) > 1 else []:
        hints = {"cb_nodes": f"{count}", "cb_config_list": f"*:{count}"}
        yield from _romio(plan, one, f"{count} aggregators", hints)
    for size in (2 * _romio_buffer_bytes, _romio_buffer_bytes // 2):
        yield from _romio(plan, one, f"cb_buffer_size {size}", {"cb_buffer_size": f"{size}"})
    off = {"romio_cb_write": "disable", "romio_ds_write": "disable"}
    yield from _romio(plan, one, "no collective buffering", off)


def rule_of(plan: Document) -> str:
    """That has chosen; "": none has."""
    one = _variable(plan, choice)
    return str(one["because"]["rule"]) if one else ""


def _variable(plan: Document, name: str) -> Document | None:
    return next((one for one in plan.get("environment", []) if one["name"] == name), None)


def _ranks(variable: Document) -> int:
    """Of the file, as the rule has seen them."""
    evidence = variable["because"].get("evidence", [])
    return next((int(one["value"]) for one in evidence if one["name"] == "file.ranks"), 1)


def _romio(
    plan: Document, one: Document, what: str, hints: dict[str, str]
) -> Iterator[tuple[str, Document]]:
    """Hints for all files of the program, as the variable is; not where the plan has such ones."""
    there = {setting["key"] for entry in plan.get("entries", []) for setting in entry["settings"]}
    keys = {f"hint.{name}": value for name, value in hints.items()}
    if there & keys.keys():
        return
    kind = one.get("class", "collective")
    settings = [
        {"key": key, "value": value, "class": kind, "because": one["because"]}
        for key, value in keys.items()
    ]
    entries = [dict(entry) for entry in plan.get("entries", [])]
    for entry in entries:
        if entry["file"] == "*" and not entry.get("dataset"):
            entry["settings"] = [*entry["settings"], *settings]
            break
    else:
        entries.append({"file": "*", "dataset": "", "when": "any", "settings": settings})
    rest = {key: value for key, value in plan.items() if key != "hash"}
    yield f"rule {one['because']['rule']}, ROMIO: {what}", {**rest, "entries": entries}
