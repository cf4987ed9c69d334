# SPDX-License-Identifier: Apache-2.0
"""What the program leaves with nothing of ours in it, held against the default of the proofs: that
runs under the connector and the hooks, and a program may behave otherwise there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tailrace.tune import closed_files, content
from tailrace.tune.content import ByItself, Result

_otherwise = "without Tailrace's hooks the program leaves other files than with them"


@dataclass(frozen=True)
class Differences:
    """with_ours: sentences, each with the file. names: of files that no run before has written,
    where those of the default differ from run to run: the connector may have no part in them."""

    with_ours: list[str]
    names: list[str]

    @property
    def reason(self) -> str:
        """Why nothing can be proven; "": nothing differs."""
        if self.with_ours:
            return f"{_otherwise}: {self.with_ours[0]}"
        if self.names:
            return (
                f"names of its files differ from run to run, and {self.names[0]} is like none "
                "before: let the program give its files the same names each time"
            )
        return ""

    @property
    def notes(self) -> list[str]:
        """Each of them."""
        return [
            *(f"differs with Tailrace's hooks: {one}" for one in self.with_ours),
            *(f"was written by one run alone: {name}" for name in self.names),
        ]


def differences(default: Result, plain: Result, known: ByItself) -> Differences:
    """Of the files as they are in the end: copies at closes, and hashes of what is read, are known
    only with the hooks."""
    files = {
        name: path
        for name, path in default.files.items()
        if name in plain.files or not closed_files.is_close(name)
    }
    kept = {name: itself for name, itself in known.files.items() if name in files}
    names = _names_of_one_run(default, plain, known)
    report = content.against_default(
        replace(default, files=files, reads={}, unseen=0, notes=()),
        plain,
        replace(known, files=kept, only=(*known.only, *names), reads=frozenset()),
    )
    # Who reads under the connector is compared by that; what it prints is mostly about the run.
    prints = "standard output:" if default.reads else None
    found = [one for one in report.differences if prints is None or not one.startswith(prints)]
    return Differences(found, names)


def _names_of_one_run(default: Result, plain: Result, known: ByItself) -> list[str]:
    """New names where the default has such too, in no pattern that could be followed."""
    if not known.renamed and all(closed_files.is_close(name) for name in known.only):
        return []
    plain = known.by_first_names(default, plain)
    new = plain.files.keys() - default.files.keys()
    return sorted(name for name in new if not known.forgives(name))
