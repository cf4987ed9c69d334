# SPDX-License-Identifier: Apache-2.0
"""Several results files, each perhaps with a selection, read as one set."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.errors import TailraceError
from tailrace.results import Record, ResultSet, Selection, read_results


def read_selected(texts: Sequence[str]) -> ResultSet:
    """Each file is read once, and Records of equal settings in several files belong together.

    Raises TailraceError as read_results does, and for a selection that holds for no Record.
    """
    selections = [Selection.parse(text) for text in texts]
    sources = [selection.path for selection in selections]
    whole = {path: path.resolve() for path in sources}

    def wanted(record: Record) -> bool:
        return any(
            whole[one.path] == whole[record.source] and one.matches(record) for one in selections
        )

    found = read_results(sources, keep=wanted if any(s.conditions for s in selections) else None)
    for selection in selections:
        if selection.conditions and not any(
            whole[one.source] == whole[selection.path] and selection.matches(one)
            for one in found.records
        ):
            selection.read()  # says what does not hold
            raise TailraceError("holds for no Record", where=selection.text)
    return found
