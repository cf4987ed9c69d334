# SPDX-License-Identifier: Apache-2.0
"""Logs that come with PyDarshan, and the package."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from advised import profile_of

TESTS = Path(__file__).resolve().parents[1]
for folder in (TESTS / "support" / "python", TESTS.parent / "python"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _darshan() -> Path:
    found = importlib.util.find_spec("darshan")
    assert found is not None and found.origin is not None, "PyDarshan is in requirements-test.in"
    return Path(found.origin).parent


@pytest.fixture(scope="session")
def logs() -> Path:
    """A folder with logs of PyDarshan's examples."""
    return _darshan() / "examples" / "example_logs"


@pytest.fixture(scope="session")
def test_logs() -> Path:
    """A folder with logs of PyDarshan's tests."""
    return _darshan() / "tests" / "input"


@pytest.fixture(scope="session")
def graph_logs() -> Path:
    """Logs of three programs that hand files to each other."""
    return _darshan() / "examples" / "darshan-graph"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """One for which several rules fire."""
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(profile_of(str(tmp_path / "f.h5"))))
    return file
