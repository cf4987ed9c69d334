# SPDX-License-Identifier: Apache-2.0
"""Runs that met the limit that follows from how long the default took. One stall of the machine can
do that, and so can a plan that hangs now and then: so it is forgiven once, and always told."""

from __future__ import annotations

from typing import Any

from tailrace.sandbox.ledger import Ledger

Document = dict[str, Any]

_key, _default, _plan = "forgiven", "default", "plan"
_suffix = ", at its limit"


class Limits:
    """Of one tune, whatever its stages and plans: what was forgiven is a fact, with the run."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def forgive(self, name: str, run: Document, *, is_default: bool) -> bool:
        """Whether a run that met its limit may be made once more. With a plan once more often than
        by default: where that stalls too, it is the machine."""
        of_default, of_plan = self._count(_default), self._count(_plan)
        if of_default > 0 if is_default else of_plan > of_default:
            return False
        arm = _default if is_default else _plan
        self._ledger.note(f"{name}{_suffix}", {**run, _key: arm})
        return True

    def was_no_stall(self, name: str) -> None:
        """It met the limit the second time too, which is told as a hang: so nothing was forgiven.
        The run stays a fact."""
        run = dict(self._ledger.known(f"{name}{_suffix}"))
        self._ledger.note(f"{name}{_suffix}", {**run, _key: ""})

    @property
    def notes(self) -> list[str]:
        return [
            f"{name.removesuffix(_suffix)} was made once more: it met its time limit, and was "
            f"ended after {run['run_s']:.1f} s. One stall of the machine can do that; a program "
            "that hangs now and then, by default or with the plan, does it too"
            for name, run in self._forgiven().items()
        ]

    def _count(self, arm: str) -> int:
        return sum(run[_key] == arm for run in self._forgiven().values())

    def _forgiven(self) -> dict[str, Document]:
        facts = self._ledger.all().items()
        return {name: run for name, run in facts if isinstance(run, dict) and run.get(_key)}
