# SPDX-License-Identifier: Apache-2.0
"""Files that a command is given: there, readable and not empty, before anything reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import TailraceError


@dataclass(frozen=True)
class Kind:
    """What a command wants, for its messages."""

    noun: str  # with its article
    remedy: str  # how to get one


PROFILE = Kind(
    "a profile or a Darshan log",
    "`tailrace profile -- command` makes a profile; a Darshan log ends in .darshan and is where "
    "`darshan-config --log-path` says",
)
LOG = Kind("a Darshan log", PROFILE.remedy)
PLAN = Kind("a plan", "`tailrace advise profile.json -o plan.json` makes one")
RULES = Kind(
    "a file of rules",
    "--rules wants a site's own rules, of schema tailrace-rules/1: docs/user/advise.md has an "
    "example",
)
DECLARATIONS = Kind(
    "a file of declarations",
    '--declare wants JSON such as {"files": {"*.h5": {"reliability": "scratch"}}}: '
    "docs/user/declare.md",
)
_killed = "Darshan writes it in MPI_Finalize: a job that was killed leaves none"


def check_it_is_a_file(path: Path, kind: Kind = PROFILE) -> None:
    """In words for people, which those of the libraries that read it are not.

    Raises:
        TailraceError: there is no such file, or nothing in it.
    """
    if not path.exists():
        raise TailraceError("there is no such file", where=str(path), hint=kind.remedy)
    if path.is_dir():
        raise TailraceError(
            f"this is a folder, and {kind.noun} is wanted", where=str(path), hint=kind.remedy
        )
    if not os.access(path, os.R_OK):
        raise TailraceError("it may not be read", where=str(path), hint="chmod, or its owner")
    if path.stat().st_size == 0:
        is_log = kind is LOG or (kind is PROFILE and path.suffix != ".json")
        raise TailraceError(
            "the log is empty" if is_log else f"the file is empty, and {kind.noun} is wanted",
            where=str(path),
            hint=_killed if is_log else kind.remedy,
        )
