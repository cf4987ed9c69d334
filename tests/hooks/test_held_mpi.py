# SPDX-License-Identifier: Apache-2.0
"""With errors held, MPI-IO and HDF5 end in step on every rank, and the loss is known."""

import re

import pytest
from interposer_runs import WRITER, run, show
from mpi_programs import MPIEXEC, mpi_components
from own_namespace import unshare

VERDICT = re.compile(r"rank (\d+): asked (\d+) done (\d+) failed (\d+) errno (\d+)")
ENOSPC = 28
CASES = [("mpiio", "collective"), ("mpiio", "independent"), ("mpiio", "nonblocking"),
         ("hdf5", "collective"), ("hdf5", "independent")]  # fmt: skip


def verdicts(result):
    show(result)
    assert result.returncode == 0
    found = [tuple(map(int, match)) for match in VERDICT.findall(result.stdout)]
    assert sorted(rank for rank, *_ in found) == [0, 1, 2, 3]
    return found


@pytest.mark.parametrize("component,environment", mpi_components())
@pytest.mark.parametrize("library,mode", CASES)
@pytest.mark.parametrize("fault", ["limit_bytes=100000", "errno=EIO", "errno=ENOSPC,short=5000"])
def test_injected(tmp_path, component, environment, library, mode, fault):
    target = tmp_path / "data.bin"
    rule = f"op=write,path={target},phase=write,{fault}"
    found = verdicts(
        run(
            [*MPIEXEC, "-n", 4, WRITER, target, library, mode, "hold"],
            {**environment, "TAILRACE_FAULT": rule},
        )
    )
    losers = [entry for entry in found if entry[3] > 0]
    assert losers
    for _, asked, done, _, error in losers:
        assert done < asked
        assert error == (5 if "EIO" in fault else ENOSPC)


@pytest.mark.parametrize("component,environment", mpi_components())
@pytest.mark.parametrize("library,mode", CASES)
def test_full_tmpfs(tmp_path, component, environment, library, mode):
    script = 'mount -t tmpfs -o size=1m tmpfs "$1" && shift && exec "$0" "$@"'
    # Each rank is started inside the new mount namespace, since the launcher is.
    launcher, *options = MPIEXEC
    found = verdicts(
        run(
            [*unshare("-m"), "sh", "-c", script, launcher, tmp_path, *options, "-n", 4,
             WRITER, tmp_path / "data.bin", library, mode, "hold"],
            environment,
        )
    )  # fmt: skip
    losers = [entry for entry in found if entry[3] > 0]
    assert losers
    assert all(done < asked and error == ENOSPC for _, asked, done, _, error in losers)
