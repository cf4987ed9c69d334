# SPDX-License-Identifier: Apache-2.0
"""The suite of `tailrace tune`; bench/tune/run.py is the command."""

import sys
from pathlib import Path

_root = Path(__file__).resolve().parents[3]
for _folder in (_root / "bench", _root / "python"):
    if str(_folder) not in sys.path:
        sys.path.append(str(_folder))  # behind an installed package
