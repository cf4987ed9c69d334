# SPDX-License-Identifier: Apache-2.0
"""Where these tests find what they share."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
for folder in (TESTS / "support" / "python", TESTS.parent / "python"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

from capabilities import ordinary  # noqa: E402, F401  (a fixture)
