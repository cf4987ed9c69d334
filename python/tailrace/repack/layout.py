# SPDX-License-Identifier: Apache-2.0
"""What shall lie otherwise: wishes, and what becomes of them at a dataset."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from h5py import h5d, h5z

from tailrace.errors import TailraceError
from tailrace.repack.memory import Memory
from tailrace.repack.survey import Dataset, Filter, Storage
from tailrace.units import mib, plural
from tailrace.verify.model import Shape
from tailrace.verify.types import Float, Text, Type, Vlen

_largest_compact = 60 << 10  # bytes; a header holds 64 KiB
_largest_chunk = (1 << 32) - 1
_allocation = {
    "early": h5d.ALLOC_TIME_EARLY,
    "late": h5d.ALLOC_TIME_LATE,
    "incremental": h5d.ALLOC_TIME_INCR,
}
_compressors = {h5z.FILTER_DEFLATE, h5z.FILTER_SZIP, h5z.FILTER_NBIT, h5z.FILTER_SCALEOFFSET}


@dataclass
class Wish:
    """For one dataset; `why` names each one's origin: an option, or the rule of a plan."""

    chunk: Shape | None = None
    layout: str = ""  # compact, contiguous; "": as it is, or chunked where there is a chunk
    filters: tuple[Filter, ...] | None = None  # exactly these
    shuffle: bool = False  # besides those that are there
    deflate: int = 0
    allocation_time: str = ""
    strict: bool = False  # typed by a person: what cannot be is an error
    why: list[str] = field(default_factory=list)
    misfits: list[str] = field(default_factory=list)  # settings of a plan that do not fit there

    @property
    def empty(self) -> bool:
        return not (self.chunk or self.layout or self.shuffle or self.deflate) and (
            self.filters is None
        )


@dataclass(frozen=True)
class Change:
    """A dataset and its new storage."""

    dataset: Dataset
    new: Storage
    allocation_time: str = ""
    why: tuple[str, ...] = ()

    def creation(self, old: Any) -> Any:
        """The creation property list: the old one, but for what changes."""
        made = old.copy()
        if self.new.layout == "chunked":
            made.set_chunk(self.new.chunk)
        if self.new.filters != self.dataset.storage.filters:
            _set_filters(made, self.new.filters)
        if self.new.layout == "compact":
            made.set_layout(h5d.COMPACT)
        elif self.new.layout == "contiguous":
            made.set_layout(h5d.CONTIGUOUS)
        if self.allocation_time:
            made.set_alloc_time(_allocation[self.allocation_time])
        elif self.new.layout != self.dataset.storage.layout:
            made.set_alloc_time(h5d.ALLOC_TIME_DEFAULT)
        return made


def decided(dataset: Dataset, wish: Wish, memory: Memory, notes: list[str]) -> Change | None:
    """What becomes of a wish: None where the dataset stays as it is. What is said goes to `notes`.

    Raises:
        TailraceError: a strict wish cannot be.
    """
    notes += [f"{dataset.path}: {misfit}" for misfit in wish.misfits]
    if wish.empty:
        return None
    reason = _why_not_at_all(dataset)
    if reason:
        _say(wish, notes, dataset, reason)
        return None
    new = dataset.storage
    if wish.chunk is not None:
        fitted = _fitted(dataset, wish.chunk, wish, memory, notes)
        if fitted is None:
            return None
        new = replace(new, layout="chunked", chunk=fitted)
    elif wish.layout:
        reason = _why_not_whole(dataset, wish.layout)
        if reason:
            _say(wish, notes, dataset, reason)
            return None
        new = Storage(wish.layout)
    new = _with_filters(dataset, new, wish, notes)
    if new == dataset.storage:
        return None
    if _is_lossy(dataset, new):
        what = "its filter (scale-offset) would round the floats again; it stays as it is"
        _say(wish, notes, dataset, what, f"--filters {dataset.path}=none, or deflate=1, too")
        return None
    return Change(dataset, new, wish.allocation_time, tuple(wish.why))


def _why_not_at_all(dataset: Dataset) -> str:
    if dataset.storage.layout in {"external", "virtual"}:
        return "its elements are in other files; it stays as it is"
    if not dataset.shape:
        return "it has no dimensions; it stays as it is"
    if 0 in (limit for limit in dataset.limits):
        return "it can hold nothing; it stays as it is"
    return ""


def _why_not_whole(dataset: Dataset, layout: str) -> str:
    """Compact and contiguous."""
    if dataset.limits != dataset.shape:
        return f"it can grow, and {layout} datasets cannot"
    if layout == "compact" and dataset.bytes > _largest_compact:
        return f"{mib(dataset.bytes)} do not fit a header: compact is for {mib(_largest_compact)}"
    return ""


