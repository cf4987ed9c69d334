# SPDX-License-Identifier: Apache-2.0
"""Every small change of a kernel's file is caught, and an unchanged file is not suspected. The
command runs within this process, but for one test of each exit code."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import seism_files as files
from tailrace_cli import called, tailrace

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.files import open_tree
from tailrace.verify.hashing import hash_file
from tailrace.verify.seism import check_fill

CASE = files.Case()
CHUNK = (2, 4, 3)
Mutation = Callable[[Any], Any]
WRITERS: dict[str, Callable[..., Any]] = {
    "hdf5": files.write_hdf5,
    "hdf5-chunked": lambda p, c, v: files.write_hdf5(p, c, v, chunk=CHUNK),
    "hdf5-deflate": lambda p, c, v: files.write_hdf5(p, c, v, chunk=CHUNK, compression=3),
    "raw": files.write_raw,
    "raw-chunked": lambda p, c, v: files.write_raw(p, c, v, chunk=CHUNK),
    "per-rank": files.write_per_rank,
    "subfiled": files.write_subfiled,
}


def flip_one_bit(values: Any) -> Any:
    values.view(np.uint32)[1, 2, 3, 4] ^= 1
    return values


def shift_one_block(values: Any) -> Any:
    x, y, z = CASE.domain
    block = values[0, :x, :y, z:].copy()
    values[0, :x, :y, z:] = np.roll(block, 1, axis=2)
    return values


def swap_two_steps(values: Any) -> Any:
    values[[0, 1]] = values[[1, 0]]
    return values


def zero_one_block(values: Any) -> Any:
    values[2, -CASE.domain[0] :, :, : CASE.domain[2]] = 0
    return values


def make_one_nan(values: Any) -> Any:
    values[0, 0, 0, 0] = np.nan
    return values


MUTATIONS: list[Mutation] = [
    flip_one_bit, shift_one_block, swap_two_steps, zero_one_block, make_one_nan,
]  # fmt: skip
WRONG_ELEMENTS = {"flip_one_bit": 1, "shift_one_block": 60, "swap_two_steps": 480,
                  "zero_one_block": 60, "make_one_nan": 1}  # fmt: skip


@pytest.fixture(scope="module")
def good() -> Any:
    return files.data(CASE)


@pytest.mark.parametrize("writer", WRITERS)
def test_an_unchanged_file_is_verified(writer: str, good: Any, tmp_path: Path) -> None:
    WRITERS[writer](tmp_path / "f", CASE, good)
    found = called("verify", "--json", tmp_path / "f").expect(0).json["files"][0]
    assert (found["ok"], found["correct"], found["wrong"]) == (True, good.size, 0)


@pytest.mark.parametrize("writer", WRITERS)
def test_wrong_elements_are_caught(writer: str, good: Any, tmp_path: Path) -> None:
    names = [mutation.__name__ for mutation in MUTATIONS]
    for mutation in MUTATIONS:
        WRITERS[writer](tmp_path / mutation.__name__, CASE, mutation(good.copy()))
    ran = called("verify", "--json", *(tmp_path / name for name in names)).expect(3)
    found = dict(zip(names, ran.json["files"], strict=True))
    assert {name: item["wrong"] for name, item in found.items()} == WRONG_ELEMENTS
    for item in found.values():
        assert not item["ok"] and item["correct"] + item["wrong"] == good.size
    first = found["flip_one_bit"]["first_wrong"][0]
    assert (first["step"], first["position"], first["rank"]) == (1, [2, 3, 4], 0)
    assert first["expected"] == good[1, 2, 3, 4] != first["found"]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_truncated_file_is_an_error(writer: str, good: Any, tmp_path: Path) -> None:
    victims = []
    for name, part in (("half", 0.5), ("byte", None), ("empty", 0.0)):
        files_of = WRITERS[writer](tmp_path / name, CASE, good)
        victims.append(files_of[1] if files_of else tmp_path / name)
        size = victims[-1].stat().st_size
        with victims[-1].open("r+b") as file:
            file.truncate(size - 1 if part is None else int(size * part))
    ran = called("verify", "--json", *(tmp_path / name for name in ("half", "byte", "empty")))
    for item, victim in zip(ran.expect(3).json["files"], victims, strict=True):
        assert item["error"]["exit_code"] == 3
        assert str(victim) in ran.err


def test_a_dropped_part_is_an_error(good: Any, tmp_path: Path) -> None:
    files.write_per_rank(tmp_path / "f", CASE, good)
    (tmp_path / "f.00002").unlink()
    ran = called("verify", tmp_path / "f").expect(3)
    assert "f.00002 is missing" in ran.err


@pytest.mark.parametrize("what", ["subfile", "manifest", "config"])
def test_a_dropped_file_of_a_subfiled_set_is_an_error(what: str, good: Any, tmp_path: Path) -> None:
    parts = files.write_subfiled(tmp_path / "f", CASE, good)
    config = next(tmp_path.glob("*.config"))
    victim = {"subfile": parts[2], "manifest": tmp_path / "f.manifest", "config": config}[what]
    victim.unlink()
    called("verify", tmp_path / "f").expect(3)


def test_a_copied_subfiled_set_is_read(good: Any, tmp_path: Path) -> None:
    """A copy has another inode than the one in the names."""
    files.write_subfiled(tmp_path / "f", CASE, good)
    (tmp_path / "copy").mkdir()
    for file in tmp_path.glob("f*"):
        shutil.copy(file, tmp_path / "copy")
    called("verify", tmp_path / "copy" / "f").expect(0)


def test_subfiles_of_an_earlier_run_are_not_taken_for_the_file(good: Any, tmp_path: Path) -> None:
    """A new file may get the inode of a deleted one whose subfiles are still there."""
    files.write_subfiled(tmp_path / "f", CASE, good)
    inode = (tmp_path / "f").stat().st_ino
    files.write_hdf5(tmp_path / "other", CASE, np.zeros_like(good))
    with (tmp_path / "f").open("r+b") as file:
        file.truncate(0)
        file.write((tmp_path / "other").read_bytes())
    assert (tmp_path / "f").stat().st_ino == inode
    found = called("verify", "--json", tmp_path / "f").expect(3).json["files"][0]
    assert found["format"] == "HDF5" and found["wrong"] > 0


def test_a_dropped_piece_is_caught_although_zero_is_expected(tmp_path: Path) -> None:
    """Rank 0's fill is 0, which is also what nobody wrote."""
    case = files.Case(fill="rank")
    files.write_per_rank(tmp_path / "f", case, files.data(case))
    part = tmp_path / "f.00000"
    raw = part.read_bytes()
    at = int.from_bytes(raw[-24:-16], "little")
    text = json.loads(raw[at:-24])
    text["pieces"].pop()
    body = json.dumps(text).encode()
    sizes = at.to_bytes(8, "little") + len(body).to_bytes(8, "little")
    part.write_bytes(raw[:at] + body + sizes + b"TAILRACE")
    found = called("verify", "--json", tmp_path / "f").expect(3).json["files"][0]
    assert found["wrong"] == 0 and found["unwritten"] == 60


