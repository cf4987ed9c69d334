# SPDX-License-Identifier: Apache-2.0
"""The table of phases, and all that has to agree with it: sources, the report, the page."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tailrace.report import time_lines
from tailrace.report.known_phases import phase_order, phase_words
from tailrace.results.model import off_the_clock

ROOT = Path(os.environ["TAILRACE_SOURCE_DIR"])
ROW = re.compile(r'\{"(\w+)", "([^"]+)", PhaseUse::(\w+)\}')
TABLE = ROW.findall((ROOT / "src/core/known_phases.hpp").read_text())


def names_of(use: str) -> set[str]:
    return {name for name, _, its_use in TABLE if its_use == use}


def test_each_phase_that_is_entered_stands_in_the_table() -> None:
    entering = re.compile(r'\b(?:enter|collective_step|try_to_open)\(\s*(?:[\w.()]+, )*"(\w+)"')
    entered = {
        name
        for file in (*(ROOT / "src").rglob("*.cpp"), *(ROOT / "src").rglob("*.hpp"))
        for name in entering.findall(file.read_text())
    }
    assert entered == {name for name, _, _ in TABLE}


def test_the_report_has_the_same_phases() -> None:
    names = [name for name, _, _ in TABLE]
    assert [phase_order(name)[0] for name in [*names, "unknown"]] == list(range(len(TABLE) + 1))
    assert [phase_words(name) for name in names] == [f"{one} ({words})" for one, words, _ in TABLE]
    assert off_the_clock == names_of("off_clock")
    assert time_lines._writing == names_of("writing")


def test_the_page_has_the_same_phases() -> None:
    page = (ROOT / "docs/developer/records.md").read_text().split("**Phases.**")[1]
    rows = re.findall(r"^\| `(\w+)` \| ([^|`]+) \| (\w+(?: \w+)*) \|$", page, re.MULTILINE)
    assert rows == [(name, words, use.replace("_", " ")) for name, words, use in TABLE]
