# SPDX-License-Identifier: Apache-2.0
"""Kernels whose files hold several arrays: what each of them has to be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailrace.errors import TailraceError
from tailrace.verify.described import Described
from tailrace.verify.model import Box, Shape
from tailrace.verify.types import Float, Integer, Type

Array = np.ndarray[Any, Any]

variables = ("x", "y", "z", "px", "py", "pz", "id_1", "id_2")
_whole = variables.index("id_1")
_types: list[Type] = [
    Integer(4, True, 32) if number == _whole else Float(4) for number in range(len(variables))
]
_greatest = 1 << 63


@dataclass(frozen=True)
class Expected:
    """An array: values(box) is what it holds there, ranks(indices) who wrote these elements.

    indices: one row per element; -1: nobody did. members: those that HDF5 has instead of the last
    dimension.
    """

    path: str
    shape: Shape
    type: Type
    step: int
    values: Callable[[Box], Array]
    ranks: Callable[[Array], Array]
    members: Mapping[str, Type] = field(default_factory=dict)
    where: Callable[[tuple[int, ...]], str] = lambda _position: ""  # for people, if it is more


@dataclass(frozen=True)
class Run:
    """A run of a kernel, as its file describes it."""

    kernel: str
    fill: str
    ranks: int
    steps: int
    about: str
    arrays: tuple[Expected, ...]
    gaps: bool = False  # some elements are nobody's, and may be without storage

    @property
    def elements(self) -> int:
        return sum(math.prod(one.shape) for one in self.arrays)


def numbers_of(box: Box, shape: Shape, first: int) -> Array:
    """Row-major numbers of the elements of a box, counted from `first`, in 64 bits."""
    numbers = np.full((1,) * len(shape), first & ((1 << 64) - 1), np.uint64)
    below = 1
    for axis in reversed(range(len(shape))):
        along = np.arange(box[axis].start, box[axis].stop, dtype=np.uint64) * np.uint64(below)
        numbers = numbers + along.reshape([-1 if d == axis else 1 for d in range(len(shape))])
        below *= shape[axis]
    return numbers


def scrambled(numbers: Array) -> Array:
    """The finaliser of SplitMix64."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))


def slab_run(about: Described) -> Run:
    _require_schema(about, "tailrace-slab/1")
    long, short, ranks = about.number("n1"), about.number("n2"), about.number("ranks")
    axis = about.text("axis", ("pair", "long-fast", "long-slow", "short-split"))
    fill = about.text("fill", ("position", "rank"))
    _require_fits(about, long * short * 8)
    axes = ("long-fast", "long-slow") if axis == "pair" else (axis,)
    arrays = tuple(
        _slab_array(one, number, long, short, ranks, fill) for number, one in enumerate(axes)
    )
    text = f"{long} x {short}, axis {axis}, {ranks} ranks, fill {fill}"
    return Run("slab", fill, ranks, len(arrays), text, arrays)


