# SPDX-License-Identifier: Apache-2.0
"""The log that Darshan would have left of a run that our hooks recorded: the same calls, counted as
its counters are defined, and nothing that they do not hold. Records are those of all ranks joined.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from made_logs import SHARED, made_log, record

from tailrace.intent.darshan_numbers import SIZE_CLASSES

Json = dict[str, Any]
Values = dict[str, float]
MODE_CREATE, MODE_READ_WRITE, MODE_READ_ONLY = 1, 8, 2
DIMS = 5


def log_of(profile: Json, path: Path) -> Path:
    """Writes the log of a profile to `path`."""
    names: dict[int, str] = {}
    records: dict[str, list[bytes]] = {}
    ranks = int(profile["run"].get("ranks") or 1)

    def add(module: str, identity: int, processes: str, values: Values, file: int = 0) -> None:
        alone = processes.isdigit() and ranks > 1
        rank = int(processes) if alone else SHARED
        made = record(module, identity, rank, values, file if module == "H5D" else None)
        records.setdefault(module, []).append(made)

    for number, file in enumerate(profile["files"]):
        identity = (number + 1) << 32
        names[identity] = file["path"]
        processes = file["processes"]
        if "posix" in file:
            add("POSIX", identity, processes, _posix(file))
        if "mpiio" in file:
            add("MPI-IO", identity, processes, _mpiio(file))
        if "hdf5" in file:
            hdf5 = file["hdf5"]
            values = {"OPENS": hdf5["opens"], "FLUSHES": hdf5.get("flushes", 0),
                      "USE_MPIIO": int(hdf5.get("mpio", False)), **_span("OPEN", hdf5, "open"),
                      **_span("CLOSE", hdf5, "close")}  # fmt: skip
            add("H5F", identity, processes, values)
        for place, dataset in enumerate(file.get("datasets", [])):
            if dataset["interface"] == "hdf5":
                names[identity + place + 1] = f"{file['path']}:{dataset['path']}"
                add("H5D", identity + place + 1, dataset["processes"], _h5d(dataset), identity)
    (system,) = {one["type"] for one in profile["run"]["file_systems"]}
    return made_log(path, names, records, ranks=ranks, file_system=system)


def log_of_file(profile: Path, path: Path) -> Path:
    """The same of a profile that was written."""
    return log_of(json.loads(profile.read_text()), path)


def _span(stem: str, holder: Json, key: str) -> Values:
    span = holder.get(key)
    if not span:
        return {}
    return {f"F_{stem}_START_TIMESTAMP": max(span["start_s"], 1e-6),
            f"F_{stem}_END_TIMESTAMP": span["end_s"]}  # fmt: skip


def _created(file: Json) -> bool:
    return bool(file.get("hdf5", {}).get("creates"))


def _sizes(stem: str, classes: Iterable[Json]) -> Values:
    """By Darshan's classes, whose names begin with their first size or one less."""
    found: Values = {}
    for one in classes:
        (name,) = [name for name, first, _ in SIZE_CLASSES if first == one["from_bytes"]]
        found[f"{stem}_{name}"] = one["calls"]
    return found


def _side(word: str, side: Json | None) -> Values:
    if not side:
        return {}
    past = "READ" if word == "READ" else "WRITTEN"
    return {
        f"BYTES_{past}": side.get("bytes", 0),
        f"F_{word}_TIME": side.get("elapsed_s", 0),
        **_span(word, side, "active"),
    }


def _posix(file: Json) -> Values:
    layer = file["posix"]
    found: Values = {
        "OPENS": layer["opens"], "SEEKS": layer.get("seeks", 0), "FSYNCS": layer.get("syncs", 0),
        "MODE": 0o644 if _created(file) else 0, "RW_SWITCHES": layer.get("read_write_switches", 0),
        "FILE_NOT_ALIGNED": layer.get("not_aligned_in_file", 0),
        "FILE_ALIGNMENT": layer.get("file_alignment_bytes", 0),
        "MEM_ALIGNMENT": layer.get("memory_alignment_bytes", 0),
        "F_META_TIME": layer.get("metadata_s", 0), **_span("OPEN", layer, "open"),
        **_span("CLOSE", layer, "close"),
    }  # fmt: skip
    for word, key in (("READ", "reads"), ("WRITE", "writes")):
        side = layer.get(key)
        found |= _side(word, side)
        if side:
            past = "READ" if word == "READ" else "WRITTEN"
            found |= {f"{word}S": side["calls"], f"CONSEC_{word}S": side.get("consecutive", 0),
                      f"SEQ_{word}S": side.get("sequential", 0),
                      f"MAX_BYTE_{past}": side.get("highest_byte", 0),
                      **_sizes(f"SIZE_{word}", side.get("sizes", []))}  # fmt: skip
    return found


def _mpiio(file: Json) -> Values:
    layer = file["mpiio"]
    mode = MODE_READ_WRITE if layer.get("writes") else MODE_READ_ONLY
    found: Values = {
        "COLL_OPENS": layer.get("collective_opens", 0), "VIEWS": layer.get("views", 0),
        "INDEP_OPENS": layer.get("independent_opens", 0), "SYNCS": layer.get("syncs", 0),
        "MODE": mode | (MODE_CREATE if _created(file) else 0), **_span("OPEN", layer, "open"),
        **_span("CLOSE", layer, "close"),
    }  # fmt: skip
    for word, key in (("READ", "reads"), ("WRITE", "writes")):
        side = layer.get(key)
        found |= _side(word, side)
        if side:
            found |= {f"COLL_{word}S": side.get("collective", 0),
                      f"INDEP_{word}S": side.get("independent", 0),
                      f"NB_{word}S": side.get("nonblocking", 0),
                      f"SPLIT_{word}S": side.get("split", 0),
                      **_sizes(f"SIZE_{word}_AGG", side.get("sizes", []))}  # fmt: skip
    return found


def _h5d(dataset: Json) -> Values:
    """Lengths from D5, the slowest dimension, down; chunks from D1, the fastest, up."""
    found: Values = {
        "OPENS": dataset["opens"], "FLUSHES": dataset.get("flushes", 0),
        "DATASPACE_NDIMS": dataset["ndims"], "DATASPACE_NPOINTS": dataset["elements"],
        "DATATYPE_SIZE": dataset["type"]["bytes"], **_span("OPEN", dataset, "open"),
        **_span("CLOSE", dataset, "close"),
    }  # fmt: skip
    for place, extent in enumerate(reversed(dataset.get("chunk") or [])):
        found[f"CHUNK_SIZE_D{place + 1}"] = extent
    shapes: list[Json] = []
    for word, key in (("READ", "reads"), ("WRITE", "writes")):
        side = dataset.get(key)
        found |= _side(word, side)
        if side:
            found[f"{word}S"] = side["calls"]
            shapes += side.get("shapes", [])
            if side.get("requested_collective"):
                found["USE_MPIIO_COLLECTIVE"] = 1
    for place, shape in enumerate(sorted(shapes, key=lambda one: -one["calls"])[:4], 1):
        stem = f"ACCESS{place}"
        found |= {f"{stem}_ACCESS": shape["call_bytes"], f"{stem}_COUNT": shape["calls"]}
        for d, length in enumerate(shape.get("length", [])):
            found[f"{stem}_LENGTH_D{DIMS - d}"] = length
            found[f"{stem}_STRIDE_D{DIMS - d}"] = shape["stride"][d]
    return found
