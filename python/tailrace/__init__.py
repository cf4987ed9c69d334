# SPDX-License-Identifier: Apache-2.0
"""Tailrace: measure, understand, tune and hide the output of parallel programs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def load(paths: Iterable[Path | str] | Path | str) -> pd.DataFrame:
    """The Records of one or several results files (`results.jsonl`) as a pandas table."""
    from tailrace.results.frame import load as load_frame  # heavy: only where it is asked for

    return load_frame(paths)
