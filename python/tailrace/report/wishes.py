# SPDX-License-Identifier: Apache-2.0
"""What was requested, and what happened."""

from __future__ import annotations

from tailrace.report.model import Wish
from tailrace.report.view import Json
from tailrace.results.texts import text_of

_unmeasured = "not measured"


def wishes(record: Json) -> list[Wish]:
    """Of one Record."""
    transfers, io = record["transfers"], record["mpi_io"]
    found = [
        _transfers(
            "Data transfers", transfers["collective_requested"], transfers["collective_actual"],
            transfers["mode"], transfers["no_collective_cause"],
        ),
        _transfers(
            "Metadata reads", transfers["metadata_collective_requested"],
            transfers["metadata_collective_actual"], transfers["metadata_evidence"],
        ),
    ]  # fmt: skip
    for name, value in io["hints_requested"].items():
        found.append(_hint(name, value, io["hints_in_force"]))
    found += _layout(record)
    found += [_reservation(record["reservation"]), _durable(record)]
    return found


def _transfers(subject: str, asked: bool, actual: bool | None, *evidence: str) -> Wish:
    words = {True: "collective", False: "independent"}
    happened = _unmeasured if actual is None else words[actual]
    met = None if actual is None else actual == asked
    said = "; ".join(part for part in evidence if part and part != happened)
    return Wish(subject, words[asked], happened, met, said)


def _hint(name: str, value: str, in_force: Json) -> Wish:
    there = in_force.get(name)
    happened = "not in force" if there is None else text_of(there)
    return Wish(f"Hint {name}", value, happened, there == value, "MPI_File_get_info")


def _layout(record: Json) -> list[Wish]:
    """Of formats that have one: chunks as they stand in the file."""
    there = record["file"]["settings"]
    if "chunk" not in record["configuration"] or "layout" not in there:
        return []
    chunk = record["configuration"]["chunk"]
    asked = f"chunks of {text_of(chunk)}" if chunk else "contiguous"
    happened = there["layout"]
    met = happened.startswith("chunked") if chunk else happened == "contiguous"
    return [Wish("Layout", asked, happened, met, "read back from the file")]


def _reservation(reservation: Json) -> Wish:
    reserved = reservation["reserved"]
    happened = _unmeasured if reserved is None else "yes" if reserved else "no"
    return Wish("Space set aside before writing", "where it can be", happened, None,
                reservation["how"])  # fmt: skip


def _durable(record: Json) -> Wish:
    done = record["file"]["durable"]
    return Wish("Data forced to the device", "yes", "yes" if done else "no", bool(done),
                "the sync returned success on every node" if done else "")  # fmt: skip
