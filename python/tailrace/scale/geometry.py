# SPDX-License-Identifier: Apache-2.0
"""The inputs of a kernel for so many ranks: a table with a rule per kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tailrace.errors import TailraceError

modes = ("weak", "strong")
_slab_defaults = {"n2": "50"}  # the kernel's own


@dataclass(frozen=True)
class Placed:
    """words: inputs that take the place of the user's. shape: for a table. note: what is not as it
    was asked for; empty where all is."""

    words: tuple[str, ...]
    shape: str
    note: str = ""


Rule = Callable[[Mapping[str, str], int, str], Placed]


def placed(kernel: str, settings: Mapping[str, str], ranks: int, mode: str) -> Placed:
    """settings: the inputs that all runs have in common. Raises TailraceError where they do not
    say how large the data is."""
    return rules[kernel](settings, ranks, mode)


def _seism(settings: Mapping[str, str], ranks: int, mode: str) -> Placed:
    """weak: `domain` is that of a rank. strong: `domain` times `processor`, where that is given,
    is the whole slice, and it is cut anew."""
    domain = _three(settings, "domain")
    if mode == "weak":
        grid = min(_grids(ranks), key=_roundness)
        return _words(grid, domain)
    blocks = _three(settings, "processor") if "processor" in settings else (1, 1, 1)
    whole = (domain[0] * blocks[0], domain[1] * blocks[1], domain[2] * blocks[2])
    fitting = [grid for grid in _grids(ranks) if not any(w % g for w, g in _zip(whole, grid))]
    if fitting:
        grid = min(fitting, key=lambda one: _cut(whole, one))
        return _words(grid, _by(whole, grid))
    grid = min(_grids(ranks), key=lambda one: _cut(whole, one))
    part = _by(whole, grid)
    got = tuple(p * g for p, g in _zip(part, grid))
    note = f"{_x(whole)} cannot be cut for {ranks} ranks: {_x(got)} in its place"
    words = _words(grid, part)
    return Placed(words.words, words.shape, note)


def _slab(settings: Mapping[str, str], ranks: int, mode: str) -> Placed:
    """Ranks share the long dimension, with axis=short-split the short one; any number of them
    will do. weak: the extent given is that of a rank."""
    shared = "n2" if settings.get("axis") == "short-split" else "n1"
    extents = {key: _number({**_slab_defaults, **settings}, key) for key in ("n1", "n2")}
    if mode == "weak":
        extents[shared] *= ranks
    words = tuple(f"{key}={value}" for key, value in extents.items())
    return Placed(words, f"{extents['n1']}x{extents['n2']}")


def _particle(settings: Mapping[str, str], ranks: int, mode: str) -> Placed:
    """weak: `dim_1` is that of a rank. strong: it is that of all ranks together."""
    whole = _number(settings, "dim_1")
    if mode == "weak":
        return Placed((f"dim_1={whole}",), str(whole))
    part = max(1, round(whole / ranks))
    note = f"dim_1={whole} cannot be cut for {ranks} ranks: {part * ranks} in its place"
    return Placed((f"dim_1={part}",), str(part), note if part * ranks != whole else "")


def _amr(settings: Mapping[str, str], ranks: int, mode: str) -> Placed:
    """weak: `ncells` are those of a rank, and the last axis grows. strong: those of all ranks."""
    words = settings.get("ncells", "").replace("x", " ").split()
    if len(words) not in (1, 3) or not all(word.isdigit() for word in words):
        raise TailraceError(
            f'ncells "{settings.get("ncells", "")}" is not one number of cells, or three',
            where="scale",
            hint='give ncells=64, or "ncells=64 64 32"',
        )
    x, y, z = (int(word) for word in (words * 3)[:3])
    if mode == "weak":
        z *= ranks
    return Placed((f"ncells={x} {y} {z}",), f"{x}x{y}x{z}")


def _history(settings: Mapping[str, str], ranks: int, mode: str) -> Placed:
    """weak: `jm` are the latitudes of a rank. strong: those of all ranks."""
    latitudes = _number({"jm": "181", **settings}, "jm") * (ranks if mode == "weak" else 1)
    return Placed((f"jm={latitudes}",), f"{latitudes} latitudes")


rules: dict[str, Rule] = {
    "seism": _seism,
    "slab": _slab,
    "particle": _particle,
    "amr": _amr,
    "history": _history,
}

Three = tuple[int, int, int]


def _words(grid: Three, domain: Three) -> Placed:
    words = (f"processor={_x(grid)}", f"domain={_x(domain)}")
    return Placed(words, f"{_x(grid)} of {_x(domain)}")


def _three(settings: Mapping[str, str], key: str) -> Three:
    text = settings.get(key, "")
    numbers = re.split(r"[\sx]+", text.strip())
    if len(numbers) != 3 or not all(re.fullmatch(r"[1-9]\d{0,9}", one) for one in numbers):
        raise TailraceError(
            f"{key} is {text!r}" if text else f"{key} is missing", where="scale",
            hint=f"give three numbers above zero: {key}=64x64x64",
        )  # fmt: skip
    return int(numbers[0]), int(numbers[1]), int(numbers[2])


def _grids(ranks: int) -> Iterator[Three]:
    """All three factors whose product it is."""
    for x in _divisors(ranks):
        for y in _divisors(ranks // x):
            yield x, y, ranks // x // y


def _number(settings: Mapping[str, str], key: str) -> int:
    text = settings.get(key, "").strip()
    found = re.fullmatch(r"([1-9]\d{0,17})([KMGT]?)", text)
    if found is None:
        raise TailraceError(
            f"{key} is {text!r}" if text else f"{key} is missing", where="scale",
            hint=f"give a number above zero: {key}=100",
        )  # fmt: skip
    return int(found[1]) * 1024 ** " KMGT".index(found[2] or " ")


def _divisors(number: int) -> list[int]:
    return [one for one in range(1, number + 1) if number % one == 0]


def _roundness(grid: Three) -> tuple[int, int, int, int]:
    """Least for the grid nearest to a cube, its greatest extent in x."""
    return sum(grid), -grid[0], -grid[1], -grid[2]


def _cut(whole: Three, grid: Three) -> tuple[float, tuple[int, int, int, int]]:
    """Least for blocks nearest to cubes; a block of less than one element is none."""
    sides = [w / g for w, g in _zip(whole, grid)]
    surface = sides[0] * sides[1] + sides[1] * sides[2] + sides[0] * sides[2]
    return (surface if min(sides) >= 1 else float("inf")), _roundness(grid)


def _by(whole: Three, grid: Three) -> Three:
    x, y, z = (max(1, round(w / g)) for w, g in _zip(whole, grid))
    return x, y, z


def _zip(one: Three, other: Three) -> Iterator[tuple[int, int]]:
    return zip(one, other, strict=True)


def _x(numbers: tuple[int, ...]) -> str:
    return "x".join(map(str, numbers))
