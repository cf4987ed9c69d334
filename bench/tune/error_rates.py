# SPDX-License-Identifier: Apache-2.0
"""How often the decisions of `tailrace tune` are wrong, and how many runs they take: simulated runs
of two arms whose true difference is known, decided by the code that decides in a tune.

    python bench/tune/error_rates.py [--tunes 2000]

prints the table of docs/reference/tune.md.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tailrace.sandbox.ledger import Ledger
from tailrace.statistics import median
from tailrace.tune import pairs
from tailrace.tune.pairs import Times

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


def decided(gain: float, noise: Noise, seed: int) -> tuple[str, int]:
    """The verdict of one tune's trial, and the runs that it took, those of the default against
    itself included."""
    chance = random.Random(seed)
    factors = noise(chance)
    count = 0

    def run(arm: str, _name: str) -> float:
        nonlocal count
        count += 1
        return next(factors) / (gain if arm == "tuned" else 1)

    def same() -> Times:
        return pairs.against_itself(ledger, "same", ("A1", "A2"), run, lambda _: None)[1]

    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder))
        ledger.note("seed", seed)
        found, _ = pairs.until_decided(
            ledger, "trial", ("default", "tuned"), run, lambda _: None, same
        )
    return found.verdict, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tunes", type=int, default=2000, help="of each cell")
    tunes = parser.parse_args().tunes
    print("| noise | " + " | ".join(f"{gain:g} times" for gain in gains) + " |")
    print("|---|" + "---|" * len(gains))
    for name, kind in (("even", even), ("bursts", bursts), ("stretches", stretches)):
        for spread in (0.01, 0.03, 0.1, 0.3):
            cells = []
            for gain in gains:
                seeds = range(tunes if gain > 1 else rare * tunes)
                found = [decided(gain, kind(spread), seed) for seed in seeds]
                faster = sum(verdict == "faster" for verdict, _ in found) / len(seeds)
                runs = median([float(count) for _, count in found])
                cells.append(f"{faster:.1%}, {runs:.0f}")
            print(f"| {name}, {spread:.0%} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
