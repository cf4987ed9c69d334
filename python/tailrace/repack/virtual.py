# SPDX-License-Identifier: Apache-2.0
"""The files that the elements of a virtual dataset lie in."""

from __future__ import annotations

import re
from pathlib import Path

_block = re.compile(r"(%b|%%)")


def sources_in(folder: Path, name: str) -> list[str]:
    """Those of `folder` that `name` means: `%b` in it stands for the number of a block, `%%` for
    a `%` (H5Pset_virtual). Relative to the folder, in the order of their names."""
    *folders, last = name.split("/")
    heads = [""]
    for part in folders:
        heads = [f"{head}{one}/" for head in heads for one in _entries(folder / head, part)]
    names = (head + one for head in heads for one in _entries(folder / head, last))
    return [one for one in names if (folder / one).is_file()]


def _entries(folder: Path, part: str) -> list[str]:
    """What a part of a path means there; without `%b` its own name, even of what is not there."""
    pieces = _block.split(part)
    if "%b" not in pieces:
        return [part.replace("%%", "%")]
    if not folder.is_dir():
        return []
    words = {"%b": r"\d+", "%%": "%"}
    shape = re.compile("".join(words.get(piece, re.escape(piece)) for piece in pieces))
    return sorted(entry.name for entry in folder.iterdir() if shape.fullmatch(entry.name))
