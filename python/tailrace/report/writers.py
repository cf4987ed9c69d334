# SPDX-License-Identifier: Apache-2.0
"""The plots of who wrote: write calls below all libraries, counted per rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tailrace.report import numbers, swatches
from tailrace.report.model import Cell, Figure, Key, Table
from tailrace.report.plots import bars
from tailrace.report.view import Json, View
from tailrace.units import grouped, plural

_most_columns = 64


def writers(view: View) -> list[Figure]:
    """Nothing where calls were not counted; the section says so."""
    found = view.full["writers"]
    if not found["measured"] or not found["list"]:
        return []
    return [_bytes(view, found["list"]), _calls(view, found["list"]), _sizes(view, found["list"])]


@dataclass(frozen=True)
class _Quantity:
    """What one plot shows of each rank."""

    ending: str
    title: str
    caption: str
    axis: str
    words: str
    style: str
    value: Callable[[Json], float]
    text: Callable[[float], str]


def _bytes(view: View, ranks: list[Json]) -> Figure:
    unit = numbers.SizeUnit(rank["bytes_done"] for rank in ranks)
    quantity = _Quantity(
        "bytes", "Bytes written by each rank",
        "Sum of what the write calls of a rank stored, data and metadata.", unit.name, "bytes",
        "s-writers", lambda rank: unit(rank["bytes_done"]),
        lambda value: f"{numbers.digits(value)} {unit.name}",
    )  # fmt: skip
    columns = ("rank", "bytes stored", "bytes asked", "short calls", "failed calls")
    keys = ("rank", "bytes_done", "bytes_asked", "short_calls", "failed_calls")
    return _per_rank(view, ranks, quantity, _table(ranks, columns, keys))


def _calls(view: View, ranks: list[Json]) -> Figure:
    quantity = _Quantity(
        "calls", "Write calls of each rank",
        "System calls that write, below all libraries.", "calls", "calls", "s-writers",
        lambda rank: float(rank["calls"]), lambda value: plural(round(value), "call"),
    )  # fmt: skip
    columns = ("rank", "calls", "smallest (bytes)", "largest (bytes)")
    keys = ("rank", "calls", "smallest_bytes", "largest_bytes")
    return _per_rank(view, ranks, quantity, _table(ranks, columns, keys))


def _table(ranks: list[Json], columns: Sequence[str], keys: Sequence[str]) -> Table:
    return Table(columns, [[rank[key] for key in keys] for rank in ranks])


def _per_rank(view: View, ranks: list[Json], quantity: _Quantity, table: Table) -> Figure:
    items, note = [], ""
    for part in numbers.bins(len(ranks), _most_columns):
        inside = ranks[part.start : part.stop]
        values = [quantity.value(rank) for rank in inside]
        first, last = inside[0]["rank"], inside[-1]["rank"]
        mean = sum(values) / len(values)
        who = f"rank {first}" if first == last else f"ranks {first} to {last}, mean"
        tip = f"{who}: {quantity.text(mean)}"
        items.append(bars.Column(first, last, min(values), mean, max(values), tip))
    if len(ranks) > _most_columns:
        note = (
            f"{grouped(len(ranks))} ranks in {_most_columns} stretches of neighbours: the bar is "
            "their mean, the line goes from the smallest to the greatest."
        )
    values = [quantity.value(rank) for rank in ranks]
    wrote = sum(rank["bytes_done"] > 0 for rank in ranks)
    low, high = quantity.text(min(values)), quantity.text(max(values))
    words = f"{wrote} of {len(ranks)} ranks wrote; {low} to {high} per rank"
    if low == high:
        words = f"{wrote} of {len(ranks)} ranks wrote; {low} each"
    name = f"{view.name}-{quantity.ending}"
    caption = f"{quantity.caption} {view.typical_words()}"
    plot = bars.columns(
        name, quantity.title, f"{caption} {words}.", items, "rank", quantity.axis, quantity.style
    )
    legend = [Key(swatches.bar(quantity.style), words)]
    return Figure(name, quantity.title, caption, plot, legend, table, note)


def _sizes(view: View, ranks: list[Json]) -> Figure:
    """How many calls of which size, all ranks together."""
    counts: dict[int, int] = {}
    for rank in ranks:
        for size, calls in rank["by_size"].items():
            counts[int(size)] = counts.get(int(size), 0) + calls
    size, classes = min(counts, default=1), []
    while size <= max(counts, default=1):
        classes.append(size)
        size *= 2
    stack = [
        bars.Bar(
            _short(size),
            [bars.Part(counts.get(size, 0), "s-writers", _class_words(size, counts.get(size, 0)))],
        )
        for size in classes
    ]
    rows: list[list[Cell]] = [[size, 2 * size - 1, counts.get(size, 0)] for size in classes]
    name, title = f"{view.name}-sizes", "Sizes of the write calls"
    caption = (
        f"Calls of all ranks by the bytes asked; each bar reaches up to twice its size. "
        f"{view.typical_words()}"
    )
    total = sum(counts.values())
    words = plural(total, "call")
    if total:
        smallest = min(rank["smallest_bytes"] for rank in ranks if rank["calls"])
        largest = max(rank["largest_bytes"] for rank in ranks)
        words += (
            f" of {numbers.exact_bytes(smallest)} to {numbers.exact_bytes(largest)}"
            if smallest != largest
            else f" of {numbers.exact_bytes(largest)}"
        )
    plot = bars.upright(
        name, title, f"{caption} {words}.", stack, "bytes per call, from", "calls",
        inner_height=120.0, numbered=True,
    )  # fmt: skip
    legend = [Key(swatches.bar("s-writers"), words)]
    return Figure(name, title, caption, plot, legend,
                  Table(("from (bytes)", "to (bytes)", "calls"), rows))  # fmt: skip


def _short(size: int) -> str:
    """1, 512, 4K, 1M."""
    for letter, unit in (("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size >= unit:
            return f"{size // unit}{letter}"
    return str(size)


def _class_words(size: int, calls: int) -> str:
    return f"{grouped(size)} to {grouped(2 * size - 1)} bytes: {plural(calls, 'call')}"
