# SPDX-License-Identifier: Apache-2.0
"""What the interposer adds to a write call: pairs of runs in random order, median and range.

Usage, after . ./env.sh:  TAILRACE_BUILD_DIR=build/release PYTHONPATH=tests/support/python \
    python tests/hooks/overhead.py [FOLDER] [PAIRS]
"""

import random
import statistics
import sys

from interposer_runs import run
from mpi_programs import BUILD, PRELOAD


def nanoseconds(folder, size, calls, hooked):
    environment = {"LD_PRELOAD": str(PRELOAD)} if hooked else {}
    program = BUILD / "tests/bin/interposer_overhead"
    return float(run([program, f"{folder}/overhead.bin", size, calls], environment).stdout)


def main(folder="/dev/shm", pairs="15"):
    for size, calls in ((1, 200000), (4096, 200000), (65536, 40000), (1048576, 3000)):
        plain, hooked = [], []
        for _ in range(int(pairs)):
            for with_hook in random.sample((False, True), 2):
                (hooked if with_hook else plain).append(nanoseconds(folder, size, calls, with_hook))
        added = [b - a for a, b in zip(plain, hooked, strict=True)]
        print(
            f"{size:8d} bytes: without {statistics.median(plain):9.0f} ns, "
            f"with {statistics.median(hooked):9.0f} ns, added {statistics.median(added):6.0f} ns "
            f"(pairs {min(added):.0f} to {max(added):.0f})"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
