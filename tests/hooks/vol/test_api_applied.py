# SPDX-License-Identifier: Apache-2.0
"""Under a plan every call answers as without it, but for how large files are and where things lie,
and the files say the same."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest
from contents import content
from mpi_programs import MPIEXEC, SANITIZERS, programs
from plans import for_datasets, for_files, write_plan
from runs import Left, applied, run

PROGRAM = programs() / "vol_api"
CHANGED = ("H5Fget_filesize", "H5Fget_freespace", "H5Fget_file_image", "H5Fget_eoa",
           "H5Fget_mdc_config", "H5Fget_mdc_size")  # fmt: skip


def lines_of(left: Left) -> dict[str, list[str]]:
    """What each rank's calls answered."""
    return {
        name: [line for line in text.decode().splitlines() if not line.startswith(CHANGED)]
        for name, text in left.files.items()
        if name.startswith("lines.")
    }


@pytest.mark.parametrize("ranks", [1, 4])
def test_like_native(tmp_path: Path, ranks: int) -> None:
    words = [PROGRAM, "."] if ranks == 1 else [*MPIEXEC, "-n", str(ranks), PROGRAM, ".", "mpi"]
    native = run(tmp_path / "native", words, **SANITIZERS)
    # A word from each rank; Hydra does not keep their lines whole.
    said = "done" * ranks
    assert (native.code, native.out.replace("\n", ""), native.err) == (0, said, "")
    plan = write_plan(tmp_path, for_files("*", 64), for_datasets("*"))
    tuned, lines = applied(tmp_path, words, plan, **SANITIZERS)
    assert (tuned.code, tuned.out.replace("\n", ""), tuned.err) == (0, said, "")
    settings = {line.setting for line in lines if line.became == "applied"}
    assert settings >= {"alignment_bytes", "meta_block_bytes", "chunk_cache_bytes"}
    assert lines_of(tuned) == lines_of(native)
    assert set(tuned.files) == set(native.files)
    assert tuned.files["datasets.h5"] != native.files["datasets.h5"]
    for name in native.files:
        if h5py.is_hdf5(tmp_path / "native" / name):
            assert content(tmp_path / "run" / name) == content(tmp_path / "native" / name)
