# SPDX-License-Identifier: Apache-2.0
"""How often the decisions of `tailrace tune` are wrong, and how many runs they take: simulated runs
of two arms whose true difference is known, decided by the code that decides in a tune.

    python bench/tune/error_rates.py [--tunes 2000]

prints the tables of docs/reference/tune.md: of one comparison, and of the two of a plan and of
repacked copies, which meet the same runs of the default.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from tailrace.sandbox.ledger import Ledger
from tailrace.statistics import median
from tailrace.tune import pairs
from tailrace.tune.pairs import Times, Trial

Noise = Callable[[random.Random], Iterator[float]]  # factors of the runs, one after the other
rare = 8  # so many times as many tunes where what is counted is rare
gains = (1.0, 1.05, 1.1, 1.3, 2.0, 5.0)


def even(spread: float) -> Noise:
    """Log-normal, each run by itself."""

    def noise(chance: random.Random) -> Iterator[float]:
        while True:
            yield math.exp(chance.gauss(0, spread))

    return noise


def bursts(spread: float) -> Noise:
    """Besides, one run of ten takes 1.2 to 3 times as long: somebody else was there."""

    def noise(chance: random.Random) -> Iterator[float]:
        for factor in even(spread)(chance):
            yield factor * (chance.uniform(1.2, 3) if chance.random() < 0.1 else 1)

    return noise


def stretches(spread: float) -> Noise:
    """Besides, the machine is 1.5 or 2.5 times as slow for some ten runs."""

    def noise(chance: random.Random) -> Iterator[float]:
        level = 1.0
        for factor in even(spread)(chance):
            if chance.random() < 0.1:
                level = chance.choice([1.0, 1.5, 2.5])
            yield factor * level

    return noise


def decided(gains: Mapping[str, float], noise: Noise, seed: int) -> tuple[dict[str, str], int]:
    """The verdict of each arm of one tune's trial, and the runs that it took, those of the default
    against itself included."""
    chance = random.Random(seed)
    factors = noise(chance)
    count = 0
    known: list[Times] = []

    def run(arm: str, _name: str) -> float:
        nonlocal count
        count += 1
        return next(factors) / gains.get(arm, 1)

    def same() -> Times:
        if not known:  # once in a tune
            known.append(pairs.against_itself(ledger, "same", ("A1", "A2"), run, lambda _: None)[1])
        return known[0]

    trials = {arm: Trial() for arm in gains}
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder))
        ledger.note("seed", seed)
        pairs.decide(ledger, "trial", "default", trials, run, lambda _: None, same)
    return {arm: trial.outcome()[0].verdict for arm, trial in trials.items()}, count


def rates(gains: Mapping[str, float], noise: Noise, tunes: int) -> tuple[list[list[bool]], float]:
    """Of each tune which arms were called faster, and the median number of runs."""
    found = [decided(gains, noise, seed) for seed in range(tunes)]
    faster = [[verdict == "faster" for verdict in verdicts.values()] for verdicts, _ in found]
    return faster, median([float(count) for _, count in found])


def share(yes: Iterable[bool]) -> float:
    return fmean(map(float, yes))


def of_one(noise: Noise, tunes: int) -> list[str]:
    cells = []
    for gain in gains:
        faster, runs = rates({"tuned": gain}, noise, tunes if gain > 1 else rare * tunes)
        cells.append(f"{share(map(any, faster)):.1%}, {runs:.0f}")
    return cells


def of_two(noise: Noise, tunes: int) -> list[str]:
    """Neither changes anything: how often each, one of them, both are called faster."""
    faster, runs = rates({"tuned": 1.0, "repacked": 1.0}, noise, rare * tunes)
    each = " and ".join(f"{share(arm):.1%}" for arm in zip(*faster, strict=True))
    _, large = rates({"tuned": 5.0, "repacked": 5.0}, noise, tunes)
    return [each, f"{share(map(any, faster)):.1%}", f"{share(map(all, faster)):.1%}",
            f"{runs:.0f}", f"{large:.0f}"]  # fmt: skip


def table(heads: Sequence[str], row: Callable[[Noise, int], list[str]], tunes: int) -> None:
    print("| noise | " + " | ".join(heads) + " |")
    print("|---|" + "---|" * len(heads))
    for name, kind in (("even", even), ("bursts", bursts), ("stretches", stretches)):
        for spread in (0.01, 0.03, 0.1, 0.3):
            print(f"| {name}, {spread:.0%} | " + " | ".join(row(kind(spread), tunes)) + " |",
                  flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tunes", type=int, default=2000, help="of each cell")
    parser.add_argument("--two", action="store_true", help="the second table only")
    asked = parser.parse_args()
    if not asked.two:
        table([f"{gain:g} times" for gain in gains], of_one, asked.tunes)
        print()
    heads = ["each", "one of them", "both", "runs", "runs if both are 5 times as fast"]
    table(heads, of_two, asked.tunes)


if __name__ == "__main__":
    main()
