# SPDX-License-Identifier: Apache-2.0
"""Loads the extension that was just built, not one that happens to be installed."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def core() -> ModuleType:
    path = os.environ["TAILRACE_TEST_CORE_MODULE"]
    spec = importlib.util.spec_from_file_location("_core", path)
    assert spec is not None and spec.loader is not None, path
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    print(f"extension under test: {path}", file=sys.stderr)
    return module
