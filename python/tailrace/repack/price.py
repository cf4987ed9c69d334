# SPDX-License-Identifier: Apache-2.0
"""What a repack costs, and what each read gains by it: estimates from a sample that is measured.

The sample goes into a temporary file where the new one will be, synced, so that the disk is in it.
The page cache is as it is: a first read from a cold disk takes longer, before and after.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import h5py

from tailrace.errors import TailraceError
from tailrace.repack.layout import Change
from tailrace.repack.memory import Memory
from tailrace.repack.sample import (
    SAMPLE_BYTES,
    DatasetPrice,
    measure,
    piece_of,
    written_bytes,
)
from tailrace.repack.scratch import own_folder
from tailrace.repack.survey import Survey
from tailrace.repack.wishes import extents_of
from tailrace.verify.model import Shape

_most_measured = 8  # datasets, the largest ones


@dataclass
class Price:
    """All of it."""

    repack_s: float = 0.0
    need_bytes: int = 0
    sampled_bytes: int = 0
    datasets: list[DatasetPrice] = field(default_factory=list)
    measuring_s: float = 0.0

    def reads_to_pay(self) -> int | None:
        """Passes over the changed datasets, piece by piece, until it has paid; None: never."""
        saved = sum(one.saved_s * one.pieces for one in self.datasets)
        return math.ceil(self.repack_s / saved) if saved > 0 else None


def price_of(
    source: h5py.File, found: Survey, changes: Sequence[Change], shapes: Mapping[str, Shape],
    memory: Memory, folder: Path,
) -> Price:  # fmt: skip
    """Measures some chunks of the largest changed datasets, and reckons from them.

    Args:
        shapes: what is read at a time, by dataset; others are read by their new chunks.
        folder: where the new file will be.
    """
    started = time.perf_counter()
    file_bytes = Path(source.filename).stat().st_size
    price = Price()
    with own_folder(folder) as scratch:
        per_byte_s = _raw_copy_s(Path(source.filename), scratch / "raw")
        for change in sorted(changes, key=lambda one: -one.dataset.bytes):
            one = DatasetPrice(change.dataset.path, written_bytes(source, change.dataset))
            measured = sum(other.sampled_bytes > 0 for other in price.datasets)
            if not change.dataset.type.variable and one.bytes and measured < _most_measured:
                piece = shapes.get(change.dataset.path) or piece_of(change)
                measure(source, change, one, memory, scratch / "sample.h5", piece)
            price.datasets.append(one)
    _fill_unmeasured(price.datasets, changes, per_byte_s)
    changed = sum(change.dataset.stored_bytes for change in changes)
    rest = max(0, file_bytes - changed)
    rest_elements = sum(one.bytes for one in found.datasets) - sum(
        change.dataset.bytes for change in changes
    )
    read_s = _mean_read(price.datasets) or per_byte_s
    price.repack_s = rest * per_byte_s + 2 * max(0, rest_elements) * read_s
    for one in price.datasets:
        price.repack_s += 2 * one.read_now_s + one.write_s + one.read_after_s
    after = rest + sum(one.stored_after for one in price.datasets)
    price.need_bytes = after + after // 20 + (1 << 20)
    price.sampled_bytes = sum(one.sampled_bytes for one in price.datasets)
    price.measuring_s = time.perf_counter() - started
    return price


def _raw_copy_s(path: Path, part: Path) -> float:
    """Seconds to copy a byte of the file as it is, synced."""
    started = time.perf_counter()
    with path.open("rb") as stream, part.open("wb") as new:
        count = new.write(stream.read(SAMPLE_BYTES))
        new.flush()
        os.fsync(new.fileno())
    part.unlink()
    return (time.perf_counter() - started) / max(1, count)


def _fill_unmeasured(
    prices: list[DatasetPrice], changes: Sequence[Change], per_byte_s: float
) -> None:
    """Those without a sample take as long per byte as the others together."""
    known = [one for one in prices if one.sampled_bytes]
    total = sum(one.bytes for one in known)

    def mean(value: Callable[[DatasetPrice], float], otherwise: float) -> float:
        return sum(value(one) for one in known) / total if total else otherwise

    stored = {change.dataset.path: change.dataset.stored_bytes for change in changes}
    for one in prices:
        if one.sampled_bytes:
            continue
        one.read_now_s = one.bytes * mean(lambda x: x.read_now_s, per_byte_s)
        one.write_s = one.bytes * mean(lambda x: x.write_s, per_byte_s)
        one.read_after_s = one.bytes * mean(lambda x: x.read_after_s, per_byte_s)
        one.stored_after = max(one.bytes, stored[one.path])


def _mean_read(prices: list[DatasetPrice]) -> float:
    total = sum(one.bytes for one in prices)
    return sum(one.read_after_s for one in prices) / total if total else 0.0


def read_shapes(texts: Sequence[str], changes: Sequence[Change]) -> dict[str, Shape]:
    """Of `DATASET=AxB`."""
    known = {path: change.dataset for change in changes for path in change.dataset.paths}
    found: dict[str, Shape] = {}
    for text in texts:
        path, extents = extents_of(text, "--read")
        dataset = known.get(path)
        if dataset is None:
            raise TailraceError(
                f"{path} does not change, so its reads stay as they are", where="--read",
                hint=f"those that change: {', '.join(sorted(known))}",
            )  # fmt: skip
        if dataset.shape is None or len(extents) != len(dataset.shape):
            raise TailraceError(f'"{text}" has not the dimensions of {path}', where="--read")
        found[dataset.path] = extents
    return found
