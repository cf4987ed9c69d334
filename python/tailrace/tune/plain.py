# SPDX-License-Identifier: Apache-2.0
"""What the program leaves with nothing of ours in it, held against the default of the proofs: that
runs under the connector and the hooks, and a program may behave otherwise there."""

from __future__ import annotations

from dataclasses import replace

from tailrace.tune import closes, content
from tailrace.tune.content import ByItself, Result


def differences(default: Result, plain: Result, known: ByItself) -> list[str]:
    """Of the files as they are in the end: copies at closes, and hashes of what is read, are known
    only with the hooks. Sentences, each with the file."""
    files = {
        name: path
        for name, path in default.files.items()
        if name in plain.files or not closes.is_close(name)
    }
    kept = {name: itself for name, itself in known.files.items() if name in files}
    report = content.against_default(
        replace(default, files=files, reads={}, unseen=0, notes=()),
        plain,
        replace(known, files=kept, reads=frozenset()),
    )
    # Who reads under the connector is compared by that; what it prints is mostly about the run.
    prints = "what is printed:" if default.reads else None
    return [one for one in report.differences if prints is None or not one.startswith(prints)]
