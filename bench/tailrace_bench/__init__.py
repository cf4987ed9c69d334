# SPDX-License-Identifier: Apache-2.0
"""Side-by-side benchmarks; bench/run.py is the command."""

import sys
from pathlib import Path

_package = str(Path(__file__).resolve().parents[2] / "python")
if _package not in sys.path:
    sys.path.append(_package)  # behind an installed one
