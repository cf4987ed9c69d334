# SPDX-License-Identifier: Apache-2.0
"""Datasets whose elements lie in other files, and links that lead to such."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from tailrace.errors import ExitCode, TailraceError
from tailrace.repack import Options, repack


def test_elements_in_other_files(tmp_path: Path) -> None:
    """External and virtual datasets stay what they are, also where a chunk is wished for them."""
    path = tmp_path / "elsewhere.h5"
    raw = tmp_path / "values.bin"
    with h5py.File(path, "w") as file:
        file.create_dataset("ext", data=np.arange(10.0), external=[(str(raw), 0, 80)])
        file["x"] = np.arange(100)
        layout = h5py.VirtualLayout((100,), "i8")
        layout[:] = h5py.VirtualSource(".", "x", (100,))
        file.create_virtual_dataset("virtual", layout)
    report = repack(path, None, None, Options(chunks=["/*=10"]))
    assert any("/ext" in note for note in report.notes) and any(
        "/virtual" in n for n in report.notes
    )
    with h5py.File(path) as file:
        assert file["ext"].external == [(str(raw), 0, 80)] and list(file["ext"]) == list(range(10))
        assert file["virtual"].is_virtual and list(file["virtual"][:3]) == [0, 1, 2]
        assert file["x"].chunks == (10,)


def test_files_that_lie_beside_the_old_one_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HDF5 finds them in the current folder too, but not whoever reads the new file elsewhere."""
    monkeypatch.chdir(tmp_path)
    Path("other").mkdir()
    with h5py.File("part.h5", "w") as file:
        file["d"] = np.arange(10)
    for name in ("virtual.h5", "link.h5"):
        with h5py.File(name, "w") as file:
            file["x"] = np.arange(40)
            if name == "link.h5":
                file["to"] = h5py.ExternalLink("part.h5", "/d")
                continue
            layout = h5py.VirtualLayout((10,), "i8")
            layout[:] = h5py.VirtualSource("part.h5", "d", (10,))
            file.create_virtual_dataset("v", layout)
    options = Options(chunks=["/x=10"])
    with pytest.raises(TailraceError, match="/v leads to part") as told:
        repack("virtual.h5", out="other/virtual.h5", options=options)
    assert told.value.code == ExitCode.USAGE and not list(Path("other").iterdir())
    notes = repack("link.h5", out="other/link.h5", options=options).notes
    assert [note.partition(", which")[0] for note in notes] == ["/to leads to part.h5"]
    Path("other/part.h5").symlink_to("../part.h5")
    assert repack("virtual.h5", out="other/virtual.h5", options=options).done
    assert repack("link.h5", out="beside.h5", options=options).notes == []


def test_blocks_of_a_virtual_dataset_that_lie_beside_the_old_one_only(tmp_path: Path) -> None:
    """Sources by a pattern: `%b` is the number of the block, `%%` a percent sign."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    for block in range(3):
        (old / f"set{block}").mkdir()
        with h5py.File(old / f"set{block}/100%-{block}.h5", "w") as file:
            file["d"] = np.arange(10) + 10 * block
    with h5py.File(old / "all.h5", "w") as file:
        file["x"] = np.arange(40)
        space = h5py.h5s.create_simple((10,), (h5py.h5s.UNLIMITED,))
        space.select_hyperslab((0,), (h5py.h5s.UNLIMITED,), (10,), (10,))
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_virtual(space, b"set%b/100%%-%b.h5", b"d", h5py.h5s.create_simple((10,)))
        h5py.h5d.create(file.id, b"v", h5py.h5t.NATIVE_INT64, space, creation)
    with h5py.File(old / "all.h5") as file:
        assert np.array_equal(file["v"][:], np.arange(30))
    options = Options(chunks=["/x=10"])
    for block in range(3):
        with pytest.raises(TailraceError, match=f"/v leads to set{block}/100%-{block}.h5"):
            repack(old / "all.h5", out=new / "all.h5", options=options)
        (new / f"set{block}").symlink_to(old / f"set{block}")
    assert repack(old / "all.h5", out=new / "all.h5", options=options).done
    with h5py.File(new / "all.h5") as file:
        assert np.array_equal(file["v"][:], np.arange(30))
