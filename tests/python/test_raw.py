# SPDX-License-Identifier: Apache-2.0
"""The raw container: descriptions that contradict themselves are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import seism_files as files

from tailrace.errors import ExitCode, TailraceError
from tailrace.verify.compare import compare_files
from tailrace.verify.files import open_tree

CASE = files.Case(steps=1)
Change = Callable[[dict[str, Any]], Any]


def rewritten(path: Path, change: Change) -> None:
    raw = path.read_bytes()
    at = int.from_bytes(raw[-24:-16], "little")
    text = json.loads(raw[at:-24])
    change(text)
    body = json.dumps(text).encode()
    numbers = at.to_bytes(8, "little") + len(body).to_bytes(8, "little")
    path.write_bytes(raw[:at] + body + numbers + b"TAILRACE")


CHANGES: dict[str, Change] = {
    "another version": lambda t: t.update(format="tailrace-raw/9"),
    "another kind": lambda t: t.update(kind="other"),
    "unknown type": lambda t: t["objects"][0].update(type="f16"),
    "negative extent": lambda t: t["objects"][0].update(dims=[1, -6, 4, 10]),
    "beyond the end": lambda t: t["objects"][0].update(dims=[9, 60, 40, 10]),
    "offset beyond": lambda t: t["objects"][0].update(offset=4),
    "no offset": lambda t: t["objects"][0].pop("offset"),
    "chunk of another rank": lambda t: t["objects"][0].update(chunk=[1, 2]),
    "chunk of nothing": lambda t: t["objects"][0].update(chunk=[1, 0, 1, 1]),
    "objects not a list": lambda t: t.update(objects=7),
    "attribute without a name": lambda t: t["attributes"][0].pop("name"),
    "attribute without a value": lambda t: t["attributes"][0].pop("value"),
    "a number beyond 64 bits": lambda t: t["attributes"][0].update(value=1 << 70),
    "a text among the attributes": lambda t: t["attributes"].append("kernel"),
    "a text among the objects": lambda t: t["objects"].append("chunked"),
    "an offset that is infinite": lambda t: t["objects"][0].update(offset=float("inf")),
    "no path": lambda t: t["objects"][0].pop("path"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_wrong_description_is_refused(name: str, tmp_path: Path) -> None:
    files.write_raw(tmp_path / "f", CASE, files.data(CASE))
    open_tree(tmp_path / "f").close()
    rewritten(tmp_path / "f", CHANGES[name])
    with pytest.raises(TailraceError, match="raw container") as caught:
        open_tree(tmp_path / "f")
    assert caught.value.code == ExitCode.VERIFICATION_FAILED


def test_a_part_points_to_its_manifest(tmp_path: Path) -> None:
    files.write_per_rank(tmp_path / "set", CASE, files.data(CASE))
    with pytest.raises(TailraceError, match="one rank's part") as caught:
        open_tree(tmp_path / "set.00001")
    assert str(tmp_path / "set") in caught.value.hint and caught.value.code == ExitCode.USAGE


def test_containers_compare_with_each_other_and_with_hdf5(tmp_path: Path) -> None:
    values = files.data(CASE)
    files.write_raw(tmp_path / "a", CASE, values)
    files.write_per_rank(tmp_path / "b", CASE, values)
    files.write_hdf5(tmp_path / "c", CASE, values)
    for one, other in (("a", "b"), ("a", "c"), ("c", "b")):
        assert compare_files(tmp_path / one, tmp_path / other).first == []
    values[0, 1, 2, 3] = 9
    files.write_hdf5(tmp_path / "d", CASE, values)
    first = compare_files(tmp_path / "b", tmp_path / "d").first
    assert [item.where for item in first] == ["/chunked[0,1,2,3]"]


def rewritten_manifest(path: Path, change: Change) -> None:
    text = json.loads(path.read_text())
    change(text)
    path.write_text(json.dumps(text))


def move_to(offset: list[int]) -> Change:
    return lambda t: t["pieces"][0].update(offset=offset)


PARTS: dict[str, tuple[Change, str]] = {
    "a block of another rank": (move_to([0, 0, 0, 5]), "overlap"),
    "a part of another rank": (lambda t: t.update(rank=1), "of rank 1"),
    "no rank": (lambda t: t.pop("rank"), "of rank None"),
    "another object": (lambda t: t["pieces"][0].update(object=1), "object 1"),
    "partly over others": (move_to([0, 1, 0, 2]), "overlap"),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_that_hide_a_missing_block_are_refused(name: str, tmp_path: Path) -> None:
    change, text = PARTS[name]
    files.write_per_rank(tmp_path / "set", CASE, files.data(CASE))
    open_tree(tmp_path / "set").close()
    rewritten(tmp_path / "set.00000", change)
    with pytest.raises(TailraceError, match=text) as caught:
        open_tree(tmp_path / "set")
    assert caught.value.code == ExitCode.VERIFICATION_FAILED


MANIFESTS: dict[str, Change] = {
    "named twice": lambda t: t["parts"].append("set.00000"),
    "in another folder": lambda t: t.update(parts=["../set.00000", *t["parts"][1:]]),
    "in another order": lambda t: t["parts"].reverse(),
    "a number": lambda t: t.update(parts=[7]),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_wrong_names_of_parts_are_refused(name: str, tmp_path: Path) -> None:
    files.write_per_rank(tmp_path / "set", CASE, files.data(CASE))
    rewritten_manifest(tmp_path / "set", MANIFESTS[name])
    with pytest.raises(TailraceError) as caught:
        open_tree(tmp_path / "set")
    assert caught.value.code == ExitCode.VERIFICATION_FAILED
