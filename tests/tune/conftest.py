# SPDX-License-Identifier: Apache-2.0
"""Where these tests find what they share, and what they share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
for folder in (TESTS / "support" / "python", TESTS.parent / "python"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

from capabilities import ordinary  # noqa: E402, F401  (a fixture)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The working folder of a user, with a file of theirs."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    return folder


@pytest.fixture
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is given there."""
    monkeypatch.chdir(home)
