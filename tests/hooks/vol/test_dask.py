# SPDX-License-Identifier: Apache-2.0
"""What is recorded of dask: threads that share a file, and processes with files of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from profiled import dataset_of, file_of, profiled, script

THREADS = """
import dask.array as da, h5py, numpy as np
values = da.arange(8000, chunks=1000, dtype="f8").reshape((8, 1000))
with h5py.File("all.h5", "w") as f:
    rows = f.create_dataset("x", (8, 1000), dtype="f8", chunks=(1, 1000))
    values.store(rows, scheduler="threads", num_workers=4)
    back = da.from_array(rows, chunks=(2, 1000), meta=np.empty((0, 0)))
    assert back.sum().compute(scheduler="threads", num_workers=4) == 7999 * 4000
"""

# Each of the two workers waits for the other one, so that none is left without work.
PROCESSES = """
import glob, os, pathlib, sys, time
import dask, dask.array as da, h5py, numpy as np
def other_worker():
    pathlib.Path(f"worker{os.getpid()}").touch()
    for _ in range(3000):
        if len(glob.glob("worker*")) == 2:
            return
        time.sleep(0.01)
    sys.exit("the other worker never came")
class Rows:
    shape, dtype, ndim = (8, 1000), np.dtype("f8"), 2
    def __getitem__(self, at):
        other_worker()
        with h5py.File("in.h5") as f:
            return f["x"][at]
def keep(rows, block_info=None):
    n = block_info[0]["chunk-location"][0]
    with h5py.File(f"part{n}.h5", "w") as f:
        f["x"] = 2 * rows
    return rows[:, :1]
if __name__ == "__main__":
    with h5py.File("in.h5", "w") as f:
        f["x"] = np.ones((8, 1000))
    rows = da.from_array(Rows(), chunks=(2, 1000), meta=np.empty((0, 0)))
    with dask.config.set({"multiprocessing.context": sys.argv[1]}):
        sums = rows.map_blocks(keep, dtype="f8", chunks=(2, 1), meta=np.empty((0, 0)))
        done = sums.compute(scheduler="processes", num_workers=2, chunksize=1)
    assert done.shape == (8, 1) and (done == 1).all()
    for n in range(4):
        with h5py.File(f"part{n}.h5") as f:
            assert (f["x"][:] == 2).all()
"""


def test_threads_that_share_a_file(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, *script(tmp_path, THREADS))
    assert ran.code == 0, ran.err
    assert len(profile["run"]["processes"]) == 1
    hdf5 = file_of(profile, "all.h5")["hdf5"]
    assert (hdf5["opens"], hdf5["creates"]) == (1, 1)
    rows = dataset_of(profile, "all.h5", "/x")
    for transfers, calls, length in ((rows["writes"], 8, [1, 1000]), (rows["reads"], 4, [2, 1000])):
        assert (transfers["calls"], transfers["bytes"]) == (calls, 64000)
        assert [(one["length"], one["calls"]) for one in transfers["shapes"]] == [(length, calls)]
        assert transfers["coverage"]["full"] is True
        assert transfers["coverage"]["elements_distinct"] == 8000


@pytest.mark.parametrize("context", ["spawn", "forkserver", "fork"])
def test_worker_processes(tmp_path: Path, context: str) -> None:
    ran, profile = profiled(tmp_path, *script(tmp_path, PROCESSES), context)
    assert ran.code == 0, ran.err
    parent, *workers = sorted(profile["run"]["processes"], key=lambda one: one["start_s"])
    assert len(workers) == 2
    assert {one["pid"] for one in workers} == {
        int(path.name.removeprefix("worker")) for path in tmp_path.glob("worker*")
    }
    if context != "forkserver":
        assert {one["parent_pid"] for one in workers} == {parent["pid"]}

    rows = dataset_of(profile, "in.h5", "/x")
    (share,) = rows["writes"]["by_process"]
    assert (share["process"], share["calls"], share["bytes"]) == (parent["id"], 1, 64000)
    reads = rows["reads"]
    assert (reads["calls"], reads["bytes"], reads["coverage"]["full"]) == (4, 64000, True)
    of_workers = {share["process"]: share for share in reads["by_process"]}
    assert set(of_workers) == {one["id"] for one in workers}
    assert sum(share["calls"] for share in of_workers.values()) == 4
    assert all(share["bytes"] == 16000 * share["calls"] for share in of_workers.values())

    writers = []
    for n in range(4):
        part = dataset_of(profile, f"part{n}.h5", "/x")
        writes, reads = part["writes"], part["reads"]
        assert (part["dims"], part["type"]["name"]) == ([2, 1000], "f64le")
        assert (writes["calls"], writes["bytes"], writes["whole"]) == (1, 16000, 1)
        writers.append(writes["by_process"][0]["process"])
        assert (reads["calls"], reads["bytes"]) == (1, 16000)
        assert [share["process"] for share in reads["by_process"]] == [parent["id"]]
    # The one that read the rows also wrote them.
    assert {one: writers.count(one) for one in set(writers)} == {
        process: share["calls"] for process, share in of_workers.items()
    }
