# SPDX-License-Identifier: Apache-2.0
"""Python scripts that declare: h5py by lists, netCDF4 and any other by a block."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import h5py
import pytest
from declaring import dataset_of, declared_of, file_of, intents_of, profiled, script

import tailrace
from tailrace.errors import TailraceError
from tailrace.intent import declare

LISTS = """
import h5py, netCDF4, numpy as np, tailrace  # netCDF4 brings a second HDF5
access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
tailrace.intent_set(access, {"reliability": "recomputable",
                             "datasets": {"/ro*": {"order": "random"}}})
assert tailrace.intent_get(access)["reliability"] == "recomputable"
creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
tailrace.intent_set(creation, {"full_coverage": True, "transfer_bytes": 800})
opened = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
tailrace.intent_set(opened, {"reuse": "re_read"})
with h5py.File(h5py.h5f.create(b"a.h5", h5py.h5f.ACC_TRUNC, fapl=access)) as f:
    space = h5py.h5s.create_simple((100,))
    for name in (b"rows", b"plain"):
        dcpl = creation if name == b"plain" else None
        d = h5py.Dataset(h5py.h5d.create(f.id, name, h5py.h5t.NATIVE_DOUBLE, space, dcpl))
        d[:] = np.arange(100)
    again = h5py.Dataset(h5py.h5d.open(f.id, b"plain", opened))
    assert again[:].sum() == 4950
"""


def test_lists_of_h5py(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, *script(tmp_path, LISTS))
    assert ran.code == 0, ran.err
    file = file_of(profile, "a.h5")
    assert declared_of(file) == [("property_list", {"reliability": "recomputable"})]
    rows, plain = (dataset_of(profile, "a.h5", name) for name in ("/rows", "/plain"))
    assert declared_of(rows) == [("property_list", {"order": "random"})]
    assert declared_of(plain) == [
        ("property_list", {"full_coverage": "yes", "transfer_bytes": 800}),
        ("property_list", {"reuse": "re_read"}),
    ]
    _, found = intents_of(tmp_path)
    data = next(one for key, one in found["datasets"].items() if key.endswith("plain"))
    assert data["reliability"]["value"] == "recomputable"
    assert data["reuse"] == {**data["reuse"], "value": "re_read", "confidence": "full"}


BLOCKS = """
import netCDF4, h5py, tailrace
def write(name):
    with netCDF4.Dataset(name, "w") as n:
        n.createDimension("x", 10)
        n.createVariable("v", "f4", ("x",))[:] = 1
with tailrace.intents({"reliability": "scratch", "order": "random"}, pattern="*.nc"):
    write("outer.nc")
    with tailrace.intents({"order": "sequential", "datasets": {"v": {"full_coverage": True}}},
                          pattern=["in*.nc", "h.h5"]):
        write("inner.nc")
        write("other.nc")
        h5py.File("h.h5", "w").close()
    write("insider.nc")
    try:
        with tailrace.intents({"files": {"*": {"append": "yes"}}}):
            raise RuntimeError
    except RuntimeError:
        write("after.nc")
write("free.nc")
"""


def test_a_block_for_libraries_that_hide_their_lists(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, *script(tmp_path, BLOCKS))
    assert ran.code == 0, ran.err
    outer = ("context_manager", {"reliability": "scratch", "order": "random"})
    inner = ("context_manager", {"reliability": "scratch", "order": "sequential"})
    for name in ("outer", "other", "insider", "after"):
        assert declared_of(file_of(profile, f"{name}.nc")) == [outer], name
    assert declared_of(file_of(profile, "inner.nc")) == [inner]
    assert declared_of(file_of(profile, "h.h5")) == [("context_manager", {"order": "sequential"})]
    assert declared_of(file_of(profile, "free.nc")) == []
    v = dataset_of(profile, "inner.nc", "/v")
    assert declared_of(v) == [("context_manager", {"full_coverage": "yes"})]
    assert declared_of(dataset_of(profile, "outer.nc", "/v")) == []


def test_without_a_hook_a_block_does_nothing(tmp_path: Path) -> None:
    command = script(tmp_path, LISTS + BLOCKS)
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_without_the_compiled_part_a_block_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declare, "library", lambda: None)
    with tailrace.intents({"reliability": "scratch"}, pattern="*"):
        pass
    with pytest.raises(TailraceError, match="compiled part") as caught:
        tailrace.intent_set(1, {})
    assert caught.value.code == 4


def new_list() -> h5py.h5p.PropFAID:
    return h5py.h5p.create(h5py.h5p.FILE_ACCESS)


@pytest.mark.parametrize(
    ("declared", "what"),
    [
        ({"relibility": "scratch"}, 'unknown key "relibility". Did you mean "reliability"?'),
        ({"order": "sequentiel"}, 'Did you mean "sequential"?'),
        ({"order": {1, 2}}, "the declarations are no JSON"),
        ({"size_bytes": float("nan")}, "the declarations are no JSON"),
        (["order"], "this is no declaration but a list"),
    ],
)
def test_bad_declarations(declared: dict[str, object], what: str) -> None:
    given = new_list()
    tailrace.intent_set(given, {"append": False})
    with pytest.raises(TailraceError) as caught:
        tailrace.intent_set(given, declared)
    assert what in caught.value.what
    assert caught.value.code == 2
    assert tailrace.intent_get(given) == {"append": "no"}
    tailrace.intent_clear(given)
    assert tailrace.intent_get(given) == {}


def test_what_is_no_list(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for target in (file, "x.h5", None, True):
            with pytest.raises(TailraceError, match="a property list is wanted") as caught:
                tailrace.intent_set(target, {})
            assert "tailrace.intents" in caught.value.hint
    with pytest.raises(TailraceError, match="data transfer"):
        tailrace.intent_set(h5py.h5p.create(h5py.h5p.DATASET_XFER), {})


def test_a_list_that_is_a_number() -> None:
    text = """
import h5py, tailrace
given = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
tailrace.intent_set(given.id, {"append": True})
assert tailrace.intent_get(given) == {"append": "yes"}
"""
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)


def test_without_any_hdf5() -> None:
    text = "import tailrace; tailrace.intent_set(1, {})"
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    assert "TailraceError: there is no HDF5 of version 1.10 or newer in this process" in ran.stderr


def test_blocks_of_many_threads_do_not_disturb_each_other() -> None:
    problems = []

    def work(number: int) -> None:
        try:
            for _ in range(200):
                with tailrace.intents({"sharing_pattern": "shared"}, pattern=f"t{number}_*"):
                    pass
        except TailraceError as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert problems == []
    block = tailrace.intents({"files": {"x": {}}})
    with block, block:  # once more within itself
        pass


def test_blocks_have_a_bound() -> None:
    blocks = [tailrace.intents({"files": {"x": {}}}) for _ in range(64)]
    for block in blocks:
        block.__enter__()
    try:
        with (
            pytest.raises(TailraceError, match="64 declarations by pattern hold already"),
            tailrace.intents({"files": {"x": {}}}),
        ):
            pass
    finally:
        for block in blocks:
            block.__exit__(None, None, None)
    with tailrace.intents({"files": {"x": {}}}):
        pass
