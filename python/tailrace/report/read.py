# SPDX-License-Identifier: Apache-2.0
"""Several results files, each perhaps with a selection, read as one set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tailrace.errors import TailraceError
from tailrace.results import Record, ResultSet, Selection, read_results


def read_selected(
    texts: Sequence[str], done: Callable[[int, int], None] | None = None
) -> ResultSet:
    """Each file is read once, and Records of equal settings in several files belong together.
    `done` hears now and then how many bytes of how many are read.

    Raises TailraceError as read_results does, and for a selection that holds for no Record.
    """
    selections = [Selection.parse(text) for text in texts]
    sources = [selection.path for selection in selections]
    whole = {path: path.resolve() for path in sources}

    def wanted(record: Record) -> bool:
        return any(
            whole[one.path] == whole[record.source] and one.matches(record) for one in selections
        )

    conditions = any(selection.conditions for selection in selections)
    found = read_results(sources, wanted if conditions else None, done)
    for selection in selections:
        if selection.conditions and not any(
            whole[one.source] == whole[selection.path] and selection.matches(one)
            for one in found.records
        ):
            selection.read()  # says what does not hold
            raise TailraceError("holds for no Record", where=selection.text)
    return found
