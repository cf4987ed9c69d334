# SPDX-License-Identifier: Apache-2.0
"""AMReX's own plot file, a folder, and the checkpoint of particles in it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tailrace.verify.plot.model import Box, Corner, Level, Plot, Points, Values, refuse

_head = "FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))"
_box = re.compile(r"\(\((\d+),(\d+),(\d+)\) \((\d+),(\d+),(\d+)\) \(0,0,0\)\)")
_most_head = 512  # bytes of a line ahead of the values


def is_native_plot(path: Path) -> bool:
    try:
        with (path / "Header").open("rb") as file:
            return file.read(11) == b"HyperCLaw-V"
    except OSError:
        return False


class _Lines:
    """Of a text file, one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            text = path.read_text("ascii")
        except OSError as error:
            refuse(path, f"cannot be read: {os.strerror(error.errno or 0)}")
        except ValueError:
            refuse(path, "it is no text")
        self._lines = iter(text.split("\n"))
        self.number = 0

    def next(self, what: str) -> str:
        self.number += 1
        line = next(self._lines, None)
        if line is None:
            refuse(self.path, f"it ends in line {self.number}, where {what} should be")
        return line

    def expect(self, *texts: str) -> None:
        for text in texts:
            found = self.next(f'"{text}"')
            if found.rstrip() != text.rstrip():
                self.wrong(f'"{found[:60]}" is not "{text}"')

    def whole(self, what: str, least: int = 0) -> int:
        return self.wholes(what, 1, least)[0]

    def wholes(self, what: str, count: int, least: int = 0) -> list[int]:
        words = self.next(what).split()
        if len(words) != count or not all(re.fullmatch(r"\d{1,18}", word) for word in words):
            self.wrong(f"{what}: not {count} whole numbers")
        if any(int(word) < least for word in words):
            self.wrong(f"{what}: less than {least}")
        return [int(word) for word in words]

    def reals(self, what: str, count: int) -> list[float]:
        try:
            found = [float(word) for word in self.next(what).split()]
        except ValueError:
            found = []
        if len(found) != count:
            self.wrong(f"{what}: not {count} numbers")
        return found

    def boxes(self, what: str) -> list[tuple[Corner, Corner]]:
        return [corners(found) for found in _box.findall(self.next(what))]

    def wrong(self, what: str) -> None:
        refuse(self.path, f"line {self.number}: {what}")


def corners(found: tuple[str, ...]) -> tuple[Corner, Corner]:
    a, b, c, d, e, f = (int(word) for word in found)
    return (a, b, c), (d, e, f)


def native_plot(folder: Path) -> Plot:
    """Raises: exit code 3 if a text is not as AMReX writes it, or a file is too short."""
    lines = _Lines(folder / "Header")
    lines.next("the version")
    count = lines.whole("number of components", 1)
    names = [lines.next("a component") for _ in range(count)]
    lines.expect("3")
    time = lines.reals("time", 1)[0]
    levels = lines.whole("finest level") + 1
    if levels > 64:
        lines.wrong(f"{levels} levels")
    lines.expect("0 0 0")
    top = lines.reals("upper corner", 3)
    lines.next("ratios")
    domains = lines.boxes("domains")
    if len(domains) != levels or any(any(lo) for lo, _ in domains):
        lines.wrong(f"not {levels} domains that begin at 0")
    steps = lines.wholes("steps of levels", levels)
    sizes = [lines.reals("size of a cell", 3) for _ in range(levels)]
    lines.expect("0", "0")
    plot = Plot(folder, "plot file, AMReX's folder", names, [], time, steps=steps)
    for number, (_, hi) in enumerate(domains):
        i, j, k = (n + 1 for n in hi)
        if any(abs(s * n - t) > 1e-9 * t for s, n, t in zip(sizes[number], (i, j, k), top,
                                                            strict=True)):  # fmt: skip
            lines.wrong(f"cells of level {number} do not make the domain")
        level = Level((i, j, k), _level(folder / f"Level_{number}", count))
        _check_corners(lines, plot, number, level, sizes[number])
        plot.levels.append(level)
    if (folder / "particle0").is_dir():
        _add_particles(plot, folder / "particle0")
    return plot


def _check_corners(lines: _Lines, plot: Plot, number: int, level: Level, size: list[float]) -> None:
    words = lines.next(f"level {number}").split()
    try:
        at = float(words[2])
    except (IndexError, ValueError):
        at = None
    if words[:2] != [str(number), str(len(level.boxes))] or at != plot.time:
        lines.wrong(f"level {number} does not have {len(level.boxes)} boxes at time {plot.time}")
    if lines.whole("step") != plot.steps[number]:
        lines.wrong(f"level {number} has another step than the levels above")
    for box in level.boxes:
        for d in range(3):
            low, high = lines.reals("corners of a box", 2)
            wanted = (size[d] * box.lo[d], size[d] * (box.hi[d] + 1))
            if max(abs(low - wanted[0]), abs(high - wanted[1])) > 1e-9 * max(1.0, wanted[1]):
                lines.wrong(f"level {number}, box {box.name}: {low} {high} along {'xyz'[d]}")
    lines.expect(f"Level_{number}/Cell")


