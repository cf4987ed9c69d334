# SPDX-License-Identifier: Apache-2.0
"""Content hashes do not depend on layout, ranks or format, and are those of the plain bytes."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import seism_files as files
import xxhash
from tailrace_cli import tailrace

from tailrace.verify.compare import compare_files
from tailrace.verify.hashing import hash_file
from tailrace.verify.hdf5_tree import Hdf5Tree
from tailrace.verify.model import Box, Node, Values
from tailrace.verify.pace import held_bytes

CASE = files.Case()


def data_hash(path: Path) -> str:
    return next(item.data for item in hash_file(path).objects if item.path == "/chunked")


def test_one_hash_for_all_formats_and_layouts(tmp_path: Path) -> None:
    values = files.data(CASE)
    files.write_hdf5(tmp_path / "a", CASE, values)
    files.write_hdf5(tmp_path / "b", CASE, values, chunk=(2, 3, 4), compression=9, shuffle=True)
    files.write_hdf5(tmp_path / "c", CASE, values, chunk=(6, 1, 10))
    files.write_raw(tmp_path / "d", CASE, values)
    files.write_raw(tmp_path / "e", CASE, values, chunk=(4, 3, 7))
    files.write_per_rank(tmp_path / "f", CASE, values)
    plain = xxhash.xxh3_128(values.astype("<f4").tobytes()).hexdigest()
    assert {data_hash(tmp_path / name) for name in "abcdef"} == {plain}


def test_other_ranks_same_data_hash(tmp_path: Path) -> None:
    one = files.Case((4, 1, 1), (2, 4, 6))
    other = files.Case((1, 2, 3), (8, 2, 2))
    files.write_hdf5(tmp_path / "a", one, files.data(one))
    files.write_hdf5(tmp_path / "b", other, files.data(other))
    first, second = hash_file(tmp_path / "a"), hash_file(tmp_path / "b")
    assert data_hash(tmp_path / "a") == data_hash(tmp_path / "b")
    assert first.whole != second.whole  # the attributes tell the ranks
    same = [hash_file(tmp_path / name, ("@processor", "@domain")).whole for name in "ab"]
    assert same[0] == same[1]


def test_nan_payloads_do_not_count_and_signs_of_zero_do(tmp_path: Path) -> None:
    quiet = np.array([0x7FC00000, 0x7FC00001], "<u4").view("<f4")
    for name, values in (
        ("a", quiet[:1]), ("b", quiet[1:]), ("c", np.array([0.0])), ("d", np.array([-0.0])),
    ):  # fmt: skip
        with h5py.File(tmp_path / name, "w") as file:
            file["x"] = values
    found = {name: hash_file(tmp_path / name).whole for name in "abcd"}
    assert found["a"] == found["b"] and found["c"] != found["d"]


def test_sequences_of_other_lengths_do_not_collide(tmp_path: Path) -> None:
    for name, rows in (("a", ([1], [2, 3])), ("b", ([1, 2], [3]))):
        with h5py.File(tmp_path / name, "w") as file:
            data = file.create_dataset("x", (2,), dtype=h5py.vlen_dtype(np.int32))
            for index, row in enumerate(rows):
                data[index] = np.array(row, "i4")
    assert hash_file(tmp_path / "a").whole != hash_file(tmp_path / "b").whole


def test_the_command_prints_them(tmp_path: Path) -> None:
    files.write_hdf5(tmp_path / "a", CASE, files.data(CASE))
    ran = tailrace("verify", "--hash", tmp_path / "a").expect(0)
    expected = hash_file(tmp_path / "a")
    assert ran.out.splitlines() == [
        f"{expected.whole}  {tmp_path / 'a'}",
        f"{data_hash(tmp_path / 'a')}  {tmp_path / 'a'}:/chunked",
    ]
    found = tailrace("verify", "--hash", "--json", tmp_path / "a").expect(0).json
    assert found["schema"] == "tailrace-content/1"
    assert found["files"][0]["content_hash"] == expected.whole


def test_long_sequences_are_read_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with h5py.File(tmp_path / "f", "w") as file:
        data = file.create_dataset("x", (60,), dtype=h5py.vlen_dtype(np.int64))
        for index in range(60):
            data[index] = np.full(1 << 17, index)  # 1 MiB
        file["y"] = [b"short"] * 20000
        file["y_as_text"] = np.array(["short"] * 20000, h5py.string_dtype())
    reads = []
    read = Hdf5Tree._read

    def noted(tree: Hdf5Tree, path: str, node: Node, box: Box) -> Values:
        values = read(tree, path, node, box)
        reads.append((path, held_bytes(values)))
        return values

    monkeypatch.setattr(Hdf5Tree, "_read", noted)
    hash_file(tmp_path / "f")
    assert max(size for _, size in reads) <= 17 << 20
    assert sum(path == "/y_as_text" for path, _ in reads) < 15
    reads.clear()
    assert compare_files(tmp_path / "f", tmp_path / "f").total == 0
    assert max(size for _, size in reads) <= 17 << 20
