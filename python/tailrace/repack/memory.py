# SPDX-License-Identifier: Apache-2.0
"""How much memory a repack may take, and what for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tailrace.errors import TailraceError
from tailrace.repack.survey import Dataset, Storage
from tailrace.units import mib

PROGRAM_BYTES = 96 << 20  # Python, numpy and HDF5 themselves
LEAST_BYTES = 128 << 20
DEFAULT_BYTES = 256 << 20
LEAST_DATA_BYTES = LEAST_BYTES - PROGRAM_BYTES

# Measured with 5,000 and 20,000 small datasets of one attribute: 80 and 160 MiB in all.
_no_matter = 100  # objects within what the program itself takes
_object_bytes = 6 << 10  # in the lists of both files that are compared
_metadata_bytes = 10 << 10  # in HDF5's caches of metadata ...
_most_metadata_bytes = 50 << 20  # ... which end there


@dataclass(frozen=True)
class Memory:
    """`limit_bytes` for the whole process; the parts are what elements and chunks may have, beside
    the `objects` (groups, datasets, committed types) of the file."""

    limit_bytes: int = DEFAULT_BYTES
    objects: int = 0

    def __post_init__(self) -> None:
        if self.limit_bytes < LEAST_BYTES:
            raise TailraceError(
                f"{mib(self.limit_bytes)} of memory are too little", where="--memory",
                hint=f"at least {mib(LEAST_BYTES)}, the program itself included",
            )  # fmt: skip

    @property
    def objects_bytes(self) -> int:
        """What is kept of the objects themselves, about."""
        counted = max(self.objects - _no_matter, 0)
        return counted * _object_bytes + min(counted * _metadata_bytes, _most_metadata_bytes)

    @property
    def data_bytes(self) -> int:
        room = self.limit_bytes - PROGRAM_BYTES - self.objects_bytes
        return max(room, LEAST_DATA_BYTES)

    def overrun(self) -> str:
        """What to say where the objects alone leave too little; '' where they do not."""
        need = PROGRAM_BYTES + self.objects_bytes + LEAST_DATA_BYTES
        if not self.objects or need <= self.limit_bytes:
            return ""
        return (
            f"its {self.objects:,} objects take about {mib(self.objects_bytes)}: the process may "
            f"take {mib(need)} in all, more than --memory {mib(self.limit_bytes)}"
        )

    @property
    def tile_bytes(self) -> int:
        """What is read and written at a time."""
        return self.data_bytes // 4

    @property
    def cache_bytes(self) -> int:
        """Unpacked chunks of one dataset."""
        return self.data_bytes // 4

    @property
    def largest_chunk_bytes(self) -> int:
        """One that is made: it is in a tile, in the cache and in a filter's buffers."""
        return self.data_bytes // 5

    @property
    def largest_source_chunk_bytes(self) -> int:
        """One that is there: packed and unpacked at once."""
        return self.data_bytes // 3

    def check_source(self, dataset: Dataset) -> None:
        """Raises where a chunk of it could not be unpacked."""
        storage = dataset.storage
        size = chunk_bytes(storage, dataset.item_bytes)
        if size > self.largest_source_chunk_bytes:
            need = 3 * size + PROGRAM_BYTES + self.objects_bytes
            raise TailraceError(
                f"{dataset.path}: one of its chunks has {mib(size)}, which do not fit the limit of "
                f"{mib(self.limit_bytes)} of memory",
                where="--memory", hint=f"--memory {-(-need >> 20)}M is enough",
            )  # fmt: skip


def chunk_bytes(storage: Storage, item_bytes: int) -> int:
    """Of one chunk before compression; 0: no chunks."""
    return math.prod(storage.chunk) * item_bytes if storage.chunk else 0
