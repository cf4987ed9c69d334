# SPDX-License-Identifier: Apache-2.0
"""Where a JSON document of ours may be written: never over something else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tailrace.whole_files import check_place, is_stream, refused


def check_target(target: Path, inputs: Iterable[Path] = ()) -> None:
    """Before the work is done.

    Args:
        target: of -o; devices, pipes and the like are written to as they are.
        inputs: what is read; none of it is overwritten.

    Raises:
        TailraceError: it cannot be written there, what stands there is no JSON document, or it is
            one of the inputs.
    """
    for one in inputs:
        if target.exists() and one.exists() and target.samefile(one):
            raise refused(
                target,
                "is read by this command, and -o would overwrite it",
                "give -o another name",
            )
    if target.is_dir():
        raise refused(target, "is a folder", "name a file in it, for example intents.json")
    check_place(target)
    if target.is_file() and not is_stream(target) and target.stat().st_size:
        with target.open("rb") as stream:
            if stream.read(64).lstrip()[:1] != b"{":
                raise refused(
                    target,
                    "is there and is no JSON document; it is not overwritten",
                    "give another name with -o, or remove it",
                )
