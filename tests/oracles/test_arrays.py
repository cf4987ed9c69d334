# SPDX-License-Identifier: Apache-2.0
"""Every small change of a slab or a particle file is caught, and an unchanged one is verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import array_files as files
import numpy as np
import pytest
from tailrace_cli import called

CASES = {
    "slab": files.slab(),
    "slab-rank": files.slab("rank"),
    "slab-short": files.slab("rank", "short-split"),
    "particle": files.particle(),
    "particle-1d": files.particle(dims=(5,)),
    "particle-3d": files.particle(dims=(2, 3, 2)),
    "interleaved": files.particle("interleaved"),
    "compounds": files.particle("compounds"),
    "strided": files.particle("strided", (6,)),
}


def elements(case: files.Case) -> int:
    return sum(values.size * len(values.dtype.names or "1") for values in case.arrays.values())


def test_unchanged_files_are_verified(tmp_path: Path) -> None:
    for name, case in CASES.items():
        case.write(tmp_path / name)
    ran = called("verify", "--json", *(tmp_path / name for name in CASES)).expect(0)
    for (name, case), found in zip(CASES.items(), ran.json["files"], strict=True):
        assert found["ok"] and found["wrong"] == 0, name
        assert found["correct"] == elements(case), name
        assert found["kernel"] == case.attributes["kernel"]


def flip_last(arrays: files.Arrays) -> int:
    """One bit of the last element of the last dataset."""
    values = list(arrays.values())[-1]
    values.view("u8" if values.itemsize == 8 else "u4").reshape(-1)[-1] ^= 1
    return 1


def swap_datasets(arrays: files.Arrays) -> int:
    """Two datasets of one type and extents: two variables, or two steps."""
    names = list(arrays)
    one, other = (names[0], names[1]) if len(names) > 2 else (names[0], names[-1])
    arrays[one], arrays[other] = arrays[other], arrays[one]
    return int(2 * np.count_nonzero(arrays[one] != arrays[other]))


def shift_block(arrays: files.Arrays) -> int:
    values = next(iter(arrays.values()))
    before = values.copy()
    values[:4] = np.roll(values[:4], 1, axis=0)
    return int(np.count_nonzero(values != before))


def fill_gap(arrays: files.Arrays) -> int:
    values = next(iter(arrays.values()))
    values[7] = 5
    return int(values[7].size)


CHANGES: list[tuple[str, Any]] = [
    ("slab", flip_last), ("slab-short", flip_last), ("particle", flip_last),
    ("interleaved", flip_last), ("particle-1d", flip_last), ("particle", swap_datasets),
    ("interleaved", swap_datasets), ("particle", shift_block), ("interleaved", shift_block),
    ("compounds", flip_last), ("strided", shift_block), ("strided", fill_gap),
]  # fmt: skip


def test_wrong_elements_are_caught(tmp_path: Path) -> None:
    wanted = []
    for number, (name, change) in enumerate(CHANGES):
        arrays = CASES[name].copy()
        wanted.append(change(arrays))
        CASES[name].write(tmp_path / str(number), arrays)
    paths = [tmp_path / str(number) for number in range(len(CHANGES))]
    ran = called("verify", "--json", *paths).expect(3)
    for (name, change), wrong, found in zip(CHANGES, wanted, ran.json["files"], strict=True):
        assert wrong > 0 and found["wrong"] == wrong, (name, change.__name__)
        assert found["correct"] + wrong == elements(CASES[name])
    last = ran.json["files"][0]["first_wrong"][0]
    assert (last["dataset"], last["position"], last["rank"]) == ("/dset_2", [10, 2], 3)
    gap = ran.json["files"][-1]
    assert gap["first_wrong"][0]["rank"] == -1 and gap["wrong_by_rank"] == {"-1": 1}
    text = called("verify", paths[2]).expect(3).out
    assert "/Timestep_1/id_2" in text and "17, 1" in text and "VERIFICATION FAILED" in text


WRONG: list[tuple[str, dict[str, Any], int, str]] = [
    ("slab", {"n1": None}, 3, "the attribute n1 is missing"),
    ("slab", {"n1": 12}, 3, "/dset_1 is 3 x 11, its attributes say 3 x 12"),
    ("slab", {"axis": "short-split"}, 3, "it has no dataset /dset_3"),
    ("slab", {"fill": "plugin"}, 3, 'the attribute fill is "plugin"'),
    ("slab", {"schema": "tailrace-slab/2"}, 3, "known is tailrace-slab/1"),
    ("slab", {"kernel": "slob"}, 2, 'it is of the kernel "slob"'),
    ("particle", {"timesteps": 3}, 3, "it has no dataset /Timestep_2/x"),
    ("particle", {"ranks": 0}, 3, "the attribute ranks is 0"),
    ("particle", {"dim_1": "six"}, 3, "the attribute dim_1 is not a whole number"),
    ("particle", {"file_pattern": "strided"}, 3, "the attribute stride_size is missing"),
]


def test_contradictions_are_named(tmp_path: Path) -> None:
    for number, (name, attributes, code, text) in enumerate(WRONG):
        path = tmp_path / str(number)
        CASES[name].write(path, **attributes)
        ran = called("verify", path).expect(code)
        assert text in ran.err.replace("\n", " "), (attributes, ran.err)


def test_a_dropped_or_retyped_dataset_is_an_error(tmp_path: Path) -> None:
    arrays = CASES["particle"].copy()
    whole = arrays.pop("Timestep_1/id_1")
    CASES["particle"].write(tmp_path / "less", arrays)
    assert "no dataset /Timestep_1/id_1" in called("verify", tmp_path / "less").expect(3).err
    CASES["particle"].write(tmp_path / "float", arrays | {"Timestep_1/id_1": whole.astype("<f4")})
    assert "instead of int32" in called("verify", tmp_path / "float").expect(3).err


@pytest.mark.parametrize("name", ["slab", "particle"])
def test_either_order_of_bytes(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    case.write(tmp_path / "f", {path: a.astype(a.dtype.newbyteorder(">")) for path, a in
                                case.arrays.items()})  # fmt: skip
    called("verify", tmp_path / "f").expect(0)
