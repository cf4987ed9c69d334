# SPDX-License-Identifier: Apache-2.0
"""100,000 Records in bounded time and memory, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from records import a_record
from tailrace_cli import environment

RECORDS = 100_000
_program = """
import resource, sys, time
import tailrace
from tailrace.results import group, read_results
start = time.process_time()
found = read_results([sys.argv[1]])
groups = group(found.records)
read_s = time.process_time() - start
from tailrace.results.frame import frame
table = frame(found.records)
peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
last = found.records[-1].full()
print(len(found.records), len(groups), len(table), last["repetition"], read_s,
      time.process_time() - start, peak_mib)
"""


def test_a_hundred_thousand_records(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    texts = []
    for collective in (False, True):
        record = a_record(configuration={"collective_write": collective}, repetition=-7)
        texts.append(json.dumps(record).split("-7"))
    with file.open("w") as stream:
        for number in range(RECORDS):
            before, after = texts[number % 2]
            stream.write(f"{before}{number}{after}\n")
    ran = subprocess.run(
        [sys.executable, "-c", _program, str(file)], env=environment(), text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    records, groups, rows, last, read_s, all_s, peak_mib = map(float, ran.stdout.split())
    # Processor time: other tests run at the same time. On an idle machine it is 7 s.
    print(f"{file.stat().st_size / 2**20:.0f} MiB: read {read_s:.1f} s, with the table {all_s:.1f} "
          f"s, peak {peak_mib:.0f} MiB")  # fmt: skip
    assert (records, groups, rows, last) == (RECORDS, 2, RECORDS, RECORDS - 1)
    assert read_s < 10 and all_s < 15
    assert peak_mib < 500
