# SPDX-License-Identifier: Apache-2.0
"""Runs programs under the interposer, and under strace, and reads what both counted."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from mpi_programs import BUILD, SANITIZERS

WRITER = BUILD / "tests/bin/interposed_writer"
INJECTOR = BUILD / "tests/bin/foreign_injector.so"

WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2")
READS = ("read", "pread64", "readv", "preadv", "preadv2")
# strace -ff gives each thread a file of its own, so no call is ever cut in two lines.
CALL = re.compile(r"^(\w+)\(\d+<(.*?)>, (.*)\)\s+= (-?\d+)")
RANK = "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"


def run(command, environment=None, seconds=60, **options):
    """Runs a command; a hang is a failure with what was printed until then."""
    merged = {key: value for key, value in os.environ.items() if not key.startswith("TAILRACE_F")}
    merged |= SANITIZERS | (environment or {})
    return subprocess.run(
        [str(word) for word in command],
        env=merged,
        timeout=seconds,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        **options,
    )


def traced(command, folder):
    """The command under strace, one trace per rank and thread: trace.RANK.THREAD."""
    calls = ",".join(WRITES + READS)
    strace = f"strace -ff -y -v -s 0 -e trace={calls} -o {shlex.quote(str(folder))}/trace.{RANK} "
    return ["sh", "-c", "exec " + strace + shlex.join(str(word) for word in command)]


def asked(name, arguments):
    """Bytes asked by a call, from its arguments as strace prints them."""
    if name in ("write", "read"):
        return int(arguments.rsplit(", ", 1)[1])
    if name in ("pwrite64", "pread64"):
        return int(arguments.rsplit(", ", 2)[1])
    return sum(int(length) for length in re.findall(r"iov_len=(\d+)", arguments))


def strace_counts(folder, target):
    """{(rank, "write"|"read"): [calls, bytes asked, bytes done, failed calls]} for one file."""
    counts = defaultdict(lambda: [0, 0, 0, 0])
    for trace in Path(folder).glob("trace.*"):
        rank = int(trace.name.split(".")[1])
        for line in trace.read_text(errors="replace").splitlines():
            found = CALL.match(line)
            if not found or Path(found[2]) != Path(target):
                continue
            entry = counts[rank, "write" if found[1] in WRITES else "read"]
            result = int(found[4])
            entry[0] += 1
            entry[1] += asked(found[1], found[3])
            entry[2] += max(result, 0)
            entry[3] += result < 0
    return dict(counts)


def report_lines(folder):
    return [
        json.loads(line)
        for report in sorted(Path(folder).glob("report.*"))
        for line in report.read_text().splitlines()
    ]


def our_counts(folder, target):
    counts = {}
    for line in report_lines(folder):
        assert line["schema"] == "tailrace-posix/1"
        if line["path"] != str(target):
            continue
        for direction in ("write", "read"):
            if line[direction]["calls"]:
                counts[line.get("rank", 0), direction] = [
                    line[direction][key]
                    for key in ("calls", "asked_bytes", "done_bytes", "failed_calls")
                ]
    return counts


def show(result):
    sys.stdout.write(result.stdout[-4000:])
    sys.stdout.write(result.stderr[-4000:])
