# SPDX-License-Identifier: Apache-2.0
"""Which files a run was seen to read, and which beyond the working folder it has changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from tailrace.sandbox import snapshot

Document = Mapping[str, Any]

_everything = Path("/")
_layers = ("hdf5", "pnetcdf", "mpiio", "posix", "stdio")
_opens = ("opens", "creates", "collective_opens", "independent_opens")  # each layer has its own
_tick_ns = 50_000_000  # times of change are coarse: a file may be dated before what changed it


def outside(
    profile: Document, places: Collection[Path], began_ns: int, by_run: Callable[[Path], bool]
) -> list[str]:
    """Of a profile whose layers all stand there still: what was opened for writing or written, what
    bears a later date than the run, and what was read and is gone.

    by_run: whether it can have been the run that changed a file there, where only that shows.
    """
    return [
        file["path"]
        for file in profile.get("files", [])
        if not any(Path(file["path"]).is_relative_to(place) for place in places)
        and (_is_left(file) or (by_run(Path(file["path"])) and _is_changed(file, began_ns)))
    ]


def later_than(
    folder: Path, skip: Collection[Path], began_ns: int, besides: Collection[Path]
) -> list[str]:
    """Files there, by their paths below it, that were written since a time, by whomever; the whole
    system is not looked at. skip: folders that are left out."""
    found = snapshot.take(folder, skip) if folder != _everything else {}
    return sorted(
        name
        for name, state in found.items()
        if state.modified_ns > began_ns - _tick_ns and folder / name not in besides
    )


def _is_left(file: Document) -> bool:
    """It was seen to be written, and is there."""
    return _was_written(file) and Path(file["path"]).is_file()


def _is_changed(file: Document, began_ns: int) -> bool:
    try:
        return Path(file["path"]).stat().st_mtime_ns > began_ns - _tick_ns
    except OSError:
        return was_opened(file) and not _was_written(file)


def was_opened(file: Document) -> bool:
    """Whether some layer saw it opened; a profile also has files that could not be."""
    layers = [file.get(name) or {} for name in _layers]
    return bool(file.get("datasets")) or any(layer.get(how) for layer in layers for how in _opens)


def was_read(file: Document) -> bool:
    """Opened, and not only to be written."""
    return was_opened(file) and (not _was_written(file) or _has(file, "reads"))


def _was_written(file: Document) -> bool:
    of_hdf5 = file.get("hdf5") or {}
    if (of_hdf5.get("opens") or 0) > (of_hdf5.get("read_only_opens") or 0):
        return True
    return bool(of_hdf5.get("creates")) or _has(file, "writes")


def _has(file: Document, what: str) -> bool:
    """Whether some layer saw reads, or writes."""
    datasets = file.get("datasets") or []
    return any((one.get(what) or {}).get("calls") for one in datasets) or any(
        _bytes_of((file.get(layer) or {}).get(what) or {}) for layer in ("mpiio", "posix", "stdio")
    )


def _bytes_of(transfers: Document) -> int:
    """Of MPI-IO they stand by kind of call."""
    total = transfers.get("bytes") or 0
    return int(total) + sum(_bytes_of(one) for one in transfers.values() if isinstance(one, dict))
