# SPDX-License-Identifier: Apache-2.0
"""A Darshan log as a profile, schema tailrace-profile/1."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError
from tailrace.intent import darshan_layers as layers
from tailrace.intent.darshan_datasets import datasets_by_file
from tailrace.intent.darshan_log import DarshanLog, Json, Record
from tailrace.intent.darshan_numbers import process_text, processes_of, without_nothing
from tailrace.intent.darshan_trace import Trace, nodes, processes, timelines

# Open MPI leaves them beside shared files to find out whether locks work; they are no output.
_lock_test = re.compile(r"\.locktest\.\d+$")
_read = {"POSIX", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "LUSTRE", "HEATMAP",
         "STDIO", "DXT_POSIX", "DXT_MPIIO"}  # fmt: skip
# What is in the modules that are not read.
_others = {"DFS": "files of DAOS", "DAOS": "objects of DAOS", "APMPI": "times of MPI calls",
           "BG/Q": "the machine", "APXC": "counters of Cray"}  # fmt: skip


def profile_of(log: DarshanLog, *, partial: bool) -> Json:
    """The profile in a log.

    Raises:
        TailraceError: it is damaged, and `partial` is not set; or it holds no I/O.
    """
    ranks = int(log.job["nprocs"])
    files = _Files(log, ranks)
    trace = Trace()
    trace.add(files.kept(log.raw_records("DXT_POSIX")))
    trace.hosts_of(log.raw_records("DXT_MPIIO"))
    files.read(trace)
    lines = timelines(log.raw_records("HEATMAP"), log.names)
    damage = log.check_whole(partial=partial)
    notes = damage + _notes(log)
    if not files.by_path and damage:
        raise TailraceError(
            f"the log holds no record of a file that can be read: {damage[0]}",
            where=str(log.path), hint="copy it anew, or wait until the job has ended",
        )  # fmt: skip
    if not files.by_path and (others := _not_read(log)):
        raise TailraceError(
            f"the log holds no record of a file in a module that is read; not read: {others}",
            where=str(log.path),
            hint="its I/O, if any, went through what these modules watch: darshan-parser shows it",
        )
    if not files.by_path:
        raise TailraceError(
            "the log holds no record of a file",
            where=str(log.path),
            hint="the program did no I/O that Darshan watches, or a filter took it out",
        )
    return {
        "schema": "tailrace-profile/1",
        "origin": _origin(log, files.dropped, notes),
        "run": without_nothing(
            {
                "elapsed_s": float(log.job.get("run_time") or 0) or None,
                "ranks": ranks,
                "nodes": nodes(ranks, trace.hosts),
                "processes": processes(trace.hosts),
                "file_systems": files.file_systems(),
                "timelines": lines,
            }
        ),
        "files": [files.by_path[path] for path in sorted(files.by_path)],
    }


class _Files:
    """The files of a log by path."""

    def __init__(self, log: DarshanLog, ranks: int) -> None:
        self.log = log
        self.ranks = ranks
        self.by_path: dict[str, Json] = {}
        self.dropped: Counter[str] = Counter()
        self._touched: dict[str, set[int]] = defaultdict(set)
        self._block: dict[str, int] = {}

    def read(self, trace: Trace) -> None:
        """Takes all modules that the log has."""
        for module, (key, layer) in layers.LAYERS.items():
            for identity, records in self._by_id(module).items():
                file = self._file(identity, records)
                if file is not None:
                    file[key] = layer(records, self.ranks)
                    if module == "POSIX":
                        self._posix_extras(identity, file, trace)
        self._lustre()
        self._datasets("H5D")
        self._datasets("PNETCDF_VAR")
        for path, file in self.by_path.items():
            file["processes"] = process_text(self._touched[path])

    def kept(self, raw: Any) -> Any:
        """Without the records of files that are left out."""
        for record in raw:
            if not self._left_out(self.log.names.get(int(record["id"]))):
                yield record

    def file_systems(self) -> list[Json]:
        """The mounts on which the files lie."""
        found: dict[str, Json] = {}
        for path in self.by_path:
            mount = _mount(path, self.log.mounts)
            if mount is not None:
                one = found.setdefault(mount[0], {"folder": mount[0], "type": mount[1]})
                if path in self._block:
                    one["block_bytes"] = self._block[path]
        return [found[folder] for folder in sorted(found)]

    def _by_id(self, module: str) -> dict[int, list[Record]]:
        groups: dict[int, list[Record]] = defaultdict(list)
        for record in self.log.records(module):
            groups[record.id].append(record)
        return groups

    def _file(self, identity: int, records: list[Record]) -> Json | None:
        name = self.log.names.get(identity)
        if name is None:
            self.dropped["records without a name"] += len(records)
            return None
        if self._left_out(name):
            self.dropped["lock test files"] += len(records) if _lock_test.search(name) else 0
            return None
        self._touched[name] |= processes_of(records, self.ranks)
        return self.by_path.setdefault(name, {"path": name})

    def _left_out(self, name: str | None) -> bool:
        return name is None or name.startswith("<STD") or _lock_test.search(name) is not None

    def _posix_extras(self, identity: int, file: Json, trace: Trace) -> None:
        block = file["posix"].get("file_alignment_bytes")
        if block:
            self._block[file["path"]] = block
        for word in ("reads", "writes"):
            order = trace.order(identity, word[:-1])
            if order is not None and word in file["posix"]:
                file["posix"][word]["order"] = order
                file["posix"][word]["ranges"] = trace.ranges(identity, word[:-1])

    def _lustre(self) -> None:
        by_id: dict[int, list[Json]] = defaultdict(list)
        for record in self.log.raw_records("LUSTRE"):
            by_id[int(record["id"])].append(record)
        for identity, raw in by_id.items():
            found = layers.lustre(raw)
            file = self.by_path.get(self.log.names.get(identity, ""))
            if file is not None and found is not None:
                file["lustre"] = found

    def _datasets(self, module: str) -> None:
        names = self.log.names
        found, nameless = datasets_by_file(
            self.log.records(module), names, names, module, self.ranks
        )
        if nameless:
            self.dropped["datasets without a name"] += nameless
        for path, datasets in found.items():
            file = self.by_path.setdefault(path, {"path": path})
            file.setdefault("datasets", []).extend(datasets)
            for dataset in datasets:
                self._touched[path] |= _processes(dataset["processes"])


def _processes(text: str) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _mount(path: str, mounts: list[tuple[str, str]]) -> tuple[str, str] | None:
    """The mount with the longest folder that holds the path."""
    fits = [one for one in mounts if path.startswith(one[0].rstrip("/") + "/")]
    return max(fits, key=lambda one: len(one[0]), default=None)


def _origin(log: DarshanLog, dropped: Counter[str], notes: list[str]) -> Json:
    start = datetime.fromtimestamp(int(log.job["start_time_sec"]), UTC)
    source = {
        "path": str(log.path.absolute()),
        "kind": "darshan",
        "sha256": sha256(log.path.read_bytes()).hexdigest(),
        "parts": log.module_words(),
    }
    counts = {what: count for what, count in sorted(dropped.items()) if count}
    return {
        "kind": "darshan",
        "command": log.command,
        "version": str(log.job.get("metadata", {}).get("lib_ver", "")),
        "start": start.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "sources": [source],
        **{key: value for key, value in (("dropped", counts), ("notes", notes)) if value},
    }


def _notes(log: DarshanLog) -> list[str]:
    notes = [
        f"module {name}: Darshan's memory did not hold all records; what is missing is not known"
        for name, found in sorted(log.modules.items())
        if found["partial_flag"]
    ]
    if "H5D" not in log.modules and "H5F" in log.modules:
        notes.append("no module H5D: nothing is known of single datasets")
    if others := _not_read(log):
        notes.append(f"not read: {others}")
    return notes


def _not_read(log: DarshanLog) -> str:
    """'APMPI (times of MPI calls), DFS (files of DAOS)': modules of the log that are not read."""
    return ", ".join(
        f"{name} ({_others[name]})" if name in _others else name
        for name in sorted(set(log.modules) - _read)
    )


def read_log(path: Path, watch: Any, *, partial: bool) -> Json:
    """The profile of the log at `path`; called in a process of its own."""
    return profile_of(DarshanLog(path, watch, partial=partial), partial=partial)
