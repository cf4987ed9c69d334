# SPDX-License-Identifier: Apache-2.0
"""Better numbers for a plan: which are tried, and that the best of them wins, in few runs."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from plans import plan, setting

from tailrace.sandbox.ledger import Ledger
from tailrace.tune import search
from tailrace.tune.candidate import Candidate
from tailrace.tune.loop import Found, Tune
from tailrace.tune.pairs import Misbehaved, Times
from tailrace.tune.request import Asked, Verdict
from tailrace.tune.search import Means, better
from tailrace.tune.variants import around

Document = dict[str, Any]

CACHE = {
    **setting("13", "chunk_cache_bytes"),
    "function": {
        "name": "cache_of_selection",
        "numbers": {"percent": 120, "low_bytes": 8 << 20, "high_bytes": 1 << 30},
        "extents": [1, 0],
    },
}
del CACHE["value"]
STREAM = setting("14", "chunk_cache_preemption", value=1.0)
PLAN = plan(
    ("/d/a.h5", "/x", [CACHE, setting("17", "chunk", "layout", [8, 100]), STREAM]),
    ("/d/a.h5", "/y", [setting("17", "chunk", "layout", [8, 100])]),
    ("/d/b.h5", "", [setting("11", "sieve_buffer_bytes", value=64 << 10),
                     setting("39", "hint.cb_nodes", value="4")]),
)  # fmt: skip


def values(of: Document, key: str) -> list[Any]:
    found = []
    for entry in of["entries"]:
        found += [one.get("value", one.get("function")) for one in entry["settings"]
                  if one["key"] == key]  # fmt: skip
    return found


def test_every_number_is_doubled_and_halved_by_itself() -> None:
    names = [variant.name for variant in around(PLAN)]
    assert names == [
        "rule 13, chunk_cache_bytes: percent 240",
        "rule 13, chunk_cache_bytes: percent 60",
        "rule 17, chunk: 16x100",
        "rule 17, chunk: 4x100",
        "rule 17, chunk: 8x200",
        "rule 17, chunk: 8x50",
        "rule 11, sieve_buffer_bytes: 131072",
        "rule 11, sieve_buffer_bytes: 32768",
        "rule 39, hint.cb_nodes: 8",
        "rule 39, hint.cb_nodes: 2",
    ]


def test_a_setting_in_several_places_is_changed_in_all_and_no_other_is() -> None:
    wider = next(one.plan for one in around(PLAN) if one.name.endswith("16x100"))
    assert values(wider, "chunk") == [[16, 100], [16, 100]]
    assert values(wider, "sieve_buffer_bytes") == [64 << 10]
    assert values(PLAN, "chunk") == [[8, 100], [8, 100]]
    cache = next(one.plan for one in around(PLAN) if one.name.endswith("percent 240"))
    assert values(cache, "chunk_cache_bytes")[0]["numbers"]["percent"] == 240
    assert values(cache, "chunk_cache_bytes")[0]["numbers"]["low_bytes"] == 8 << 20


def test_what_a_plan_may_not_say_is_not_tried() -> None:
    smallest = plan(("/d/a.h5", "", [setting("11", "sieve_buffer_bytes", value=4 << 10)]))
    assert [one.name for one in around(smallest)] == ["rule 11, sieve_buffer_bytes: 8192"]


class World:
    """A run takes the longer, the further the chunk is from the best one."""

    def __init__(self, best_rows: int, folder: Path) -> None:
        self.best_rows = best_rows
        self.runs: list[str] = []
        self.ledger = Ledger(folder)
        self.ledger.note("seed", "3")
        self.bad_content: set[str] = set()
        self.wrong: str = "nothing"
        self.time_left = 10**6

    def seconds(self, name: str, of: Document) -> float:
        self.runs.append(name)
        if self.wrong in name:
            return math.inf
        rows = values(of, "chunk")[0][0]
        noise = 1 + (len(self.runs) * 7919 % 13) / 1300
        return (1 + abs(math.log2(rows / self.best_rows))) * noise

    def pairs(self, name: str, one: Document, other: Document) -> Times:
        return Times(*([self.seconds(name, of) for _ in range(3)] for of in (one, other)))

    def is_good(self, name: str, of: Document) -> bool:
        return str(values(of, "chunk")[0]) not in self.bad_content

    def has_time(self) -> bool:
        self.time_left -= 1
        return self.time_left >= 0

    def search(self) -> tuple[Document, list[str]]:
        means = Means(self.seconds, self.pairs, self.is_good, self.has_time, lambda _text: None)
        return better(PLAN, self.ledger, "search", means)


def test_it_walks_to_the_best_number(tmp_path: Path) -> None:
    world = World(64, tmp_path)
    found, changes = world.search()
    assert values(found, "chunk") == [[64, 100], [64, 100]]
    assert [change.partition(":")[2].split()[0] for change in changes] == [
        "16x100:", "32x100:", "64x100:"
    ]  # fmt: skip


def test_what_is_best_already_stays(tmp_path: Path) -> None:
    found, changes = World(8, tmp_path).search()
    assert (found, changes) == (PLAN, [])


def test_variants_that_lose_get_no_more_runs(tmp_path: Path) -> None:
    world = World(16, tmp_path)
    world.search()
    first = [name for name in world.runs if name.startswith("search/0/")]
    tries = {n: sum(name.startswith(f"search/0/{n}/") for name in first) for n in range(3)}
    assert tries[0] == 11
    assert 0 < tries[1] <= 2 * 7, "half of them, and the plan as it is"
    assert 0 < tries[2] <= 4 * 5
    assert any("16x100" in name for name in first if name.startswith("search/0/2/"))


def test_other_content_ends_it(tmp_path: Path) -> None:
    world = World(64, tmp_path)
    world.bad_content = {"[32, 100]"}
    found, changes = world.search()
    assert values(found, "chunk")[0] == [16, 100]
    assert len(changes) == 1


def test_what_goes_wrong_is_out(tmp_path: Path) -> None:
    world = World(64, tmp_path)
    world.wrong = "16x100"
    found, _ = world.search()
    assert values(found, "chunk")[0] == [8, 100]


def test_what_goes_wrong_in_its_last_pairs_has_lost(tmp_path: Path) -> None:
    class Late(World):
        def pairs(self, name: str, one: Document, other: Document) -> Times:
            if values(other, "chunk")[0] == [32, 100]:
                raise Misbehaved("exit code 1")
            return super().pairs(name, one, other)

    world = Late(64, tmp_path)
    found, changes = world.search()
    assert values(found, "chunk")[0] == [16, 100]
    assert len(changes) == 1
    assert world.ledger.known("search/1/final/ratio") == "inf", "so that a resumed one knows it"


@pytest.mark.parametrize("rounds", [0, 1])
def test_it_ends_when_the_time_is_over(rounds: int, tmp_path: Path) -> None:
    world = World(64, tmp_path)
    world.time_left = rounds
    found, _ = world.search()
    assert len(world.runs) <= rounds * 11 + 6
    assert values(found, "chunk")[0] in ([8, 100], [16, 100])


def test_there_is_an_end_to_the_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "most_variants", 3)
    world = World(64, tmp_path)
    world.search()
    assert sum(name.startswith("search/0/0/") for name in world.runs) == 4


@pytest.mark.parametrize(("spent_s", "goes_on"), [(0.0, True), (25.0, True), (31.0, False)])
def test_minutes_that_were_spent_before_a_tune_goes_on_are_gone(
    spent_s: float, goes_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path)
    answers: list[bool] = []
    ledger.note("search (0 dropped)/0/0/goes on", True)
    for name in ("search (0 dropped)/0/0/0/as it is", "search (0 dropped)/0/final/1/plan", "trial"):
        ledger.note(name, {"elapsed_s": spent_s})
    tune: Any = Tune.__new__(Tune)
    tune._asked = Asked(["true"], tmp_path, tmp_path, tmp_path, search_minutes=1.0)
    tune._arms = SimpleNamespace(seconds=None, times_of=None)
    tune._ledger, tune._say = ledger, lambda _text: None

    def asks(of: Document, _ledger: Ledger, _stage: str, means: Means) -> Any:
        answers.append(means.has_time())
        return of, []

    monkeypatch.setattr(search, "better", asks)
    tune._search(Found(Verdict("kept", "")), Candidate(PLAN), None)
    assert answers == [goes_on]
