# SPDX-License-Identifier: Apache-2.0
"""A file's POSIX, STDIO, MPI-IO, PnetCDF, HDF5 and Lustre records as the layers of a profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tailrace.intent.darshan_log import Json, Record
from tailrace.intent.darshan_numbers import (
    extremes,
    joined_span,
    largest,
    most_frequent,
    sizes,
    total,
    total_time,
    without_nothing,
)


def posix(records: Sequence[Record]) -> Json:
    """`posix` of a file."""
    syncs = [total(records, "POSIX_FSYNCS"), total(records, "POSIX_FDSYNCS")]
    renames = [total(records, f"POSIX_RENAME_{side}S") for side in ("SOURCE", "TARGET")]
    frequent = most_frequent(records, "POSIX_ACCESS", "ACCESS")
    reads, writes = (_posix_transfers(records, word) for word in ("READ", "WRITE"))
    only = _only(reads, writes, total(records, "POSIX_READS"), total(records, "POSIX_WRITES"))
    if only is not None:
        only["frequent"] = frequent
    return without_nothing(
        {
            "opens": total(records, "POSIX_OPENS"),
            "create_mode": _create_mode_of_posix(records),
            "seeks": total(records, "POSIX_SEEKS"),
            "stats": total(records, "POSIX_STATS"),
            "syncs": _sum(syncs),
            "maps": total(records, "POSIX_MMAPS"),
            "renames": _sum(renames),
            "read_write_switches": total(records, "POSIX_RW_SWITCHES"),
            "not_aligned_in_file": total(records, "POSIX_FILE_NOT_ALIGNED"),
            "not_aligned_in_memory": total(records, "POSIX_MEM_NOT_ALIGNED"),
            "file_alignment_bytes": _positive(largest(records, "POSIX_FILE_ALIGNMENT")),
            "memory_alignment_bytes": _positive(largest(records, "POSIX_MEM_ALIGNMENT")),
            "reads": reads,
            "writes": writes,
            "frequent": frequent if only is None else None,
            "strides": most_frequent(records, "POSIX_STRIDE", "STRIDE"),
            "open": joined_span(records, "POSIX_F_OPEN"),
            "close": joined_span(records, "POSIX_F_CLOSE"),
            "metadata_s": total_time(records, "POSIX_F_META_TIME"),
            **extremes(records, "POSIX"),
        }
    )


def _posix_transfers(records: Sequence[Record], word: str) -> Json | None:
    moved = "BYTES_READ" if word == "READ" else "BYTES_WRITTEN"
    highest = "MAX_BYTE_READ" if word == "READ" else "MAX_BYTE_WRITTEN"
    calls = total(records, f"POSIX_{word}S")
    if calls is None:
        return None
    return without_nothing(
        {
            "calls": calls,
            "bytes": total(records, f"POSIX_{moved}"),
            "consecutive": total(records, f"POSIX_CONSEC_{word}S"),
            "sequential": total(records, f"POSIX_SEQ_{word}S"),
            "highest_byte": largest(records, f"POSIX_{highest}") if calls else None,
            "sizes": sizes(records, f"POSIX_SIZE_{word}"),
            "elapsed_s": total_time(records, f"POSIX_F_{word}_TIME"),
            "active": joined_span(records, f"POSIX_F_{word}"),
        }
    )


def stdio(records: Sequence[Record]) -> Json:
    """`stdio` of a file."""
    return without_nothing(
        {
            "opens": total(records, "STDIO_OPENS"),
            "seeks": total(records, "STDIO_SEEKS"),
            "reads": _stdio_transfers(records, "READ"),
            "writes": _stdio_transfers(records, "WRITE"),
            "open": joined_span(records, "STDIO_F_OPEN"),
            "close": joined_span(records, "STDIO_F_CLOSE"),
            "metadata_s": total_time(records, "STDIO_F_META_TIME"),
            **extremes(records, "STDIO"),
        }
    )


def _stdio_transfers(records: Sequence[Record], word: str) -> Json | None:
    past = "READ" if word == "READ" else "WRITTEN"
    calls = total(records, f"STDIO_{word}S")
    if calls is None:
        return None
    return without_nothing(
        {
            "calls": calls,
            "bytes": total(records, f"STDIO_BYTES_{past}"),
            "highest_byte": largest(records, f"STDIO_MAX_BYTE_{past}") if calls else None,
            "elapsed_s": total_time(records, f"STDIO_F_{word}_TIME"),
            "active": joined_span(records, f"STDIO_F_{word}"),
        }
    )


def mpiio(records: Sequence[Record], ranks: int) -> Json:
    """`mpiio` of a file."""
    frequent = most_frequent(records, "MPIIO_ACCESS", "ACCESS")
    reads, writes = (_mpiio_transfers(records, word) for word in ("READ", "WRITE"))
    only = _only(reads, writes, _mpiio_calls(reads), _mpiio_calls(writes))
    if only is not None:
        only["frequent"] = frequent
    return without_nothing(
        {
            "collective_opens": total(records, "MPIIO_COLL_OPENS"),
            "independent_opens": total(records, "MPIIO_INDEP_OPENS"),
            "create_mode": _create_mode_of_mpiio(records),
            "views": total(records, "MPIIO_VIEWS"),
            "syncs": total(records, "MPIIO_SYNCS"),
            "communicator_size": _communicator(records, ranks),
            "reads": reads,
            "writes": writes,
            "frequent": frequent if only is None else None,
            "open": joined_span(records, "MPIIO_F_OPEN"),
            "close": joined_span(records, "MPIIO_F_CLOSE"),
            "metadata_s": total_time(records, "MPIIO_F_META_TIME"),
            "read_write_switches": total(records, "MPIIO_RW_SWITCHES"),
        }
    )


def _mpiio_transfers(records: Sequence[Record], word: str) -> Json | None:
    moved = "BYTES_READ" if word == "READ" else "BYTES_WRITTEN"
    independent = total(records, f"MPIIO_INDEP_{word}S")
    if independent is None:
        return None
    return without_nothing(
        {
            "independent": independent,
            "collective": total(records, f"MPIIO_COLL_{word}S"),
            "nonblocking": total(records, f"MPIIO_NB_{word}S"),
            "split": total(records, f"MPIIO_SPLIT_{word}S"),
            "bytes": total(records, f"MPIIO_{moved}"),
            "sizes": sizes(records, f"MPIIO_SIZE_{word}_AGG"),
            "elapsed_s": total_time(records, f"MPIIO_F_{word}_TIME"),
            "active": joined_span(records, f"MPIIO_F_{word}"),
        }
    )


# MPI_MODE_CREATE, and the three of which an open gives one, as MPICH and Open MPI number them.
_MPI_CREATE, _MPI_ACCESS = 1, (2, 4, 8)


def _create_mode_of_mpiio(records: Sequence[Record]) -> bool | None:
    """Of the last open of each rank: no earlier one is told of."""
    modes = [mode for record in records if (mode := record.count("MPIIO_MODE"))]
    known = [mode for mode in modes if sum(bool(mode & bit) for bit in _MPI_ACCESS) == 1]
    return any(mode & _MPI_CREATE for mode in known) if known and known == modes else None


def _create_mode_of_posix(records: Sequence[Record]) -> bool | None:
    """The permissions of a new file, which only an open with O_CREAT gives and none takes away."""
    modes = [mode for record in records if (mode := record.count("POSIX_MODE")) is not None]
    return any(modes) if modes else None


def _mpiio_calls(transfers: Json | None) -> int:
    kinds = ("independent", "collective", "nonblocking", "split")
    return sum((transfers or {}).get(kind, 0) for kind in kinds)


def _communicator(records: Sequence[Record], ranks: int) -> int | None:
    """Of a file that all ranks opened collectively; else Darshan does not tell."""
    shared = any(record.rank == -1 and (record.count("MPIIO_COLL_OPENS") or 0) > 0
                 for record in records)  # fmt: skip
    return ranks if shared else None


def hdf5_file(records: Sequence[Record]) -> Json:
    """`hdf5` of a file, of what the module H5F knows."""
    mpio = [record.counters["H5F_USE_MPIIO"] > 0 for record in records
            if "H5F_USE_MPIIO" in record.counters]  # fmt: skip
    return without_nothing(
        {
            "opens": total(records, "H5F_OPENS"),
            "flushes": total(records, "H5F_FLUSHES"),
            "mpio": any(mpio) if mpio else None,
            "driver": "mpio" if any(mpio) else None,
            "open": joined_span(records, "H5F_F_OPEN"),
            "close": joined_span(records, "H5F_F_CLOSE"),
            "metadata_s": total_time(records, "H5F_F_META_TIME"),
        }
    )


def pnetcdf_file(records: Sequence[Record]) -> Json:
    """`pnetcdf` of a file."""
    return without_nothing(
        {
            "creates": total(records, "PNETCDF_FILE_CREATES"),
            "opens": total(records, "PNETCDF_FILE_OPENS"),
            "redefinitions": total(records, "PNETCDF_FILE_REDEFS"),
            "independent_waits": total(records, "PNETCDF_FILE_INDEP_WAITS"),
            "collective_waits": total(records, "PNETCDF_FILE_COLL_WAITS"),
            "syncs": total(records, "PNETCDF_FILE_SYNCS"),
            "bytes_read": total(records, "PNETCDF_FILE_BYTES_READ"),
            "bytes_written": total(records, "PNETCDF_FILE_BYTES_WRITTEN"),
            "open": joined_span(records, "PNETCDF_FILE_F_OPEN"),
            "close": joined_span(records, "PNETCDF_FILE_F_CLOSE"),
        }
    )


def lustre(raw: Sequence[Json]) -> Json | None:
    """`lustre` of a file: of the first component, with the targets of all."""
    for record in raw:
        for component in record.get("components", []):
            counters = component["counters"]
            width = int(counters.get("LUSTRE_COMP_STRIPE_SIZE", 0))
            count = int(counters.get("LUSTRE_COMP_STRIPE_COUNT", 0))
            if width > 0 and count > 0:
                osts = sorted({int(ost) for ost in component["ost_ids"] if int(ost) >= 0})
                return {"stripe_count": count, "stripe_bytes": width, "osts": osts}
    return None


def _only(
    reads: Json | None, writes: Json | None, read_calls: int | None, write_calls: int | None
) -> Json | None:
    """Darshan counts the most frequent sizes of both together: the one there is, if only one."""
    if read_calls and not write_calls:
        return reads
    return writes if write_calls and not read_calls else None


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _positive(value: int | None) -> int | None:
    return value or None


LAYERS: dict[str, tuple[str, Callable[[Sequence[Record], int], Json]]] = {
    "POSIX": ("posix", lambda records, ranks: posix(records)),
    "MPI-IO": ("mpiio", mpiio),
    "STDIO": ("stdio", lambda records, ranks: stdio(records)),
    "H5F": ("hdf5", lambda records, ranks: hdf5_file(records)),
    "PNETCDF_FILE": ("pnetcdf", lambda records, ranks: pnetcdf_file(records)),
}
