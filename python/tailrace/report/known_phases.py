# SPDX-License-Identifier: Apache-2.0
"""The phases of a run: their order, what happens in them, how they look.

Names, order and words are those of src/core/known_phases.hpp.
"""

from __future__ import annotations

# Words, and a class of the style sheet.
_known = {
    "create": ("create the file", "p-create"),
    "reserve": ("set space aside", "p-reserve"),
    "precreate": ("create by rank 0", "p-precreate"),
    "open_file": ("open the file", "p-open"),
    "open_dataset": ("open the dataset", "p-open2"),
    "define": ("define objects", "p-define"),
    "write": ("write calls", "p-write"),
    "flush": ("empty the library's buffers", "p-flush"),
    "close": ("close the file", "p-close"),
    "describe": ("write the description", "p-describe"),
    "sync": ("force to the device", "p-sync"),
    "publish": ("rename", "p-publish"),
    "agree": ("wait for other ranks and agree", "p-agree"),
    "encode": ("compress chunks", "p-encode"),
    "exchange": ("send chunks to who writes them", "p-exchange"),
    "read": ("read calls", "p-read"),
    "read_back": ("open, compare, wait", "p-off"),
    "fill": ("make the data, off the clock", "p-off"),
    "compute": ("emulated computation, off the clock", "p-off"),
    "allocate": ("get places for chunks", "p-other"),
    "pack": ("bring data into the order of the file", "p-other"),
    "reassemble": ("copy subfiles into one file", "p-other"),
    "verify": ("check each element, off the clock", "p-other"),
}


def phase_order(name: str) -> tuple[int, str]:
    """Unknown ones stand last."""
    return list(_known).index(name) if name in _known else len(_known), name


def phase_style(name: str) -> str:
    """A phase looks the same in every plot."""
    return _known[name][1] if name in _known else "p-other"


def phase_words(name: str) -> str:
    """The name, and what happens in it."""
    return f"{name} ({_known[name][0]})" if name in _known else name
