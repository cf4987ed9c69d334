# SPDX-License-Identifier: Apache-2.0
"""Our intents beside the reference intents of real logs, where these are at hand.

They are not part of the repository: CMake registers this test where it finds the folder
(TAILRACE_REFERENCE_LOGS, or shared/data/darshan beside the repository). TAILRACE_REGENERATE=1
writes the table of docs/developer/intents_reference.md anew.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
import reference_table as reference
from test_reference_table import PAGE, generated

FOLDER = Path(os.environ["TAILRACE_REFERENCE_LOGS"])


@pytest.fixture(scope="module")
def logs() -> list[reference.Log]:
    paired, others = reference.logs_in(FOLDER)
    assert paired and not others
    return reference.read(paired)


def letters(counts: Counter[str]) -> str:
    return "".join(why for why in counts if why != "=")


@pytest.mark.parametrize("part", ["files", "datasets"])
def test_every_field_agrees_or_the_reference_is_wrong(logs: list[reference.Log], part: str) -> None:
    for log in logs:
        rows = reference.outcomes(log, part)
        unexplained = [row for row, counts in rows.items() if "?" in letters(counts)]
        assert unexplained == [], f"{log.name}: {unexplained}"
        both = rows[reference.OBJECTS]["="]
        assert both == sum(1 for _ in log.pairs(part)) > 0, log.name
        compared = {row: counts.total() for row, counts in rows.items()
                    if row != reference.OBJECTS}  # fmt: skip
        assert len(compared) >= 12 and set(compared.values()) == {both}, log.name


def test_every_reason_is_one_of_a_difference_that_there_is(logs: list[reference.Log]) -> None:
    seen = {
        letter
        for log in logs
        for part in ("files", "datasets")
        for counts in reference.outcomes(log, part).values()
        for letter in letters(counts)
    }
    assert seen == set(reference.REASONS)  # fmt: skip


def test_most_agrees(logs: list[reference.Log]) -> None:
    """A reason that explained everything would be none."""
    agree = differ = 0
    for log in logs:
        for counts in reference.outcomes(log, "datasets").values():
            agree += counts["="]
            differ += counts.total() - counts["="]
    assert agree > 2 * differ > 0


def test_the_page_is_what_comes_out(logs: list[reference.Log]) -> None:
    before, table, after = generated()
    text = reference.page(logs)
    if os.environ.get("TAILRACE_REGENERATE"):
        PAGE.write_text(before + text + after)
    else:
        assert table == text
