# SPDX-License-Identifier: Apache-2.0
"""What of a Record's JSON is decoded when many are read; all else is skipped over unparsed.

The fields are those of schemas/record-1.schema.json. Maps that are the same in thousands of Records
stay text (Raw) and are parsed once.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct, field


class RawError(Struct, gc=False):
    code: str
    message: str


class RawArm(Struct, gc=False):
    comparison: str
    name: str
    round: int
    without: tuple[str, ...] = ()
    default: bool = False


class RawContext(Struct, gc=False):
    host: str
    os_kernel: str
    cores: int
    load_1m: float
    memory_bytes: int
    memory_available_bytes: int
    page_cache_bytes: int
    dirty_bytes: int
    file_system: str
    mount_point: str
    mount_options: str
    file_system_source: str
    file_system_free_bytes: int
    file_system_total_bytes: int
    striping: Raw
    mpi_library: str
    mpi_io: str
    hdf5_version: str
    compiler: str
    tailrace_version: str
    commit: str
    ranks: int
    nodes: int
    ranks_per_node: int
    environment: Raw


class RawBytes(Struct, gc=False):
    logical: int | None
    stored: int | None
    allocated: int | None


class RawElapsed(Struct, gc=False):
    durable_s: float | None
    write_s: float | None
    aggregate_s: float | None


class RawRates(Struct, gc=False):
    durable_bytes_per_s: float | None
    write_bytes_per_s: float | None
    aggregate_bytes_per_s: float | None


class RawPhase(Struct, gc=False):
    min_s: float
    mean_s: float
    max_s: float
    path_s: float | None = None


class RawStep(Struct, gc=False):
    steps: int = 1


class RawTransfers(Struct, gc=False):
    collective_actual: bool | None


class RawMpiIo(Struct, gc=False):
    hints_requested: Raw


class RawWriter(Struct, gc=False):
    calls: int
    bytes_done: int
    smallest_bytes: int
    largest_bytes: int


class RawWriters(Struct, gc=False):
    measured: bool
    ranks_that_wrote: int | None
    per_rank: list[RawWriter] = field(name="list")


class RawMemory(Struct, gc=False):
    peak_above_init_bytes_max: int | None


class RawVerification(Struct, gc=False):
    status: str


class RawReadBack(Struct, gc=False):
    rate_bytes_per_s: float | None


class RawLimitArm(Struct, gc=False):
    rate_bytes_per_s: float | None


class RawLimit(Struct, gc=False):
    arms: dict[str, RawLimitArm]


class RawStall(Struct, gc=False):
    max: float


class RawServing(Struct, gc=False):
    stall_s: RawStall


class RawRecord(Struct, gc=False):
    schema: str
    kernel: str
    run_id: str
    repetition: int
    warm_up: bool
    status: str
    error: RawError | None
    started: str
    context: RawContext
    configuration: Raw
    bytes: RawBytes
    phases: dict[str, RawPhase]
    steps: list[RawStep]
    elapsed: RawElapsed
    rates: RawRates
    transfers: RawTransfers
    mpi_io: RawMpiIo
    writers: RawWriters
    memory: RawMemory
    verification: RawVerification
    read_back: RawReadBack | None
    arm: RawArm | None = None
    limit: RawLimit | None = None
    serving: RawServing | None = None


decode = msgspec.json.Decoder(RawRecord).decode


def parsed(line: bytes) -> Any:
    """The value of a line; None where it is not JSON."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
