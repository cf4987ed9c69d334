# SPDX-License-Identifier: Apache-2.0
"""Where a JSON document of ours may be written: never over something else."""

from __future__ import annotations

from pathlib import Path

from tailrace.whole_files import check_folder, refused


def check_target(target: Path) -> None:
    """Before the work is done.

    Raises:
        TailraceError: it cannot be written there, or what stands there is no JSON document.
    """
    if target.is_dir():
        raise refused(target, "is a folder", "name a file in it, for example intents.json")
    check_folder(target.absolute().parent)
    if target.is_file() and target.stat().st_size:
        with target.open("rb") as stream:
            if stream.read(64).lstrip()[:1] != b"{":
                raise refused(
                    target,
                    "is there and is no JSON document; it is not overwritten",
                    "give another name with -o, or remove it",
                )
