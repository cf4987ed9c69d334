# SPDX-License-Identifier: Apache-2.0
"""A browser for all tests, and the pages that they look at."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
for folder in (TESTS / "support" / "python", TESTS.parent / "python"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

import browser as chromium  # noqa: E402
from own_namespace import not_run  # noqa: E402


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Browser]:
    """Not run where there is none; a failure where CI=true."""
    if lacks := chromium.missing():
        not_run(f"{lacks}: apt-get install chromium chromium-driver")
    with chromium.browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened
