# SPDX-License-Identifier: Apache-2.0
"""What a program says to its inputs, without a run."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

_patience_s = 120
_alone = {"OMPI_MCA_ess_singleton_isolated": "1"}  # Open MPI starts no daemon for one process
# Processes that it starts so take one name for their files, and of two at once the first to end
# removes those of the other, whose start then fails now and then.
_place_of_files = "OMPI_MCA_orte_tmpdir_base"


@dataclass(frozen=True)
class Said:
    """By a dry run. configuration: the effective one, without comments."""

    code: int
    out: str
    err: str
    elapsed_s: float

    @property
    def configuration(self) -> str:
        return "\n".join(line.partition("  #")[0] for line in self.out.splitlines()[1:])

    @property
    def error(self) -> str:
        """Its first, without the program's name; where it has none, its exit code in words, with
        what was said first by whoever did."""
        begin = "tailrace: error: "
        lines = [line for line in self.err.splitlines() if line.startswith(begin)]
        text = lines[0].removeprefix(begin) if lines else ""
        if text:
            return text
        words = next((line for line in self.err.splitlines() if re.search(r"\w", line)), "")
        return f"the program ended with exit code {self.code}" + (f": {words}" if words else "")


def options(ranks: int) -> list[str]:
    """For a program that shall only say, on one process, what a run on so many ranks would do."""
    return ["--dry-run", "--ranks", str(ranks)]


def dry_run(
    program: Path, words: Sequence[str], ranks: int, environment: Mapping[str, str], *,
    stdin: bytes = b"", folder: Path | None = None,
) -> Said:  # fmt: skip
    """On one process, for that many ranks; in the folder, where one is named.

    Raises OSError and subprocess.TimeoutExpired where it cannot be started or does not end.
    """
    started = time.monotonic()
    given = {**os.environ, **_alone, **environment}
    above = given.get(_place_of_files)
    if above:  # which Open MPI would make
        Path(above).mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="tr.", dir=above or None, ignore_cleanup_errors=True) as own:
        ran = subprocess.run(
            [str(program), *options(ranks), *words],
            input=stdin,
            capture_output=True,
            timeout=_patience_s,
            check=False,
            cwd=folder,
            env={**given, _place_of_files: own},
        )
    out, err = (text.decode("utf-8", "replace") for text in (ran.stdout, ran.stderr))
    return Said(ran.returncode, out, err, time.monotonic() - started)
