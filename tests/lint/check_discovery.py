# SPDX-License-Identifier: Apache-2.0
"""Asserts how many tests CTest sees, per label: a suite that stops finding itself fails here.

check_discovery.py CTEST BUILD FLOOR.json [what was built...]
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

ctest, build, floor_file, *built = (word for word in sys.argv[1:] if word)
listed = json.loads(
    subprocess.run(
        [ctest, "--test-dir", build, "--show-only=json-v1"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
)

labels: Counter[str] = Counter()
problems = []
for test in listed["tests"]:
    name = test["name"]
    properties = {item["name"]: item["value"] for item in test.get("properties", [])}
    labels.update(properties.get("LABELS", []))
    # CTest lists PROCESSORS where it is more than 1.
    labelled = properties.get("LABELS", [])
    one_processor = not {"waits", "np1", "np2", "np3", "np4"}.isdisjoint(labelled)
    if name.endswith("NOT_BUILT"):
        problems.append(f"{name}: the program was not built")
        continue
    problems += [
        f"{name}: has no {needed}"
        for needed in ("TIMEOUT", "PROCESSORS", "LABELS")
        if needed not in properties and not (needed == "PROCESSORS" and one_processor)
    ]

for condition, floors in json.loads(Path(floor_file).read_text()).items():
    if condition != "always" and condition not in built:
        continue
    for label, least in floors.items():
        seen = len(listed["tests"]) if label == "all" else labels[label]
        print(f"{label}: {seen} tests, at least {least} are expected")
        if seen < least:
            problems.append(
                f"label {label}: {seen} tests discovered, at least {least} expected "
                f"({Path(floor_file).name})"
            )
print("\n".join(problems) or "every test is discovered")
sys.exit(bool(problems))