def test_a_chunk_that_was_never_written_is_caught_although_zero_is_expected(tmp_path: Path) -> None:
    case = files.Case(fill="rank", processor=(1, 1, 1))
    with h5py.File(tmp_path / "f", "w") as file:
        data = file.create_dataset("chunked", case.shape, "<f4", chunks=(1, *case.domain))
        data[0] = 0
        data[2] = 0
        for name, item in files.attributes(case).items():
            file.attrs[name] = item
    found = called("verify", "--json", tmp_path / "f").expect(3).json["files"][0]
    assert found["wrong"] == 0 and found["unwritten"] == 60


@pytest.mark.parametrize("name", ["processor", "domain", "time", "fill", "schema"])
def test_a_dropped_attribute_is_caught(name: str, good: Any, tmp_path: Path) -> None:
    files.write_hdf5(tmp_path / "f", CASE, good)
    with h5py.File(tmp_path / "f", "r+") as file:
        del file.attrs[name]
    assert f"the attribute {name} is missing" in called("verify", tmp_path / "f").expect(3).err


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("processor", [2, 2, 1]), ("domain", [3, 4, 4]), ("time", 2), ("fill", "rank"),
     ("fill", "nonsense"), ("processor", [0, 1, 2]), ("schema", "tailrace-seism/9")],
)  # fmt: skip
def test_a_changed_attribute_is_caught(name: str, wrong: Any, good: Any, tmp_path: Path) -> None:
    files.write_hdf5(tmp_path / "f", CASE, good)
    with h5py.File(tmp_path / "f", "r+") as file:
        file.attrs[name] = wrong
    called("verify", tmp_path / "f").expect(3)


def test_a_dropped_step_is_caught(good: Any, tmp_path: Path) -> None:
    files.write_hdf5(tmp_path / "f", CASE, good[:-1])
    assert "its attributes say 3 x 6 x 4 x 10" in called("verify", tmp_path / "f").expect(3).err


def test_a_file_of_the_original_kernel_is_verified_by_its_compound(tmp_path: Path) -> None:
    case = files.Case(fill="rank")
    values = files.data(case)
    files.write_classic_attribute(tmp_path / "good", case, values)
    called("verify", tmp_path / "good").expect(0)
    values[1, 1, 1, 1] += 1
    files.write_classic_attribute(tmp_path / "bad", case, values)
    assert "1" in called("verify", tmp_path / "bad").expect(3).out


def test_the_order_of_bytes_does_not_matter(good: Any, tmp_path: Path) -> None:
    values = good.copy()
    values[1, 1, 1, 1] += 1
    for name, data, code in (("good", good, 0), ("bad", values, 3)):
        with h5py.File(tmp_path / name, "w") as file:
            file.create_dataset("chunked", data=data, dtype=">f4")
            file.attrs.update(files.attributes(CASE))
        found = called("verify", "--json", tmp_path / name).expect(code).json["files"][0]
        assert found["wrong"] == (1 if code else 0)


