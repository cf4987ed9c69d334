# SPDX-License-Identifier: Apache-2.0
"""Plot files as they are described (docs/user/amr.md), read without anything of ours, and the
values that they must hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import h5py
import netCDF4
import numpy as np


@dataclass
class Box:
    lo: tuple[int, ...]
    hi: tuple[int, ...]
    values: np.ndarray  # component, k, j, i
    owner: int | None = None

    @property
    def shape(self):
        return tuple(high - low + 1 for low, high in zip(self.lo[::-1], self.hi[::-1], strict=True))


@dataclass
class Plot:
    components: int
    domains: list[tuple[int, ...]]  # cells along i, j, k
    levels: list[list[Box]]
    time: float


def shifted(numbers, bits):
    return numbers >> np.uint64(bits)


def mixed(number):
    """The SplitMix64 finaliser."""
    z = number + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ shifted(z, 30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ shifted(z, 27)) * np.uint64(0x94D049BB133111EB)
    return z ^ shifted(z, 31)


def fraction(number):
    """Its upper 53 bits."""
    return shifted(mixed(number), 11).astype("f8") * 2.0**-53


def expected(plot, level, box, step):
    """Step by step, level by level, component by component, row by row of the domain."""
    sizes = [int(np.prod(domain)) for domain in plot.domains]
    first = step * sum(sizes) * plot.components + sum(sizes[:level]) * plot.components
    nx, ny, _ = plot.domains[level]
    k, j, i = (
        np.arange(lo, hi + 1, dtype="u8") for lo, hi in zip(box.lo[::-1], box.hi[::-1], strict=True)
    )
    cell = (k[:, None, None] * ny + j[None, :, None]) * np.uint64(nx) + i[None, None, :]
    component = np.arange(plot.components, dtype="u8")[:, None, None, None]
    return fraction(np.uint64(first) + component * np.uint64(sizes[level]) + cell[None])


def check(plot, step=0):
    """Every value, and each cell once; finer boxes lie within coarser ones."""
    below = None
    for level, boxes in enumerate(plot.levels):
        seen = np.zeros(plot.domains[level][::-1], "i4")
        for box in boxes:
            where = tuple(
                slice(low, high + 1) for low, high in zip(box.lo[::-1], box.hi[::-1], strict=True)
            )
            seen[where] += 1
            np.testing.assert_array_equal(box.values, expected(plot, level, box, step))
        assert seen.max() == 1
        if level == 0:
            assert seen.min() == 1
        else:
            ratio = plot.domains[level][0] // plot.domains[level - 1][0]
            coarse = seen[::ratio, ::ratio, ::ratio]
            assert np.all(below[coarse == 1] == 1)
        below = seen
    return plot


def of_tables(corners, owners, offsets, data, components):
    boxes = []
    assert offsets[0] == 0 and offsets[-1] == len(data) and list(owners) == sorted(owners)
    for number, corner in enumerate(corners):
        box = Box(tuple(corner[:3]), tuple(corner[3:]), np.empty(0), int(owners[number]))
        own = data[offsets[number] : offsets[number + 1]]
        box.values = own.reshape(components, *box.shape)
        boxes.append(box)
    return boxes


def netcdf(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        components = int(file.num_components)
        domains, levels = [], []
        for level in range(int(file.num_levels)):
            name = f"level_{level}."
            corners = file.getncattr(f"{name}prob_domain")
            domains.append(tuple(int(c) + 1 for c in corners[3:]))
            read = [
                file.variables[name + one][...]
                for one in ("boxes", "Processors", "data:offsets=0", "data:datatype=0")
            ]
            levels.append(of_tables(*read, components))
        return Plot(components, domains, levels, float(file.getncattr("level_0.time")))


def hdf5(path):
    with h5py.File(path) as file:
        components = int(file.attrs["num_components"])
        domains, levels = [], []
        for level in range(int(file.attrs["num_levels"])):
            group = file[f"level_{level}"]
            domain = group.attrs["prob_domain"]
            domains.append(tuple(int(domain[f"hi_{axis}"]) + 1 for axis in "ijk"))
            boxes = group["boxes"][...]
            corners = np.array([tuple(one) for one in boxes], "i4").reshape(len(boxes), 6)
            levels.append(
                of_tables(
                    corners, group["Processors"][...], group["data:offsets=0"][...],
                    group["data:datatype=0"][...], components,
                )
            )  # fmt: skip
        return Plot(components, domains, levels, float(file.attrs["time"]))


_box = re.compile(r"\(\((\d+),(\d+),(\d+)\) \((\d+),(\d+),(\d+)\) \(0,0,0\)\)")


def native(folder):
    """With the extremes of each box, and where each lies."""
    folder = Path(folder)
    lines = (folder / "Header").read_text().splitlines()
    components = int(lines[1])
    assert lines[0] == "HyperCLaw-V1.1" and lines[2 + components] == "3"
    time, finest = float(lines[3 + components]), int(lines[4 + components])
    found = _box.findall(lines[8 + components])
    domains = [tuple(int(c) + 1 for c in one[3:]) for one in found]
    levels = [_native_level(folder / f"Level_{n}", components) for n in range(finest + 1)]
    return Plot(components, domains, levels, time)


def _native_level(folder, components):
    text = (folder / "Cell_H").read_text().split("\n")
    assert text[:4] == ["1", "1", str(components), "0"]
    count = int(text[4][1:].split()[0])
    corners = [tuple(map(int, _box.match(line).groups())) for line in text[5 : 5 + count]]
    places = [line.split() for line in text[7 + count : 7 + 2 * count]]
    rest = [line for line in text[8 + 2 * count :] if line]
    assert rest[0] == rest[1 + count] == f"{count},{components}"
    boxes = []
    for number, corner in enumerate(corners):
        _, name, offset = places[number]
        box = Box(corner[:3], corner[3:], np.empty(0))
        with (folder / name).open("rb") as file:
            file.seek(int(offset))
            head = file.readline().decode()
            assert head.startswith("FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))")
            assert head.endswith(f"{components}\n") and _box.findall(head)[0] == tuple(
                map(str, corner)
            )
            values = np.fromfile(file, "<f8", components * int(np.prod(box.shape)))
        box.values = values.reshape(components, *box.shape)
        own = box.values.reshape(components, -1)
        for row, extremes in (
            (rest[1 + number], own.min(1)),
            (rest[2 + count + number], own.max(1)),
        ):
            np.testing.assert_array_equal([float(x) for x in row.split(",")[:-1]], extremes)
        boxes.append(box)
    return boxes
