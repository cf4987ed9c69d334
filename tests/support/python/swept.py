# SPDX-License-Identifier: Apache-2.0
"""Records of a sweep or a scaling whose truth is known."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from typing import Any

from records import MIB, a_record

SWEEP = "sweep-20260101T000000Z-0123abcd-7"
SIZE = 64 * MIB  # of every Record

Settings = dict[str, str]
Truth = Callable[[Settings], float]


def name_of(settings: Settings) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


def combinations(factors: Mapping[str, list[str]]) -> list[Settings]:
    return [
        dict(zip(factors, values, strict=True)) for values in itertools.product(*factors.values())
    ]


def swept(
    factors: Mapping[str, list[str]], seconds: Truth, *, rounds: int = 8, noise: float = 0.02,
    drift: float = 0.0, seed: int = 1, sweep: str = SWEEP,
    parts: Callable[[Settings], dict[str, Any]] = lambda _one: {},
) -> list[dict[str, Any]]:  # fmt: skip
    """A warm-up of each combination, then rounds. noise: of the logarithm, normal; drift: by how
    much the machine gets slower from round to round. parts: keys of the Records to replace."""
    generator = random.Random(seed)
    found = []
    for number in range(rounds + 1):
        for place, one in enumerate(combinations(factors)):
            slow = (1 + drift) ** number
            time = seconds(one) * slow * generator.lognormvariate(0, noise)
            arm = {"comparison": sweep, "name": name_of(one), "round": number}
            found.append(
                a_record(
                    durable_s=time, run=f"run-{number}-{place}", warm_up=number == 0, arm=arm,
                    started=f"2026-01-01T00:{number:02}:{place % 60:02}.000Z",
                    configuration=one, **parts(one),
                )
            )  # fmt: skip
    return found


def writers(ranks: int, who: int, calls: int, *, read_bytes: int = 0) -> dict[str, Any]:
    """Of a Record: so many ranks wrote everything in so many calls each."""
    size = SIZE // who
    phase = {"calls": calls, "bytes_asked": size, "bytes_done": size,
             "read_calls": 4 if read_bytes else 0, "read_bytes": read_bytes}  # fmt: skip
    none = {"calls": 0, "bytes_asked": 0, "bytes_done": 0}
    return {
        "measured": True, "ranks_that_wrote": who,
        "list": [
            {"rank": rank, **({"calls": calls, "bytes_asked": size, "bytes_done": size}
                              if rank < who else none),
             "failed_calls": 0, "short_calls": 0,
             "smallest_bytes": size // calls if rank < who else 0,
             "largest_bytes": size // calls if rank < who else 0,
             "by_size": {}, "by_call": {"write": 0, "pwrite": 0, "writev": 0, "aio": 0, "uring": 0},
             "by_phase": {"write": phase} if rank < who else {}}
            for rank in range(ranks)
        ],
    }  # fmt: skip


def scaled(
    ranks: list[int], seconds: Callable[[int], float], *, mode: str = "weak", cores: int = 4,
    rounds: int = 8, noise: float = 0.02, seed: int = 1,
) -> list[dict[str, Any]]:  # fmt: skip
    """Of one node. weak: the Records' bytes grow with the ranks."""
    found = swept(
        {"ranks": [str(count) for count in ranks]}, lambda one: seconds(int(one["ranks"])),
        rounds=rounds, noise=noise, seed=seed, sweep=f"scale_{mode}-20260101T000000Z-0123abcd-7",
    )  # fmt: skip
    for record in found:
        count = int(record["arm"]["name"].partition("=")[2])
        size = SIZE * (count if mode == "weak" else 1)
        record["context"] |= {"ranks": count, "ranks_per_node": count, "cores": cores}
        record["configuration"] |= {"processor": [count, 1, 1]}
        record["bytes"]["logical"] = size
        for name, rate in record["rates"].items():
            record["rates"][name] = rate * size / SIZE
    return found
