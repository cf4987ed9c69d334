# SPDX-License-Identifier: Apache-2.0
"""Open MPI's two implementations of MPI-IO: whether the other one is there, what a search tries of
either, and how often it is proven."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tailrace.doctor.mpi import offered
from tailrace.run.launcher import launchers

Document = dict[str, Any]

choice = "OMPI_MCA_io"
aggregators = "OMPI_MCA_io_ompio_num_aggregators"
_not_ompio = "^ompio"
_romio_buffer_bytes = 16 << 20  # its default
# With two aggregators OMPIO has lost data in every second run: this many equal ones are no chance.
_proofs_of_several = 8


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
    """A name for each, and the plan with it: numbers of OMPIO and of ROMIO."""
    if (one := _variable(plan, aggregators)) is not None:
        now = int(one["value"])
        for count in sorted({now * 2, now // 2} - {0}):
            if count <= _ranks(one):
                yield _ompio(plan, one, count)
    if (one := _variable(plan, choice)) is None or one["value"] != _not_ompio:
        return
    counts = sorted({2, _ranks(one)}) if _ranks(one) > 1 else []
    for count in counts:
        yield _ompio(plan, one, count)
    for count in counts:
        hints = {"cb_nodes": f"{count}", "cb_config_list": f"*:{count}"}
        yield from _romio(plan, one, f"{count} aggregators", hints)
    for size in (2 * _romio_buffer_bytes, _romio_buffer_bytes // 2):
        yield from _romio(plan, one, f"cb_buffer_size {size}", {"cb_buffer_size": f"{size}"})
    off = {"romio_cb_write": "disable", "romio_ds_write": "disable"}
    yield from _romio(plan, one, "no collective buffering", off)


def proofs(plan: Document) -> int:
    """How many runs have to leave the same content: OMPIO loses data of several aggregators, and
    not in each run."""
    one = _variable(plan, aggregators)
    return _proofs_of_several if one is not None and one["value"] != "1" else 1


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


def _title(variable: Document) -> str:
    return f"rule {variable['because']['rule']}"


def _ompio(plan: Document, one: Document, count: int) -> tuple[str, Document]:
    """In the place of a variable of the plan; what is for ROMIO only goes with it."""
    kept = [other for other in plan["environment"] if other is not one]
    changed = {**one, "name": aggregators, "value": str(count)}
    rule = one["because"]["rule"]
    entries = [
        entry for entry in plan.get("entries", [])
        if any(setting["because"]["rule"] != rule for setting in entry["settings"])
    ]  # fmt: skip
    name = f"{_title(one)}, OMPIO: {count} aggregators"
    return name, _changed(plan, entries=entries, environment=[*kept, changed])


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
    yield f"{_title(one)}, ROMIO: {what}", _changed(plan, entries=entries)


def _changed(plan: Document, **parts: Any) -> Document:
    return {**{key: value for key, value in plan.items() if key != "hash"}, **parts}
