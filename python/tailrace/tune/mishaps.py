# SPDX-License-Identifier: Apache-2.0
"""Runs that went wrong once, which a program or a machine does now and then: they are made once
more. What goes well the second time is forgiven, once, and always told."""

from __future__ import annotations

from typing import Any

from tailrace.sandbox.ledger import Ledger

Document = dict[str, Any]

_default, _plan = "default", "plan"
BETWEEN = ", the default after it"  # the name of that run
_most_stalls = 3  # of the default in a tune


class _Mishaps:
    """Of one tune, whatever its stages and plans: what was forgiven is a fact, with the run."""

    _key, _suffix = "", ""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def was_no_chance(self, name: str) -> None:
        """It went wrong the second time too, and so nothing was forgiven. The run stays a fact."""
        self._note(name, self._ledger.known(f"{name}{self._suffix}"), "")

    def _note(self, name: str, run: Document, why: str) -> None:
        self._ledger.note(f"{name}{self._suffix}", {**run, self._key: why})

    def _forgiven(self) -> dict[str, Document]:
        """By the names of the runs."""
        return {
            name.removesuffix(self._suffix): run
            for name, run in self._ledger.all().items()
            if isinstance(run, dict) and run.get(self._key)
        }


class Failures(_Mishaps):
    """Runs with a plan that failed, where none by default has. The default is made once more, which
    ends the tune where it fails, and then the run itself."""

    _key, _suffix = "failed_once", ", which failed"

    @property
    def may_be_forgiven(self) -> bool:
        """A second one is no chance any more, where the default has never failed."""
        return not self._forgiven()

    def forgive(self, name: str, run: Document, words: str) -> None:
        self._note(name, run, words)

    def in_words(self, name: str) -> str:
        """What is to be said besides of a run that failed."""
        if self._ledger.known(f"{name}{self._suffix}") is not None:
            return ", and again after a default run that did not"
        if self._ledger.known(f"{name}{BETWEEN}") is not None:
            return ", as an earlier run with settings did, and no default run"
        return ""

    @property
    def notes(self) -> list[str]:
        return [
            f"{name} was repeated: it failed ({run[self._key]}), and the default run after it did "
            "not. Perhaps the program fails now and then, by default too; perhaps it fails now and "
            "then with the plan only"
            for name, run in self._forgiven().items()
        ]


class Limits(_Mishaps):
    """Runs that met the limit that follows from how long the default took. One stall of the machine
    can do that, and so can a plan that hangs now and then."""

    _key, _suffix = "forgiven", ", at its limit"

    def forgive(self, name: str, run: Document, *, is_default: bool) -> bool:
        """Whether a run that met its limit may be made once more. With a plan once more often than
        by default: where that stalls too, it is the machine, which may do so now and then."""
        of_default, of_plan = self._count(_default), self._count(_plan)
        if of_default >= _most_stalls if is_default else of_plan > of_default:
            return False
        self._note(name, run, _default if is_default else _plan)
        return True

    @property
    def notes(self) -> list[str]:
        return [
            f"{name} was repeated: it met its time limit and was ended after {run['run_s']:.1f} s. "
            "Perhaps the machine stalled; perhaps the program hangs now and then, by default or "
            "with the plan"
            for name, run in self._forgiven().items()
        ]

    def _count(self, arm: str) -> int:
        return sum(run[self._key] == arm for run in self._forgiven().values())
