# SPDX-License-Identifier: Apache-2.0
"""Darshan's H5D and PNETCDF_VAR records as the datasets of a profile.

What has to be known of these records: LENGTH and STRIDE count dimensions from D5 (the slowest)
down, CHUNK_SIZE from D1 (the fastest) up; a transfer of the whole dataset leaves LENGTH 0; a name
is the one of the group followed by that of the dataset, with no slash between them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from tailrace.intent.darshan_log import Json, Record
from tailrace.intent.darshan_names import joined_names, path_of
from tailrace.intent.darshan_numbers import (
    extremes,
    joined_span,
    largest,
    process_text,
    processes_of,
    ranked,
    sizes,
    total,
    total_time,
    without_nothing,
)

DIMS = 5  # as many as a record tells of


def datasets_by_file(
    records: Iterable[Record], names: dict[int, str], files: dict[int, str], prefix: str, ranks: int
) -> tuple[dict[str, list[Json]], int]:
    """The datasets of each file, and how many records had no name.

    Args:
        records: of H5D or PNETCDF_VAR.
        names: of all records.
        files: path of a file record.
        prefix: "H5D" or "PNETCDF_VAR".
        ranks: of the run.
    """
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    nameless = 0
    for record in records:
        place = path_of(names.get(record.id), files.get(record.extra["file_rec_id"]))
        if place is None:
            nameless += 1
        else:
            groups[place].append(record)
    by_file: dict[str, dict[str, list[Record]]] = defaultdict(dict)
    for (file, name), found in groups.items():
        by_file[file][name] = found
    result = {}
    for file, named in by_file.items():
        traits = {name: _traits(found, prefix) for name, found in named.items()}
        result[file] = [
            _dataset(names_of_one[0], names_of_one[1:],
                     [record for name in names_of_one for record in named[name]], prefix, ranks)
            for names_of_one in joined_names(traits)
        ]  # fmt: skip
        result[file].sort(key=lambda dataset: dataset["path"])
    return result, nameless


def _shape_names(prefix: str) -> tuple[str, str, str]:
    stem = "DATASPACE_" if prefix == "H5D" else ""
    return f"{prefix}_{stem}NDIMS", f"{prefix}_{stem}NPOINTS", f"{prefix}_DATATYPE_SIZE"


def _traits(records: Sequence[Record], prefix: str) -> tuple[int | None, ...]:
    """What two records of one dataset have in common."""
    return tuple(largest(records, name) for name in _shape_names(prefix)[::2])


def _dataset(
    path: str, other_names: Sequence[str], records: Sequence[Record], prefix: str, ranks: int
) -> Json:
    ndims, elements, type_bytes = (largest(records, name) or None for name in _shape_names(prefix))
    reads, writes = (_transfers(records, prefix, word, type_bytes) for word in ("READ", "WRITE"))
    shapes = _shapes(records, prefix, ndims, elements, type_bytes)
    only = reads if reads and not writes else writes if writes and not reads else None
    if only is not None:
        only["shapes"] = shapes
        whole = sum(shape["calls"] for shape in shapes if shape["selection"] == "all")
        if whole:
            only["whole"] = whole
    collective = largest(records, f"{prefix}_USE_MPIIO_COLLECTIVE")
    if collective == 0:
        for transfers in (reads, writes):
            if transfers:
                transfers["requested_collective"] = 0
                transfers["requested_independent"] = transfers["calls"]
    return without_nothing(
        {
            "path": path,
            "names": list(other_names),
            "interface": "hdf5" if prefix == "H5D" else "pnetcdf",
            "processes": process_text(processes_of(records, ranks)),
            "type": {"class": "", "bytes": type_bytes} if type_bytes else None,
            "ndims": ndims,
            "elements": elements,
            "dims": [elements] if ndims == 1 else None,
            "chunk": _chunk(records, prefix, ndims),
            "layout": _layout(records, prefix, ndims, writes),
            "opens": total(records, f"{prefix}_OPENS"),
            "flushes": total(records, f"{prefix}_FLUSHES"),
            "open": joined_span(records, f"{prefix}_F_OPEN"),
            "close": joined_span(records, f"{prefix}_F_CLOSE"),
            "reads": reads,
            "writes": writes,
            "shapes": shapes if only is None else None,
            "selections": _selections(records, prefix),
            "requested_collective": None if collective is None else collective > 0,
            **extremes(records, prefix),
        }
    )


def _transfers(
    records: Sequence[Record], prefix: str, word: str, type_bytes: int | None
) -> Json | None:
    """All reads, or all writes; None where there was none."""
    calls, requests = _calls(records, prefix, word)
    if not calls:
        return None
    moved = total(records, f"{prefix}_{'BYTES_READ' if word == 'READ' else 'BYTES_WRITTEN'}")
    return without_nothing(
        {
            "calls": calls,
            "bytes": moved,
            "elements": moved // type_bytes if moved is not None and type_bytes else None,
            "sizes": sizes(records, f"{prefix}_SIZE_{word}_AGG"),
            **requests,
            "elapsed_s": total_time(records, f"{prefix}_F_{word}_TIME"),
            "active": joined_span(records, f"{prefix}_F_{word}"),
        }
    )


def _calls(records: Sequence[Record], prefix: str, word: str) -> tuple[int, Json]:
    """Calls, and of PnetCDF how many of them were collective."""
    if prefix == "H5D":
        return total(records, f"H5D_{word}S") or 0, {}
    independent, collective, nonblocking = (
        total(records, f"{prefix}_{kind}_{word}S") or 0 for kind in ("INDEP", "COLL", "NB")
    )
    requests = {"requested_collective": collective, "requested_independent": independent}
    return independent + collective + nonblocking, requests


def _shapes(
    records: Sequence[Record],
    prefix: str,
    ndims: int | None,
    elements: int | None,
    type_bytes: int | None,
) -> list[Json]:
    """The most frequent shapes, of reads and writes together."""
    calls: Counter[tuple[int, tuple[int, ...], tuple[int, ...]]] = Counter()
    for record in records:
        for place in range(1, 5):
            stem = f"{prefix}_ACCESS{place}"
            times = record.count(f"{stem}_COUNT")
            if times:
                lengths, strides = (_per_dimension(record, f"{stem}_{word}_D", ndims)
                                    for word in ("LENGTH", "STRIDE"))  # fmt: skip
                calls[record.counters[f"{stem}_ACCESS"], lengths, strides] += times
    whole_bytes = elements * type_bytes if elements and type_bytes else None
    shapes = []
    for (size, lengths, strides), times in ranked(calls):
        known = any(lengths) and (
            not type_bytes or math.prod(lengths) * type_bytes == size or not size
        )
        partly = "hyperslab" if known else "not known"
        selection = "all" if size == whole_bytes else partly
        shapes.append(
            without_nothing(
                {
                    "selection": selection,
                    "length": list(lengths) if known else None,
                    "stride": list(strides) if known else None,
                    "calls": times,
                    "call_bytes": size,
                }
            )
        )
    return shapes


def _per_dimension(record: Record, stem: str, ndims: int | None) -> tuple[int, ...]:
    """Of dimension k, slowest first: <stem>(5 - k). More than 5 dimensions are not kept."""
    if not ndims or ndims > DIMS:
        return ()
    return tuple(max(record.counters.get(f"{stem}{DIMS - k}", 0), 0) for k in range(ndims))


def _chunk(records: Sequence[Record], prefix: str, ndims: int | None) -> list[int] | None:
    """Of dimension k of n, slowest first: CHUNK_SIZE_D(n - k)."""
    if not ndims or ndims > DIMS:
        return None
    found = [largest(records, f"{prefix}_CHUNK_SIZE_D{ndims - k}") or 0 for k in range(ndims)]
    return found if all(found) else None


def _layout(
    records: Sequence[Record], prefix: str, ndims: int | None, writes: Json | None
) -> str | None:
    """H5D has chunks where there are any. What is written without them is contiguous, or so small
    that it may be compact; what is only read may be virtual."""
    if prefix != "H5D" or not ndims or ndims > DIMS:
        return None
    if _chunk(records, prefix, ndims):
        return "chunked"
    return "contiguous" if writes and writes.get("bytes") else None


def _selections(records: Sequence[Record], prefix: str) -> Json | None:
    """Transfers by kind of selection; Darshan counts whole datasets as regular hyperslabs."""
    if prefix != "H5D":
        return None
    names = {"hyperslab": "REGULAR_HYPERSLAB", "irregular": "IRREGULAR_HYPERSLAB",
             "points": "POINT"}  # fmt: skip
    found = {kind: total(records, f"H5D_{name}_SELECTS") for kind, name in names.items()}
    return {kind: calls for kind, calls in found.items() if calls} or None
