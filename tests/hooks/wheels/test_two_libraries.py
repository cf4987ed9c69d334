# SPDX-License-Identifier: Apache-2.0
"""Two HDF5 libraries in two threads of a process: the lock of one does not keep the other out of
what the connector knows of all."""

from __future__ import annotations

import sys
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vol"))

from contents import content
from plans import entry, for_files, setting, write_plan
from profiled import dataset_of
from runs import applied, recorded, run

SCRIPT = Path(__file__).with_name("with_two_threads.py")
COMMAND = [sys.executable, SCRIPT]
ROUNDS, FILES, DATASETS = 40, 4, 10


def test_in_two_threads(tmp_path: Path) -> None:
    native = run(tmp_path / "native", COMMAND)
    assert (native.code, native.err) == (0, "")
    rows = {"name": "rows_of_bytes", "numbers": {"bytes": 1024}, "extents": []}
    chunks = setting("17", "chunk", None, "layout", function=rows)
    plan = write_plan(
        tmp_path, for_files("*", 1024), entry("*", chunks, dataset="/*", when="create")
    )
    tuned, lines = applied(tmp_path / "tuned", COMMAND, plan)
    assert (tuned.code, tuned.out, tuned.err) == (native.code, native.out, native.err)
    # netCDF chooses the layout of none of these; the scale of a dimension is a dataset too.
    put = sum(line.count for line in lines if line.setting == "chunk" and line.became == "applied")
    assert put >= 2 * ROUNDS * DATASETS
    assert {line.became for line in lines} <= {"applied", "kept", "not met"}
    assert len(native.files) == 2 * FILES
    for name in native.files:
        assert content(tmp_path / "tuned" / "run" / name) == content(tmp_path / "native" / name)
    with h5py.File(tmp_path / "tuned" / "run" / "a3.h5") as file:
        assert file["other/moved"].chunks == file["chunked/5"].chunks == (128,)
    _, profile = recorded(tmp_path / "recorded", COMMAND)
    assert len(profile["run"]["processes"]) == 1
    writes = dataset_of(profile, "a3.h5", "/group/5")["writes"]
    assert writes["calls"] == ROUNDS // FILES
