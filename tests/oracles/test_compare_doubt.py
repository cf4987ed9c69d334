# SPDX-License-Identifier: Apache-2.0
"""What could be taken for equal because something is missing, stretched or not understood."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import seism_files
from h5py import h5d, h5f, h5s, h5t

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.compare import CompareOptions, compare_files
from tailrace.verify.hashing import hash_file


@pytest.mark.parametrize(("one", "other"), [([5, 5, 5], [5]), ([5], [5, 5]), ([1, 2], [1, 3])])
def test_one_sequence_is_not_stretched_to_another(one: Any, other: Any, tmp_path: Path) -> None:
    """A dataset of one element whose value is a sequence: its length is part of the value."""
    for name, items in (("a", one), ("b", other), ("c", one)):
        with h5py.File(tmp_path / name, "w") as file:
            data = file.create_dataset("x", (), h5py.vlen_dtype(np.int32))
            data[()] = np.array(items, np.int32)
    assert compare_files(tmp_path / "a", tmp_path / "b").differing_elements == 1
    assert compare_files(tmp_path / "a", tmp_path / "c").total == 0
    hashes = [hash_file(tmp_path / name).whole for name in "abc"]
    assert hashes[0] == hashes[2] != hashes[1]


def write_elsewhere(folder: Path, values: Any, raw: str) -> None:
    """A file whose elements are in others: two virtual sources, and a raw file."""
    half = len(values) // 2
    layout = h5py.VirtualLayout(values.shape, values.dtype)
    for number in range(2):
        part = values[number * half : (number + 1) * half]
        with h5py.File(folder / f"source{number}", "w") as file:
            file["d"] = part
        source = h5py.VirtualSource(f"source{number}", "d", part.shape)
        layout[number * half : (number + 1) * half] = source[:] if number else source
    with h5py.File(folder / "whole", "w") as file:
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("raw", values.shape, values.dtype, external=[(raw, 0, h5f.UNLIMITED)])
        file["raw"][...] = values


@pytest.mark.parametrize("what", ["source0", "d", "short", "raw", "cut"])
def test_elements_in_other_files_have_to_be_there(what: str, tmp_path: Path) -> None:
    """What is missing reads as the fill value: two damaged files would be the same."""
    write_elsewhere(tmp_path, np.zeros(8), str(tmp_path / "r.raw"))
    whole = tmp_path / "whole"
    assert compare_files(whole, whole).total == 0
    if what in ("source0", "raw"):
        (tmp_path / {"raw": "r.raw"}.get(what, what)).unlink()
    elif what == "cut":
        (tmp_path / "r.raw").write_bytes(bytes(63))
    else:
        with h5py.File(tmp_path / "source1", "r+") as file:
            del file["d"]
            if what == "short":
                file["d"] = np.zeros(3)
    with pytest.raises(TailraceError, match=r"source[01]|r\.raw") as caught:
        compare_files(whole, whole)
    assert caught.value.code == ExitCode.VERIFICATION_FAILED


@pytest.mark.parametrize("dropped", [".manifest", "_other"])
def test_an_incomplete_set_of_subfiles_is_not_compared(dropped: str, tmp_path: Path) -> None:
    case = seism_files.Case(steps=1)
    path = tmp_path / "f"
    seism_files.write_subfiled(path, case, seism_files.data(case))
    manifest = json.loads((tmp_path / "f.manifest").read_bytes())
    manifest["files"].append("f_other")
    (tmp_path / "f.manifest").write_text(json.dumps(manifest))
    (tmp_path / "f_other").touch()
    assert compare_files(path, path).total == 0
    (tmp_path / f"f{dropped}").unlink()
    for ask in (lambda: compare_files(path, path), lambda: hash_file(path)):
        with pytest.raises(TailraceError, match=dropped) as caught:
            ask()
        assert caught.value.code == ExitCode.VERIFICATION_FAILED


def test_references_of_hdf5_1_12_are_said_not_to_be_comparable(tmp_path: Path) -> None:
    """What they hold are addresses: equal bytes in two files say nothing."""
    kind = bytearray(h5t.STD_REF_OBJ.encode())
    kind[2:4], kind[6:10] = b"\x47\x12", (64).to_bytes(4, "little")
    with h5py.File(tmp_path / "f", "w") as file:
        h5d.create(file.id, b"x", h5t.decode(bytes(kind)), h5s.create_simple((2,)))
        file["y"] = 1
    for ask in (lambda: compare_files(tmp_path / "f", tmp_path / "f"),
                lambda: hash_file(tmp_path / "f")):  # fmt: skip
        with pytest.raises(TailraceError, match="/x cannot be compared") as caught:
            ask()
        assert caught.value.code == ExitCode.CAPABILITY_MISSING
    options = CompareOptions(ignore=("/x",))
    assert compare_files(tmp_path / "f", tmp_path / "f", options).total == 0


def test_the_bias_of_a_float_is_a_part_of_its_type(tmp_path: Path) -> None:
    for name, bias in (("a", 127), ("b", 100)):
        kind = h5t.IEEE_F32LE.copy()
        kind.set_ebias(bias)
        with h5py.File(tmp_path / name, "w") as file:
            h5d.create(file.id, b"x", kind, h5s.create_simple((2,)))
    found = compare_files(tmp_path / "a", tmp_path / "b")
    assert [item.kind for item in found.first] == ["type"]
    assert "bias 100" in found.first[0].other
