# SPDX-License-Identifier: Apache-2.0
"""What DXT (each single call) and HEATMAP (bytes over time) add to a profile."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from tailrace.intent.darshan_log import Json

BINS = 256  # a timeline has no more; longer ones are folded
RANGES = 64  # of a file, of as many processes


class Trace:
    """Orders and places of the calls per file, from DXT."""

    def __init__(self) -> None:
        self.hosts: dict[int, str] = {}
        self._steps: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
        self._strides: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
        self._ranges: dict[tuple[int, str], dict[int, Json]] = defaultdict(dict)

    def add(self, records: Iterable[Json]) -> None:
        """Takes the records of DXT_POSIX."""
        for record in records:
            rank, file = int(record["rank"]), int(record["id"])
            if rank >= 0 and record.get("hostname"):
                self.hosts[rank] = str(record["hostname"])
            for word in ("read", "write"):
                self._one(file, word, record[f"{word}_segments"])
                if rank >= 0:
                    self._range(file, word, rank, record[f"{word}_segments"])

    def hosts_of(self, records: Iterable[Json]) -> None:
        """Takes host names alone, of DXT_MPIIO, whose offsets lie within views."""
        for record in records:
            if int(record["rank"]) >= 0 and record.get("hostname"):
                self.hosts[int(record["rank"])] = str(record["hostname"])

    def order(self, file: int, word: str) -> Json | None:
        """`order` of the reads or writes of a file."""
        steps = self._steps.get((file, word))
        if not steps:
            return None
        order: Json = {kind: steps[kind] for kind in
                       ("sequential", "strided", "random", "repeated")}  # fmt: skip
        strides = self._strides.get((file, word))
        if strides and steps["strided"]:
            order["step"] = [strides.most_common(1)[0][0]]
        return order

    def ranges(self, file: int, word: str) -> list[Json]:
        """`ranges` of the reads or writes of a file; none of a file of one process."""
        by_rank = self._ranges.get((file, word), {})
        return [by_rank[rank] for rank in sorted(by_rank)[:RANGES]] if len(by_rank) > 1 else []

    def _range(self, file: int, word: str, rank: int, segments: list[Json]) -> None:
        places = [(int(one["offset"]), int(one["length"])) for one in segments]
        places = [(start, length) for start, length in places if start >= 0 and length > 0]
        if not places:
            return
        known = self._ranges[file, word].setdefault(
            rank,
            {"process": rank, "calls": 0, "bytes": 0, "first_byte": places[0][0], "end_byte": 0},
        )
        known["calls"] += len(places)
        known["bytes"] += sum(length for _, length in places)
        known["first_byte"] = min(known["first_byte"], *(start for start, _ in places))
        known["end_byte"] = max(known["end_byte"], *(sum(place) for place in places))

    def _one(self, file: int, word: str, segments: list[Json]) -> None:
        steps, strides = self._steps[file, word], self._strides[file, word]
        in_time = sorted(segments, key=lambda one: float(one["start_time"]))
        kind, step_before = "", None
        for before, segment in pairwise(in_time):
            step = int(segment["offset"]) - int(before["offset"])
            if step == int(before["length"]):
                kind = "sequential"
            elif step == 0:
                kind = "repeated"
            elif step == step_before:
                if kind == "random":  # it was the first of these steps
                    steps["random"] -= 1
                    steps["strided"] += 1
                kind = "strided"
                strides[step] += 1
            else:
                kind = "random"
            steps[kind] += 1
            step_before = step


def timelines(records: Iterable[Json], names: dict[int, str]) -> list[Json]:
    """`run.timelines` of the records of HEATMAP."""
    sums: dict[str, Json] = {}
    for record in records:
        layer = _layer(names.get(int(record["id"]), ""))
        bins = int(record["nbins"])
        if layer is None or bins < 1:
            continue
        line = sums.setdefault(
            layer, {"layer": layer, "bin_s": 0.0, "read_bytes": [], "written_bytes": []}
        )
        line["bin_s"] = max(line["bin_s"], float(record["bin_width_seconds"]))
        _add(line["read_bytes"], record["read_bins"])
        _add(line["written_bytes"], record["write_bins"])
    return [_folded(line) for _, line in sorted(sums.items())]


def _layer(name: str) -> str | None:
    layer = name.lower().rpartition(":")[2].replace("-", "")
    return layer if layer in ("posix", "mpiio", "stdio") else None


def _add(line: list[int], bins: Any) -> None:
    line += [0] * (len(bins) - len(line))
    for place, moved in enumerate(bins):
        line[place] += max(int(moved), 0)


def _folded(line: Json) -> Json:
    """Neighbours joined until there are few enough pieces; empty ones at the end dropped."""
    for word in ("read_bytes", "written_bytes"):
        while line[word] and not line[word][-1]:
            line[word].pop()
    while max(len(line["read_bytes"]), len(line["written_bytes"])) > BINS:
        line["bin_s"] *= 2
        for word in ("read_bytes", "written_bytes"):
            moved = line[word]
            line[word] = [sum(moved[at : at + 2]) for at in range(0, len(moved), 2)]
    return line


def processes(hosts: dict[int, str]) -> list[Json]:
    """`run.processes`: the ranks of which more is known than their number."""
    return [{"id": rank, "rank": rank, "host": hosts[rank]} for rank in sorted(hosts)]


def nodes(ranks: int, hosts: dict[int, str]) -> int | None:
    """Nodes, where the hosts of all ranks are known."""
    return len(set(hosts.values())) if len(hosts) == ranks else (1 if ranks == 1 else None)
