# SPDX-License-Identifier: Apache-2.0
"""Files of two runs: the same bytes but for the times that HDF5 notes, and for nothing else."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5o

from tailrace.verify.compare import CompareOptions, compare_files
from tailrace.verify.same_bytes import same_bytes


def write(path: Path, libver: str = "earliest", values: int = 7) -> Path:
    with h5py.File(path, "w", libver=libver) as file:
        for name in ("a", "b"):
            data = np.full(6, values) + np.arange(6)
            dataset = file.create_dataset(f"group/{name}", data=data, track_times=True)
            dataset.attrs["unit"] = "m"
    return path


@pytest.fixture(scope="module", params=["earliest", "latest"])
def two(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same content at different seconds."""
    folder = tmp_path_factory.mktemp("two")
    one = write(folder / "one.h5", request.param)
    time.sleep(1.1)
    return [one, write(folder / "other.h5", request.param)]


def test_the_times_of_objects_are_no_difference(two: list[Path]) -> None:
    assert two[0].read_bytes() != two[1].read_bytes()
    assert same_bytes(*two)


def test_any_other_byte_is_one(two: list[Path], tmp_path: Path) -> None:
    """Every third byte of the file in turn, but for the times and, with version 2, the checksum."""
    changed = tmp_path / "changed.h5"
    text = two[1].read_bytes()
    found = 0
    for at in range(0, len(text), 3):
        changed.write_bytes(text[:at] + bytes([text[at] ^ 0x55]) + text[at + 1 :])
        found += same_bytes(two[0], changed)
    assert found <= 2 * (6 + 2)  # of two datasets


def test_where_an_object_has_its_data_is_one(two: list[Path], tmp_path: Path) -> None:
    """Addresses that were exchanged, in headers whose checksums are right again."""
    changed = shutil.copy(two[1], tmp_path / "changed.h5")
    with h5py.File(changed, "r+") as file:
        a, b = file["group/a"].id, file["group/b"].id
        one, other = a.get_offset().to_bytes(8, "little"), b.get_offset().to_bytes(8, "little")
        spans = [(info.addr, info.hdr.space.total) for info in (h5o.get_info(a), h5o.get_info(b))]
    text = bytearray(changed.read_bytes())
    for (start, size), old, new in zip(spans, (one, other), (other, one), strict=True):
        header = bytes(text[start : start + size])
        assert header.count(old) == 1
        text[start : start + size] = header.replace(old, new)
    changed.write_bytes(text)
    assert not same_bytes(two[0], changed)


def test_other_kinds_of_files(two: list[Path], tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"CDF" + bytes(100))
    other.write_bytes(b"CDF" + bytes(99) + b"1")
    assert not same_bytes(one, other)
    assert same_bytes(one, shutil.copy(one, tmp_path / "again"))
    assert not same_bytes(one, two[0])
    one.write_bytes(b"")
    assert same_bytes(one, shutil.copy(one, tmp_path / "empty"))
    damaged = tmp_path / "damaged.h5"
    damaged.write_bytes(two[0].read_bytes()[:-700])
    cut = bytearray(damaged.read_bytes())
    cut[-1] ^= 1
    other.write_bytes(cut)
    assert not same_bytes(damaged, other)


def test_reports_are_those_of_a_comparison_by_values(two: list[Path]) -> None:
    trusting, reading = (
        compare_files(*two, CompareOptions(trusts_bytes=trusts)) for trusts in (True, False)
    )
    trusting.elapsed_s = reading.elapsed_s
    assert trusting == reading
    assert (reading.objects, reading.attributes, reading.read_bytes) == (4, 2, 96)


CHANGES: dict[str, Callable[[h5py.File], object]] = {
    "an element": lambda file: file["group/a"].__setitem__(3, -1),
    "an attribute": lambda file: file["group/b"].attrs.__setitem__("unit", "k"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_difference_is_found_with_either(name: str, two: list[Path], tmp_path: Path) -> None:
    changed = shutil.copy(two[1], tmp_path / "changed.h5")
    with h5py.File(changed, "r+") as file:
        CHANGES[name](file)
    for trusts in (True, False):
        report = compare_files(two[0], changed, CompareOptions(trusts_bytes=trusts))
        assert report.total == 1


def test_elements_in_other_files_are_read(tmp_path: Path) -> None:
    """Of two virtual datasets with the same bytes whose sources differ."""
    files = []
    for name, first in (("one", 0), ("other", 5)):
        folder = tmp_path / name
        folder.mkdir()
        with h5py.File(folder / "source.h5", "w") as source:
            source["x"] = np.arange(first, first + 4)
        layout = h5py.VirtualLayout((4,), "i8")
        layout[:] = h5py.VirtualSource("source.h5", "x", (4,))
        with h5py.File(folder / "virtual.h5", "w") as file:
            file.create_virtual_dataset("x", layout)
        files.append(folder / "virtual.h5")
    assert same_bytes(*files)
    report = compare_files(*files, CompareOptions(trusts_bytes=True))
    assert report.differing_elements == 4