def test_a_run_has_steps(tmp_path: Path) -> None:
    case = files.Case(steps=0)
    files.write_hdf5(tmp_path / "f", case, files.data(case))
    with pytest.raises(TailraceError, match="not those of a run") as caught:
        check_fill(tmp_path / "f")
    assert caught.value.code == ExitCode.VERIFICATION_FAILED


@pytest.mark.parametrize(
    ("name", "wrong"), [("processor", [1, 2, 2]), ("domain", [3, 5, 4]), ("time", 2)]
)
def test_both_descriptions_have_to_agree(name: str, wrong: Any, good: Any, tmp_path: Path) -> None:
    files.write_classic_attribute(tmp_path / "f", CASE, good)
    with h5py.File(tmp_path / "f", "r+") as file:
        file.attrs.update(files.attributes(CASE))
    assert check_fill(tmp_path / "f").ok
    with h5py.File(tmp_path / "f", "r+") as file:
        file.attrs[name] = wrong
    with pytest.raises(TailraceError, match=f"{name} is .* in simulation_attributes") as caught:
        check_fill(tmp_path / "f")
    assert caught.value.code == ExitCode.VERIFICATION_FAILED


def one_filter(path: Path, **options: Any) -> h5py.h5d.StoreInfo:
    """A file with one chunk; where it lies."""
    with h5py.File(path, "w") as file:
        data = file.create_dataset("x", data=np.zeros(100), chunks=(100,), **options)
        return data.id.get_chunk_info(0)


@pytest.mark.parametrize("options", [{"compression": 1}, {"fletcher32": True}])
def test_a_chunk_that_cannot_be_unpacked_is_damage(options: Any, tmp_path: Path) -> None:
    chunk = one_filter(tmp_path / "f", **options)
    with (tmp_path / "f").open("r+b") as file:
        file.seek(chunk.byte_offset)
        file.write(b"\x5a" * chunk.size)
    with pytest.raises(TailraceError) as caught:
        hash_file(tmp_path / "f")
    assert caught.value.code == ExitCode.VERIFICATION_FAILED and "damaged" in caught.value.hint


@pytest.mark.parametrize("folder", ["there", "absent"])
def test_a_filter_that_is_not_installed_is_no_damage(folder: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk((100,))
    creation.set_filter(311, h5py.h5z.FLAG_OPTIONAL, ())
    with h5py.File(tmp_path / "f", "w") as file:
        space = h5py.h5s.create_simple((100,))
        data = h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_DOUBLE, space, creation)
        data.write_direct_chunk((0,), bytes(800), 0)
    ran = tailrace("verify", "--hash", tmp_path / "f", HDF5_PLUGIN_PATH=str(tmp_path / folder))
    assert "HDF5_PLUGIN_PATH" in ran.expect(ExitCode.CAPABILITY_MISSING).err


def test_a_file_that_another_program_writes_cannot_be_judged_yet(tmp_path: Path) -> None:
    one_filter(tmp_path / "f")
    with h5py.File(tmp_path / "f", "r+", locking=True):
        ran = tailrace("verify", "--hash", tmp_path / "f").expect(ExitCode.USAGE)
    assert "another program has the file open" in ran.err


def test_a_name_that_is_too_long_is_said_so() -> None:
    with pytest.raises(TailraceError, match="name too long") as caught:
        open_tree(Path("x" * 300))
    assert caught.value.code == ExitCode.USAGE


@pytest.mark.parametrize("length", [1 << 31, 1 << 62, (1 << 64) - 1])
def test_a_classic_header_with_an_absurd_length_is_damage(length: int, tmp_path: Path) -> None:
    """One dimension, whose name is that long; must not first make room for it."""
    head = b"CDF\x05" + bytes(8) + bytes([0, 0, 0, 0x0A]) + (1).to_bytes(8, "big")
    (tmp_path / "f").write_bytes(head + length.to_bytes(8, "big") + bytes(100))
    tracemalloc.start()
    with pytest.raises(TailraceError, match="ends within its header") as caught:
        open_tree(tmp_path / "f")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.code == ExitCode.VERIFICATION_FAILED and most < 100 << 20


def test_several_files_end_with_the_worst_code(good: Any, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        files.write_hdf5(tmp_path / name, CASE, good)
    paths = [tmp_path / name for name in ("a", "b", "c")]
    tailrace("verify", *paths).expect(0)
    with h5py.File(paths[1], "r+") as file:
        file["chunked"][0, 0, 0, 0] = 9
    found = tailrace("verify", "--json", *paths).expect(3).json
    assert [item["ok"] for item in found["files"]] == [True, False, True]
    shutil.rmtree(tmp_path / "x", ignore_errors=True)
    tailrace("verify", *paths[:2], tmp_path / "absent").expect(3)
    tailrace("verify", paths[0], paths[2], tmp_path / "absent").expect(2)
