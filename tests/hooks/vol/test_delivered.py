# SPDX-License-Identifier: Apache-2.0
"""What H5Dread gave to a program, hashed: the same where the program got the same."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from plans import Json, applied, entry, setting, write_plan

START = """
import h5py, numpy as np
f = h5py.File("in.h5")
"""
READS = {
    "/numbers": "f['numbers'][...]; f['numbers'][3:7, ::2]; f['numbers'][5]",
    "/texts": "f['texts'][...]; f['texts'][2:4]",
    "/fixed": "f['fixed'][...]",
    "/pairs": "f['pairs'][...]; f['pairs']['a']; f['pairs'][1]",
    "/scalar": "f['scalar'][()]",
    "/inner/deep": "f['inner/deep'][np.arange(100) % 7 == 0]",
    "/into": "a = np.zeros((4, 100), 'f4'); f['into'].read_direct(a, np.s_[2:5], np.s_[1, 10:13])",
}
LISTS = "f['lists'][...]"


def content() -> dict[str, np.ndarray]:
    pair = np.dtype([("a", "i4"), ("b", "S3")])
    return {
        "numbers": np.arange(200, dtype="f8").reshape(10, 20),
        "texts": np.array(["one", "zwei", "", "quatre"], dtype=object),
        "fixed": np.array([b"ab", b"cde"]),
        "pairs": np.array([(1, b"x"), (2, b"yz")], pair),
        "scalar": np.float32(2.5),
        "inner/deep": np.arange(100, dtype="i2"),
        "into": np.arange(9, dtype="f4"),
    }


def write(file: Path, **changed: np.ndarray) -> None:
    with h5py.File(file, "w") as f:
        for name, values in {**content(), **changed}.items():
            kind = h5py.string_dtype() if name == "texts" else None
            f.create_dataset(name, data=values, dtype=kind)
        lists = f.create_dataset("lists", 2, h5py.vlen_dtype("i4"))
        lists[0] = [1, 2]


def delivered(folder: Path, *lines: str, plan: Path | None = None, **env: str) -> dict[str, Json]:
    plan = plan or write_plan(folder, name="empty.json")
    ran, _ = applied(folder, plan, START + "\n".join(lines), TAILRACE_DELIVERED="1", **env)
    ran.expect(0)
    for one in ran.json["delivered"]:
        assert one["file"] == "in.h5"
    return {one["dataset"]: one for one in ran.json["delivered"]}


def test_the_same_is_the_same_with_a_plan_and_in_another_order(tmp_path: Path) -> None:
    write(tmp_path / "in.h5")
    first = delivered(tmp_path, *READS.values())
    assert set(first) == set(READS)
    assert all(one["not_hashed"] == 0 for one in first.values())
    assert first["/numbers"]["calls"] == 3 and first["/numbers"]["bytes"] == (200 + 40 + 20) * 8
    cache = entry("in.h5", setting("16", "sieve_buffer_bytes", 4096))
    turned = delivered(tmp_path, *reversed(READS.values()), plan=write_plan(tmp_path, cache))
    assert turned == first


@pytest.mark.parametrize("name", sorted(content()))
def test_one_other_value_is_another_hash(tmp_path: Path, name: str) -> None:
    write(tmp_path / "in.h5")
    first = delivered(tmp_path, *READS.values())
    other = np.array(content()[name], copy=True)
    last = (-1,) * other.ndim
    if name in {"numbers", "scalar", "inner/deep"}:
        other[tuple(-3 if n == 10 else 98 if n == 100 else -2 for n in other.shape)] += 1
    elif name == "into":
        other[3] += 1
    elif name == "pairs":
        other[last] = (2, b"yq")
    else:
        other[last] = "quatra" if name == "texts" else b"cdf"
    write(tmp_path / "in.h5", **{name: other})
    second = delivered(tmp_path, *READS.values())
    assert {one for one in first if first[one] != second[one]} == {f"/{name}"}


def test_reads_that_change_places_are_another_hash(tmp_path: Path) -> None:
    """The same values, given for other places."""
    write(tmp_path / "in.h5", into=np.array([1, 2, 3, 4], "f4"))
    first = delivered(tmp_path, "f['into'][:2]; f['into'][2:]")["/into"]
    write(tmp_path / "in.h5", into=np.array([3, 4, 1, 2], "f4"))
    second = delivered(tmp_path, "f['into'][:2]; f['into'][2:]")["/into"]
    assert first["bytes"] == second["bytes"] == 16
    assert first["hash"] != second["hash"]


def test_what_cannot_be_hashed_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "in.h5")
    (found,) = delivered(tmp_path, LISTS).values()
    assert (found["calls"], found["not_hashed"]) == (1, 1)


def test_nothing_is_hashed_unasked(tmp_path: Path) -> None:
    write(tmp_path / "in.h5")
    plan = write_plan(tmp_path, name="empty.json")
    ran, _ = applied(tmp_path, plan, START + READS["/numbers"])
    assert json.loads(ran.out)["delivered"] == []