def _level(folder: Path, components: int) -> list[Box]:
    lines = _Lines(folder / "Cell_H")
    lines.expect("1", "1", str(components), "0")
    places = _box_array(lines)
    lines.expect(str(len(places)))
    files = []
    for _ in places:
        words = lines.next("FabOnDisk").split()
        if len(words) != 3 or words[0] != "FabOnDisk:" or not words[2].isdigit():
            lines.wrong("no `FabOnDisk: FILE OFFSET`")
        files.append((folder / Path(words[1]).name, int(words[2])))
    lines.expect("")
    least, most = ([], []) if not places else (_rows(lines, places, components) for _ in range(2))
    boxes = []
    for (lo, hi), (path, offset), low, high in zip(places, files, least, most, strict=True):
        box = Box(lo, hi, lambda: np.empty(0))
        box.read = _fab(path, offset, box, components, low, high)
        boxes.append(box)
    return boxes


def _box_array(lines: _Lines) -> list[tuple[Corner, Corner]]:
    words = re.fullmatch(r"\((\d{1,12}) 0", lines.next("number of boxes").rstrip())
    if words is None:
        lines.wrong("no `(N 0`")
    assert words is not None
    places = []
    for _ in range(int(words[1])):
        found = _box.fullmatch(lines.next("a box").rstrip())
        if found is None:
            lines.wrong("no box")
        assert found is not None
        lo, hi = corners(found.groups())
        if any(low > high for low, high in zip(lo, hi, strict=True)):
            lines.wrong("an empty box")
        places.append((lo, hi))
    lines.expect(")")
    return places


def _rows(lines: _Lines, places: list[tuple[Corner, Corner]], components: int) -> list[list[float]]:
    lines.expect(f"{len(places)},{components}")
    rows = []
    for _ in places:
        words = lines.next("extremes of a box").split(",")
        try:
            row = [float(word) for word in words[:-1]]
        except ValueError:
            row = []
        if len(row) != components or words[-1].strip():
            lines.wrong(f"not {components} extremes")
        rows.append(row)
    if lines.next("an empty line").strip():
        lines.wrong("no empty line behind the extremes")
    return rows


def _fab(
    path: Path, offset: int, box: Box, components: int, low: list[float], high: list[float]
) -> Callable[[], Values]:
    lo, hi = (",".join(map(str, corner)) for corner in (box.lo, box.hi))
    head = f"{_head}(({lo}) ({hi}) (0,0,0)) {components}\n".encode()

    def read() -> Values:
        count = components * box.cells
        found = _bytes_of(path, offset, len(head) + 8 * count)
        if found[: len(head)] != head:
            refuse(path, f"at byte {offset} there is not the head of box {box.name}")
        values = np.frombuffer(found, "<f8", count, len(head)).reshape(components, *box.shape)
        flat = values.reshape(components, -1)
        for name, text, real in (("minimum", low, flat.min(1)), ("maximum", high, flat.max(1))):
            for c in range(components):
                if text[c] != real[c]:
                    refuse(
                        path.with_name("Cell_H"),
                        f"the {name} of component {c} of box {box.name} is {text[c]!r} there, and "
                        f"{float(real[c])!r} in {path.name}",
                    )
        return values

    return read


def _bytes_of(path: Path, offset: int, count: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            found = file.read(count)
    except OSError as error:
        refuse(path, f"cannot be read: {os.strerror(error.errno or 0)}")
    if len(found) != count:
        refuse(path, f"it ends at byte {offset + len(found)}, {offset + count} are needed")
    return found


def _add_particles(plot: Plot, folder: Path) -> None:
    lines = _Lines(folder / "Header")
    lines.expect("Version_Two_Dot_Zero_double", "3")
    reals = 3 + lines.whole("reals")
    for _ in range(reals - 3):
        lines.next("a real")
    wholes = 2 + lines.whole("integers")
    for _ in range(wholes - 2):
        lines.next("an integer")
    lines.expect("1")
    total = lines.whole("number of particles")
    plot.next_id = lines.whole("next id")
    lines.expect(str(len(plot.levels) - 1))
    for level in plot.levels:
        lines.expect(str(len(level.boxes)))
    seen = 0
    for number, level in enumerate(plot.levels):
        place = folder / f"Level_{number}"
        if (place / "Particle_H").exists():
            found = _box_array(_Lines(place / "Particle_H"))
            if found != [(box.lo, box.hi) for box in level.boxes]:
                refuse(place / "Particle_H", "its boxes are not those of the level")
        for _ in level.boxes:
            file, count, offset = lines.wholes("file, particles, offset", 3)
            path = place / f"DATA_{file:05d}"
            level.points.append(Points(count, _records(path, offset, count, wholes, reals)))
            seen += count
    if seen != total:
        lines.wrong(f"{total} particles in all, and {seen} in the boxes")


def _records(
    path: Path, offset: int, count: int, wholes: int, reals: int
) -> Callable[[], tuple[Values, Values]]:
    def read() -> tuple[Values, Values]:
        if count == 0:
            return np.empty((0, wholes), "<i4"), np.empty((0, reals), "<f8")
        found = _bytes_of(path, offset, count * (4 * wholes + 8 * reals))
        numbers = np.frombuffer(found, "<i4", count * wholes).reshape(count, wholes)
        others = np.frombuffer(found, "<f8", count * reals, 4 * count * wholes)
        return numbers, others.reshape(count, reals)

    return read
