#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the time of `make test` went: the slowest 20, and rooms over their budget.

test_times.py JUNIT.xml BUDGETS.json

A room's time is the sum of its tests' seconds by the clock; tests run beside each other, so that it
is more than what passes. A budget is not a limit: a room over it is named, nothing fails.
"""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

junit, budgets_file = map(Path, sys.argv[1:])
times = {
    case.get("name", ""): float(case.get("time", 0))
    for case in ET.parse(junit).getroot().iter("testcase")
}
rooms: dict[str, float] = defaultdict(float)
for name, seconds in times.items():
    rooms[name.split(".")[1]] += seconds

slowest = sorted(times.items(), key=lambda pair: pair[1], reverse=True)[:20]
print("\nthe slowest 20 tests, in seconds:")
for name, seconds in slowest:
    print(f"  {seconds:7.1f}  {name}")

budgets = json.loads(budgets_file.read_text())["seconds"]
print("\nrooms, in seconds of their tests (budget):")
for room, seconds in sorted(rooms.items(), key=lambda pair: pair[1], reverse=True):
    budget = budgets.get(room)
    over = "no budget" if budget is None else f"{budget}"
    mark = "  <- over its budget" if budget is not None and seconds > budget else ""
    print(f"  {seconds:7.1f}  {room} ({over}){mark}")