def _fitted(
    dataset: Dataset, chunk: Shape, wish: Wish, memory: Memory, notes: list[str]
) -> Shape | None:
    assert dataset.shape is not None
    if len(chunk) != len(dataset.shape):
        have = plural(len(dataset.shape), "dimension")
        _say(wish, notes, dataset, f"it has {have}, and chunk {shown(chunk)} {len(chunk)}")
        return None
    fitted = tuple(
        n if limit is None else min(n, limit)
        for n, limit in zip(chunk, dataset.limits, strict=True)
    )
    if fitted != chunk:
        notes.append(
            f"{dataset.path}: chunk {shown(chunk)} is larger than the dataset can be; "
            f"{shown(fitted)} is used"
        )
    size = math.prod(fitted) * dataset.item_bytes
    most = min(memory.largest_chunk_bytes, _largest_chunk)
    if size > most:
        what = f"a chunk {shown(fitted)} has {mib(size)}; {mib(most)} fit the limit of memory"
        _say(wish, notes, dataset, what, "make it smaller, or raise --memory")
        return None
    return fitted


def _with_filters(dataset: Dataset, new: Storage, wish: Wish, notes: list[str]) -> Storage:
    old = dataset.storage.filters
    wanted = wish.filters
    if wanted is None and (wish.deflate or wish.shuffle):
        wanted = _added(old, wish)
        if wanted is None:
            notes.append(f"{dataset.path}: it has another compression, and keeps it")
    if new.layout != "chunked":
        if wanted:
            _say(wish, notes, dataset, "filters are for datasets in chunks; give it a --chunk")
        return new
    if wanted and _is_variable(dataset.type):
        fit = tuple(one for one in wanted if one.code != h5z.FILTER_FLETCHER32)
        if fit != wanted:
            notes.append(f"{dataset.path}: elements of variable length cannot have fletcher32")
            wanted = fit if fit or old else None
    if wanted is None or [_step(one) for one in wanted] == [_step(one) for one in old]:
        return new
    return replace(new, filters=wanted)


def _is_variable(kind: Type) -> bool:
    """Of elements that are nothing but a pointer to what is elsewhere."""
    return isinstance(kind, Vlen) or (isinstance(kind, Text) and kind.size is None)


def _is_lossy(dataset: Dataset, new: Storage) -> bool:
    """Whether elements would not stay what they are."""
    return isinstance(dataset.type, Float) and any(
        one.code == h5z.FILTER_SCALEOFFSET for one in new.filters
    )


def _step(one: Filter) -> tuple[int, tuple[int, ...]]:
    """What a filter is by; a stored one tells numbers of the dataset besides."""
    return one.code, one.values if one.code == h5z.FILTER_DEFLATE else ()


def _added(old: tuple[Filter, ...], wish: Wish) -> tuple[Filter, ...] | None:
    """A plan's compression comes where there is none, or takes the place of the same one."""
    others = [one for one in old if one.code not in {h5z.FILTER_DEFLATE, h5z.FILTER_SHUFFLE}]
    if any(one.code in _compressors or one.code > 255 for one in others):
        return None
    shuffle = [one for one in old if one.code == h5z.FILTER_SHUFFLE]
    deflate = [one for one in old if one.code == h5z.FILTER_DEFLATE]
    if wish.shuffle and not shuffle:
        shuffle = [Filter(h5z.FILTER_SHUFFLE)]
    if wish.deflate and [one.values[:1] for one in deflate] != [(wish.deflate,)]:
        deflate = [Filter(h5z.FILTER_DEFLATE, (wish.deflate,))]
    return (*shuffle, *deflate, *others)


def _set_filters(creation: Any, filters: tuple[Filter, ...]) -> None:
    for index in reversed(range(creation.get_nfilters())):
        creation.remove_filter(creation.get_filter(index)[0])
    for one in filters:
        if one.code == h5z.FILTER_SHUFFLE:
            creation.set_shuffle()
        elif one.code == h5z.FILTER_DEFLATE:
            creation.set_deflate(one.values[0])
        elif one.code == h5z.FILTER_FLETCHER32:
            creation.set_fletcher32()
        else:
            creation.set_filter(one.code, one.flags, one.values)


def _say(wish: Wish, notes: list[str], dataset: Dataset, what: str, hint: str = "") -> None:
    if wish.strict:
        raise TailraceError(what, where=dataset.path, hint=hint)
    origin = f" ({', '.join(wish.why)})" if wish.why else ""
    notes.append(f"{dataset.path}: {what}{origin}")


def shown(extents: Shape) -> str:
    """`100 x 20`."""
    return " x ".join(map(str, extents)) or "scalar"
