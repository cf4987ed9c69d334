# SPDX-License-Identifier: Apache-2.0
"""What the interposer counts is what the kernel was asked: compared with strace, per file and rank.

The program has the interposer linked in, under a bare mpiexec and without LD_PRELOAD.
"""

import pytest
from interposer_runs import WRITER, our_counts, report_lines, run, show, strace_counts, traced
from mpi_programs import MPIEXEC, mpi_components

BYTES_PER_RANK = 4 * 40000 * 4


@pytest.mark.parametrize("component,environment", mpi_components())
@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("library", ["mpiio", "hdf5"])
@pytest.mark.parametrize("mode", ["collective", "independent", "nonblocking"])
def test_counts_equal_strace(tmp_path, component, environment, ranks, library, mode):
    if library == "hdf5" and mode == "nonblocking":
        mode = "collective"  # HDF5 has no such call; the case then repeats the collective one
    target = tmp_path / "data.bin"
    command = traced([WRITER, target, library, mode], tmp_path)
    result = run(
        [*MPIEXEC, "-n", ranks, *command],
        {**environment, "TAILRACE_POSIX_REPORT": f"{tmp_path}/report.%p"},
    )
    show(result)
    assert result.returncode == 0
    expected = strace_counts(tmp_path, target)
    assert our_counts(tmp_path, target) == expected
    written = sum(counts[2] for (_, direction), counts in expected.items() if direction == "write")
    assert written >= ranks * BYTES_PER_RANK


@pytest.mark.parametrize("component,environment", mpi_components())
def test_nonblocking_writes_are_seen_under_their_phase(tmp_path, component, environment):
    target = tmp_path / "data.bin"
    result = run(
        [*MPIEXEC, "-n", 2, WRITER, target, "mpiio", "nonblocking"],
        {**environment, "TAILRACE_POSIX_REPORT": f"{tmp_path}/report.%p"},
    )
    show(result)
    assert result.returncode == 0
    lines = [line for line in report_lines(tmp_path) if line["path"] == str(target)]
    written = sum(line["by_phase"]["write"]["write"]["done_bytes"] for line in lines)
    assert written >= 2 * BYTES_PER_RANK  # ROMIO writes the gaps, too (data sieving)
    if component == "ompio":
        assert all(line["writes_by_family"]["aio"] > 0 for line in lines)
