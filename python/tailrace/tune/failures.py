# SPDX-License-Identifier: Apache-2.0
"""Runs with a plan that failed, where none by default has. A program that fails now and then by
itself does that too: so the default is made once more, which ends the tune where it fails, and then
the run itself. What goes well the second time is forgiven, once, and always told."""

from __future__ import annotations

from typing import Any

from tailrace.sandbox.ledger import Ledger

Document = dict[str, Any]

_key = "failed_once"
_suffix = ", which failed"
BETWEEN = ", the default after it"  # the name of that run


class Failures:
    """Of one tune, whatever its stages and plans: what was forgiven is a fact, with the run."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @property
    def may_be_forgiven(self) -> bool:
        """A second one is no chance any more, where the default has never failed."""
        return not self._forgiven()

    def forgive(self, name: str, run: Document, words: str) -> None:
        self._ledger.note(f"{name}{_suffix}", {**run, _key: words})

    def was_no_chance(self, name: str) -> None:
        """It failed the second time too. The run stays a fact."""
        run = dict(self._ledger.known(f"{name}{_suffix}"))
        self._ledger.note(f"{name}{_suffix}", {**run, _key: ""})

    def in_words(self, name: str) -> str:
        """What is to be said besides of a run that failed."""
        if self._ledger.known(f"{name}{_suffix}") is not None:
            return ", and once more after the default had done well"
        if self._ledger.known(f"{name}{BETWEEN}") is not None:
            return ", as an earlier run with settings did, and none by default"
        return ""

    @property
    def notes(self) -> list[str]:
        return [
            f"{name.removesuffix(_suffix)} was made once more: it failed ({run[_key]}), and the "
            "default after it did not. A program that fails now and then by itself does that; so "
            "does a plan with which it fails now and then"
            for name, run in self._forgiven().items()
        ]

    def _forgiven(self) -> dict[str, Document]:
        facts = self._ledger.all().items()
        return {name: run for name, run in facts if isinstance(run, dict) and run.get(_key)}
