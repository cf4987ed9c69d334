# SPDX-License-Identifier: Apache-2.0
"""Runs cases that misbehave on purpose: the test layer must report each of them."""

import os
import subprocess
import sys

program = sys.argv[1]
launcher = os.environ["TAILRACE_TEST_MPIEXEC"].split()


def run(case: str, ranks: int = 2, **environment: str) -> tuple[int, str]:
    variables = {**os.environ, "TAILRACE_TEST_RANKS": str(ranks)} | environment
    done = subprocess.run(
        [*launcher, "-n", str(ranks), program, f"--test-case={case}"],
        env=variables,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def expect(case: str, *texts: str, ranks: int = 2, **environment: str) -> None:
    status, output = run(case, ranks, **environment)
    missing = [text for text in texts if text not in output]
    if status == 0 or missing:
        print(f"case {case!r}: status {status}, not in its output: {missing}\n{output}")
        sys.exit(1)
    print(f"{case}: reported, status {status}")


expect("one rank fails a check", "[rank 1]", "CHECK( test::rank() != 1 )", "failed on rank 1 of 2")
expect("one rank throws", "[rank 1]", "disk is on fire", "failed on rank 1 of 2")
expect("one rank does not throw", "no exception on this rank", "failed on rank 0 1 of 2")
expect("wrong code", "no_space", "failed on rank 0 1 of 2")
expect(
    "one rank hangs",
    "[rank 1] watchdog",
    "wait_for_ever",
    "[rank 0] watchdog",
    "arrier",  # test::barrier, or MPI_Barrier where only that has a name
    TAILRACE_TEST_CASE_SECONDS="2",
)
expect("there is no such case", "selects nothing")
expect("one rank throws", "ranks were asked for, and MPI says 1", ranks=1, TAILRACE_TEST_RANKS="2")
print("every misbehaviour was reported")
