# SPDX-License-Identifier: Apache-2.0
"""What a tune has found out is known after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from tailrace.errors import TailraceError
from tailrace.sandbox import ledger
from tailrace.sandbox.ledger import Ledger


def test_a_fact_is_worked_out_once(tmp_path: Path) -> None:
    calls = []

    def find() -> int:
        calls.append(1)
        return 7

    assert [Ledger(tmp_path).fact("a", find) for _ in range(3)] == [7, 7, 7]
    assert len(calls) == 1


def test_a_fact_that_is_nothing_is_one(tmp_path: Path) -> None:
    Ledger(tmp_path).note("a", None)
    assert Ledger(tmp_path).fact("a", lambda: 1) is None


def test_a_line_that_was_cut_is_no_fact_and_harms_none(tmp_path: Path) -> None:
    first = Ledger(tmp_path)
    first.note("a", 1)
    with (tmp_path / "facts.jsonl").open("a") as stream:
        stream.write('{"name": "b", "val')
    again = Ledger(tmp_path)
    assert again.known("b") is None
    again.note("c", 3)
    assert Ledger(tmp_path).all() == {"a": 1, "c": 3}


def test_the_order_of_arms_is_random_and_stays(tmp_path: Path) -> None:
    one = Ledger(tmp_path)
    one.note("seed", "x")
    orders = [one.shuffled(f"trial/{n}", ["a", "b"]) for n in range(40)]
    assert ["a", "b"] in orders
    assert ["b", "a"] in orders
    again = Ledger(tmp_path)
    assert [again.shuffled(f"trial/{n}", ["a", "b"]) for n in range(40)] == orders


def test_facts_are_gone_before_what_they_speak_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill in between leaves nothing that could be gone on with by half."""
    (tmp_path / "state").mkdir()
    found = Ledger(tmp_path / "state")
    found.note("a", 1)
    (tmp_path / "state/profile.json").touch()
    monkeypatch.setattr(ledger.shutil, "rmtree", lambda *_, **_more: None)
    ledger.remove(tmp_path / "state")
    assert not found.is_there
    assert (tmp_path / "state/profile.json").exists()


def test_two_tunes_do_not_work_in_one_folder(tmp_path: Path) -> None:
    with ledger.taken(tmp_path), pytest.raises(TailraceError, match="another tune"):
        ledger.taken(tmp_path)
    ledger.taken(tmp_path).close()
