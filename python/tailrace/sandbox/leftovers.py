# SPDX-License-Identifier: Apache-2.0
"""What a tune that was killed has left: it is put right before anything else, whatever becomes of
the tune that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tailrace.sandbox import ownership, processes
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.outside_files import outside_of
from tailrace.sandbox.safekeeping import Aside
from tailrace.units import plural

Say = Callable[[str], None]


def put_right(ledger: Ledger, scratch: Path, say: Say) -> None:
    """scratch: of the tune that was killed. Raises: something of it could not be put right."""
    _end_processes(ledger, scratch / processes.session, say)
    _put_back_outside(ledger, scratch, say)


def _end_processes(ledger: Ledger, noted: Path, say: Say) -> None:
    """Before anything is put back: they would write into it once more."""
    if host := processes.elsewhere(noted):
        say(f"a run of it was at work on {host}: see that no process of it is left there")
    if ended := processes.end_noted(noted, ledger.known("temporary")):
        say(f"ended what a killed run had left: {plural(len(ended), 'process')}")


def _put_back_outside(ledger: Ledger, scratch: Path, say: Say) -> None:
    """Files beyond the working folder. What stands there may be an edit made since the kill."""
    aside = Aside(scratch / ownership.put_aside, scratch / "written.json")
    if said := outside_of(ledger.known("recorded"), scratch).brought_back(aside.free_place):
        say(f"{said}; what stood there is in {aside.folder}")
