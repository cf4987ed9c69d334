# SPDX-License-Identifier: Apache-2.0
"""The reading room: Records (`results.jsonl`), groups of equal settings, selections, a table.

Start with `read_results` (read.py) and `group` (grouping.py).
"""

from __future__ import annotations

from tailrace.results.grouping import Group, group
from tailrace.results.model import Problem, Problems, Record, ResultSet, Settings
from tailrace.results.read import read_results
from tailrace.results.selection import Selection

__all__ = [
    "Group",
    "Problem",
    "Problems",
    "Record",
    "ResultSet",
    "Selection",
    "Settings",
    "group",
    "read_results",
]
