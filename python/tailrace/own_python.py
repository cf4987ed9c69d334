# SPDX-License-Identifier: Apache-2.0
"""What makes a further Python find this very package, wherever it stands."""

from __future__ import annotations

import os
from pathlib import Path

_package = Path(__file__).resolve().parents[1]


def environment() -> dict[str, str]:
    """That of this process, with the folder of the package first in PYTHONPATH."""
    path = os.pathsep.join([str(_package), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}
