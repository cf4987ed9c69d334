# SPDX-License-Identifier: Apache-2.0
"""A run of its own: a process in a fresh folder, on a machine at rest, its Records taken back."""

from __future__ import annotations

import json
import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tailrace.results.append import append_records
from tailrace.results.model import Json
from tailrace.run.execute import execute
from tailrace.run.quiet import settle
from tailrace.run.variant import Variant


@dataclass(frozen=True)
class Place:
    """Of a run among those that belong together; it stands in its Records as `arm`.

    round 0 holds the warm-ups: those Records count for nothing.
    """

    comparison: str
    name: str
    round: int
    without: tuple[str, ...] = ()  # factors of a sweep that have no effect in the combination
    default: bool = False  # of a sweep: it runs as if nothing was varied


@dataclass(frozen=True)
class FreshRun:
    """elapsed_s: its start and the wait before it included."""

    code: int
    records: list[Json]
    elapsed_s: float

    @property
    def why(self) -> str:
        """What its Records say of a failure; the program has said it on standard error too."""
        return next((one["error"]["message"] for one in self.records if one["error"]), "")


def run_fresh(
    program: Path,
    variant: Variant,
    place: Place,
    results: Path,
    line: Callable[[str], None] = lambda _line: None,  # its text is no result of ours
    told: set[str] | None = None,  # warnings of earlier runs, which need not be told again
) -> FreshRun:
    """Appends the Records to `results`, also those of a failed run.

    Raises KeyboardInterrupt after a signal: then nothing of this run is kept.
    """
    started = time.monotonic()
    # Named here, not by tempfile: an interrupt behind the making would leave it without a name.
    folder = variant.filename.parent / f"tailrace-run-{secrets.token_hex(6)}"
    try:
        folder.mkdir(mode=0o700)
        settle()
        file = folder / "results.jsonl"
        ended = execute(
            variant.command(program, folder, file),
            stdin=None,
            environment=variant.launch.environment,
            line=line,
            told=told,
        )
        records = _records(file)
    finally:
        _remove(folder)
    if ended.signal_number:
        raise KeyboardInterrupt
    for record in records:
        record["arm"] = {
            key: value
            for key, value in vars(place).items()
            if value not in ((), False) or key == "round"
        }
        record["warm_up"] = record["warm_up"] or place.round == 0
    if records:
        append_records(results, records)
    return FreshRun(ended.code, records, time.monotonic() - started)


def _remove(folder: Path) -> None:
    """Whole, although an interrupt comes meanwhile."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _records(file: Path) -> list[Json]:
    if not file.is_file():
        return []
    # Lines end with \n alone: a name may hold what else Python takes for the end of one.
    return [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