def _slab_array(axis: str, number: int, long: int, short: int, ranks: int, fill: str) -> Expected:
    path = {"long-fast": "/dset_1", "long-slow": "/dset_2", "short-split": "/dset_3"}[axis]
    shape = (short, long) if axis == "long-fast" else (long, short)
    shared = 0 if axis == "long-slow" else 1
    block = -(-shape[shared] // ranks)

    def values(box: Box) -> Array:
        if fill == "position":
            z = scrambled(numbers_of(box, shape, number * long * short))
            return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
        owner = np.arange(box[shared].start, box[shared].stop) // block
        extents = [part.stop - part.start for part in box]
        column = owner.reshape((-1, 1) if shared == 0 else (1, -1))
        return np.broadcast_to(column, extents).astype(np.float64)

    return Expected(path, shape, Float(8), number, values, lambda at: at[:, shared] // block)


@dataclass(frozen=True)
class _Particles:
    per_rank: tuple[int, ...]
    ranks: int
    blocks: tuple[int, int, int] | None  # stride, size, count
    only: int | None = None  # the one rank whose particles the file holds

    @property
    def shape(self) -> Shape:
        return (self.per_rank[0] * (self.ranks if self.only is None else 1), *self.per_rank[1:])

    def first(self, step: int, variable: int) -> int:
        """Number of the first element of a dataset."""
        own = math.prod(self.per_rank)
        return (8 * step + variable) * own * self.ranks + own * (self.only or 0)

    def written(self, first_index: Array) -> Array:
        """Which of these positions along the first dimension belong to a block."""
        if self.blocks is None:
            return np.ones(first_index.shape, bool)
        stride, size, count = self.blocks
        own = first_index % self.per_rank[0]
        return (own % stride < size) & (own // stride < count)

    def owners(self, indices: Array) -> Array:
        rank = indices[:, 0] // self.per_rank[0] + (self.only or 0)
        return np.where(self.written(indices[:, 0]), rank, -1)

    def numbers(self, box: Box, step: int, variable: int) -> Array:
        """Whole numbers below 2^24; 0 in the gaps between blocks."""
        numbers = numbers_of(box, self.shape, self.first(step, variable))
        found = scrambled(numbers) >> np.uint64(40)
        here = self.written(np.arange(box[0].start, box[0].stop))
        return found * here.reshape([-1] + [1] * (len(box) - 1)).astype(np.uint64)


def particle_run(about: Described) -> Run:
    _require_schema(about, "tailrace-particle/1")
    dims = about.number("num_dims")
    if dims > 3:
        raise about.wrong(f"the attribute num_dims is {dims}")
    steps, ranks = about.number("timesteps"), about.number("ranks")
    pattern = about.text("file_pattern", ("contig", "interleaved", "strided"))
    per_rank = tuple(about.number(f"dim_{d + 1}") for d in range(dims))
    blocks = None
    if pattern == "strided":
        stride, size, count = map(about.number, ("stride_size", "block_size", "block_cnt"))
        blocks = (stride, size, count)
    only = about.number("file_of_rank", least=0) if about.has("file_of_rank") else None
    if only is not None and only >= ranks:
        raise about.wrong(f"it is the file of rank {only} of {ranks}")
    particles = _Particles(per_rank, ranks, blocks, only)
    _require_fits(about, math.prod(per_rank) * ranks * 32 * steps)
    arrays: list[Expected] = []
    for step in range(steps):
        if pattern == "interleaved":
            arrays.append(_all_variables(particles, step))
        else:
            arrays += [_one_variable(particles, step, number) for number in range(8)]
    by = " x ".join(str(n) for n in per_rank)
    whose = f"{ranks} ranks" if only is None else f"rank {only} of {ranks}"
    text = f"{by} particles of {whose}, {steps} steps, {pattern}"
    gaps = blocks is not None
    return Run("particle", "position", ranks, steps, text, tuple(arrays), gaps)


def _one_variable(particles: _Particles, step: int, variable: int) -> Expected:
    def values(box: Box) -> Array:
        numbers = particles.numbers(box, step, variable)
        if variable == _whole:
            return numbers.astype(np.int32)
        return numbers.astype(np.float32) * np.float32(2.0**-24)

    path = f"/Timestep_{step}/{variables[variable]}"
    return Expected(path, particles.shape, _types[variable], step, values, particles.owners)


def _all_variables(particles: _Particles, step: int) -> Expected:
    def values(box: Box) -> Array:
        columns = []
        for variable in range(box[-1].start, box[-1].stop):
            numbers = particles.numbers(box[:-1], step, variable).astype(np.float32)
            columns.append(numbers if variable == _whole else numbers * np.float32(2.0**-24))
        return np.stack(columns, axis=-1)

    path, shape = f"/Timestep_{step}/particles", (*particles.shape, 8)
    members = dict(zip(variables, _types, strict=True))
    return Expected(path, shape, Float(4), step, values, particles.owners, members)


@dataclass(frozen=True)
class _History:
    """A file of records of fields on a grid of levels, latitudes and longitudes."""

    grid: tuple[int, int, int]
    blocks: tuple[int, int]  # ranks along latitude and longitude
    fields: int  # of all collections
    before: int  # of the collections before this one
    first: int  # step of its first record

    def values(self, number: int, box: Box) -> Array:
        """Of the field of that number; box: records, levels if it has them, and the plane."""
        per_field = math.prod(self.grid)
        shape = self.grid[-(len(box) - 1) :]
        records = []
        for record in range(box[0].start, box[0].stop):
            field_ = (self.first + record) * self.fields + self.before + number
            records.append(scrambled(numbers_of(box[1:], shape, field_ * per_field)))
        return (np.stack(records) >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)

    def ranks(self, indices: Array) -> Array:
        along = []
        for size, parts, index in zip(self.grid[1:], self.blocks, indices[:, -2:].T, strict=True):
            each, longer = divmod(size, parts)
            starts = [part * each + min(part, longer) for part in range(parts)]
            along.append(np.searchsorted(starts, index, side="right") - 1)
        return along[0] * self.blocks[1] + along[1]


def history_run(about: Described) -> Run:
    _require_schema(about, "tailrace-history/1")
    km, jm, im = (about.number(name) for name in ("km", "jm", "im"))
    counts = {"flat": "fields_2d", "solid": "fields_3d", "extra": "extra_2d"}
    names = [
        f"{name}_{i + 1}" for name, key in counts.items() for i in range(about.number(key, least=0))
    ]
    first, per_day = about.number("first_step", least=0), about.number("records_per_day")
    records = min(about.number("records_per_file"), about.number("days") * per_day - first)
    if records < 1:
        raise about.wrong(f"the attribute first_step is {first}, behind the last day")
    blocks = (about.number("ranks_along_lat"), about.number("ranks_along_lon"))
    collections, collection = (
        about.number(name) if about.has(name) else 1 for name in ("collections", "collection")
    )
    if collection > collections:
        raise about.wrong(f"the attribute collection is {collection} of {collections}")
    before = len(names) * (collection - 1)
    file = _History((km, jm, im), blocks, len(names) * collections, before, first)
    _require_fits(about, km * jm * im * 4 * len(names) * records)
    arrays = [
        _coordinate("time", (first + np.arange(records)) * (1440.0 / per_day), first),
        _coordinate("lev", np.arange(km) + 1.0, first),
        _coordinate("lat", -90 + (np.arange(jm) + 0.5) * (180 / jm), first),
        _coordinate("lon", -180 + np.arange(im) * (360 / im), first),
    ]
    for number, name in enumerate(names):
        shape = (records, km, jm, im) if name.startswith("solid") else (records, jm, im)
        arrays.append(_field(file, number, f"/{name}", shape))
    ranks = math.prod(blocks)
    text = f"{im} x {jm} x {km}, {len(names)} fields, {records} records from step {first}"
    if collections > 1:
        text += f", collection {collection} of {collections}"
    return Run("history", "position", ranks, records, text, tuple(arrays))


def _coordinate(name: str, values: Array, step: int) -> Expected:
    return Expected(
        f"/{name}", values.shape, Float(8), step, lambda box: values[box[0]],
        lambda indices: np.zeros(len(indices), np.int64),
    )  # fmt: skip


def _field(file: _History, number: int, path: str, shape: Shape) -> Expected:
    return Expected(
        path, shape, Float(4), file.first, lambda box: file.values(number, box), file.ranks
    )


def _require_schema(about: Described, known: str) -> None:
    schema = about.text("schema")
    if schema != known:
        raise about.wrong(f'the attribute schema is "{schema}", known is {known}')


def _require_fits(about: Described, size: int) -> None:
    if size >= _greatest:
        raise about.wrong("its attributes are not those of a run: it would be larger than any file")


KERNELS: dict[str, Callable[[Described], Run]] = {
    "slab": slab_run, "particle": particle_run, "history": history_run,
}  # fmt: skip


def run_of(about: Described, kernel: str) -> Run:
    """Raises: exit code 2 where nothing is known of the kernel."""
    if kernel not in KERNELS:
        raise TailraceError(
            f'it is of the kernel "{kernel}"',
            where=str(about.tree.path),
            hint=f"known here: seism, {', '.join(KERNELS)}",
        )
    return KERNELS[kernel](about)
