# SPDX-License-Identifier: Apache-2.0
"""What `make demo` shows: a verified run, four settings compared, and a report as its last line."""

import json
import os
import subprocess
from pathlib import Path

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])


def test_the_demo_ends_with_a_report_of_four_settings() -> None:
    ran = subprocess.run(
        ["sh", SOURCE / "cmake/setup/demo.sh", BUILD / "env.sh"],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=280, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    assert any(line.startswith("Durable throughput:") for line in lines)
    assert "verified: every element is as its fill says" in lines
    assert sum(line.startswith("verdict") for line in lines) == 2
    report = Path(lines[-1])
    page = report.read_text()
    assert page.startswith("<!DOCTYPE html>") and "24 measured repetitions" in page
    records = [json.loads(line) for line in (report.parent / "results.jsonl").open()]
    settings = [
        (record["configuration"]["chunk"] is not None, record["configuration"]["collective_write"])
        for record in records
    ]
    assert len(records) == 24 and {settings.count(one) for one in settings} == {6}
    assert all(record["verification"]["status"] == "passed" for record in records)
    assert sorted(path.name for path in report.parent.iterdir()) == ["report.html", "results.jsonl"]
