# SPDX-License-Identifier: Apache-2.0
"""A report of 100,000 Records in bounded time and memory, by a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from records import a_record
from report_pages import Page
from tailrace_cli import environment

RECORDS = 100_000
_program = """
import resource, sys, time
from tailrace.cli.main import run
start, used = time.monotonic(), time.process_time()
code = run(["report", sys.argv[1], "-o", sys.argv[2], "--quiet"])
peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(code, time.monotonic() - start, time.process_time() - used, peak_mib)
"""


@pytest.mark.timeout(230)
def test_a_hundred_thousand_records(tmp_path: Path) -> None:
    file, page = tmp_path / "results.jsonl", tmp_path / "report.html"
    with file.open("w") as stream:
        for number in range(RECORDS):
            time = 0.5 + 0.1 * ((number * 7919) % 1000) / 1000
            if number < 100:  # making them takes longer than reading them: few are made
                text = json.dumps(a_record(durable_s=time, repetition=-7))
                before, after = text.split("-7")
            stream.write(f"{before}{number}{after}\n")
    ran = subprocess.run(
        [sys.executable, "-c", _program, str(file), str(page)], env=environment(), text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    code, elapsed_s, used_s, peak_mib = map(float, ran.stdout.split())
    sizes = f"{file.stat().st_size / 2**20:.0f} MiB, page {page.stat().st_size / 2**10:.0f} KiB"
    print(f"{sizes}: {elapsed_s:.1f} s, {used_s:.1f} s of a processor, peak {peak_mib:.0f} MiB")
    assert code == 0
    assert used_s < 10 * 2, "twice the bound: other tests run at the same time"
    assert peak_mib < 500
    assert page.stat().st_size < 1 << 20
    html = page.read_text()
    read = Page(html)
    assert "too many for points" in read.figures["s1-throughput"]["text"]
    assert read.count("s1-throughput", "circle", "mark") == 0
    assert read.count("s1-throughput", "polygon", "band") == 4
    rows = read.figures["s1-throughput"]["rows"]
    assert sum(int(row[3].replace(",", "")) for row in rows[1:] if row[0] == "durable") == RECORDS
    assert [row[0] for row in read.figures["s1-phases"]["rows"][1:]] == [
        "fastest", "25 %", "median", "75 %", "slowest",
    ]  # fmt: skip
    assert "100,000 measured repetitions" in read.text
