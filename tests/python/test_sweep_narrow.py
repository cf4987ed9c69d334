# SPDX-License-Identifier: Apache-2.0
"""Which combinations a sweep within a budget begins with, gives up and takes in later."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path

from tailrace.run.launcher import Launch
from tailrace.run.variant import Variant
from tailrace.sweep.data import Case
from tailrace.sweep.narrow import Latin, narrowed, promising
from tailrace.sweep.plan import Combination

VARIANT = Variant([], Path("x"), Launch([]))


def grid(*levels: int) -> list[Combination]:
    places = itertools.product(*map(range, levels))
    return [Combination(one, "-".join(map(str, one)), VARIANT) for one in places]


def case(name: str, *seconds: float) -> Case:
    return Case(name, (), dict(enumerate(seconds, 1)))


def test_the_slower_half_goes_as_far_as_noise_does_not_explain_it() -> None:
    cases = [
        case("a", 1.0, 1.01, 0.99), case("b", 1.1, 1.1, 1.1), case("c", 1.3, 1.3, 1.3),
        case("d", 2.0, 0.9, 2.1), case("e", 3.0, 3.1, 2.9),
    ]  # fmt: skip
    kept, dropped = narrowed(cases, 3)
    assert kept == {"a", "b", "c", "d"}, "d was the best in one of three"
    assert [(one.name, one.round) for one in dropped] == [("e", 3)]
    assert dropped[0].why == "3.00 times the time of the best, 2.93 to 3.07"


def test_nothing_goes_after_one_round_and_two_stay() -> None:
    cases = [case("a", 1.0), case("b", 9.0), case("c", 99.0)]
    assert narrowed(cases, 1) == ({"a", "b", "c"}, [])
    cases = [case(name, *[time] * 3) for name, time in (("a", 1.0), ("b", 5.0), ("c", 9.0))]
    kept, dropped = narrowed(cases, 3)
    assert kept == {"a", "b"} and [one.name for one in dropped] == ["c"]
    assert narrowed(cases[:2], 4) == ({"a", "b"}, [])


def test_what_took_twice_as_long_twice_goes_after_one_round() -> None:
    cases = [
        case(name, time) for name, time in zip("abcde", (1.0, 1.2, 2.5, 3.0, 9.0), strict=True)
    ]
    for one, warm_up in zip(cases, (1.5, 1.0, 1.0, 6.0, 1.6), strict=True):
        one.warm_up_s = warm_up
    kept, dropped = narrowed(cases, 1)
    assert kept == {"a", "b", "c", "e"}, "c is in the faster half; e was as fast in its warm-up"
    assert dropped[0].why == "4.00 times the time of the best in the warm-up, 3.00 in the round"


def test_the_best_survives_in_many_noisy_sweeps() -> None:
    """Of 16 combinations with 10 % noise, the fastest 1.3 times as fast as the next."""
    generator = random.Random(3)
    survived = 0
    for _ in range(40):
        truth = {str(k): 1.0 if k == 0 else 1.3 + 0.1 * k for k in range(16)}
        alive = set(truth)
        seconds: dict[str, list[float]] = {name: [] for name in truth}
        for number in range(1, 6):
            for name in sorted(alive):
                seconds[name].append(truth[name] * generator.lognormvariate(0, 0.1))
            alive, _ = narrowed([case(name, *seconds[name]) for name in sorted(alive)], number)
        survived += "0" in alive
        assert len(alive) < 8
    assert survived == 40


def test_a_latin_part_has_every_value_equally_often() -> None:
    among = grid(2, 3, 4)
    part = Latin.part(among, 12, seed=1, always=among[5])
    assert len(part) == 12 and among[5] in part and part == [one for one in among if one in part]
    for at, (count, each) in enumerate(((2, 6), (3, 4), (4, 3))):
        assert set(Counter(one.places[at] for one in part).values()) == {each}, (at, count)
    assert Latin.part(among, 12, seed=1, always=among[5]) == part
    assert Latin.part(among, 24, seed=1, always=among[0]) == among


def test_how_much_a_budget_lets_begin_with() -> None:
    assert Latin.affordable(600, 2.0, 3) == 50
    assert Latin.affordable(1, 10.0, 2) == 2
    assert Latin.affordable(1, 10.0, 5) == 5, "each value can be among them"


def test_what_should_be_fast_is_taken_in() -> None:
    """Additive truth; the best of all has not run."""
    among = grid(3, 4)

    def truth(one: Combination) -> float:
        return (1.0 + one.places[0]) * (1.0 + 0.5 * one.places[1])

    ran = [one for one in among if one.name not in {"0-0", "1-0", "2-3"}]
    cases = {one.name: case(one.name, truth(one), truth(one)) for one in ran}
    found = promising(among, cases, 5)
    assert [one.name for one, _ in found] == ["0-0", "1-0"], "2-3 is slow, and is not taken"
    cases["0-0"] = case("0-0", 1.0)
    assert [one.name for one, _ in promising(among, cases, 5)] == [], "1-0 takes twice the best"
    del cases["0-0"]
    assert abs(found[0][1] - 1.0) < 0.01
    assert [one.name for one, _ in promising(among, cases, 1)] == ["0-0"]
    for name in [name for name in cases if name.startswith("0-") or name.endswith("-0")]:
        del cases[name]
    assert promising(among, cases, 5) == [], "nothing is known of the first values"
