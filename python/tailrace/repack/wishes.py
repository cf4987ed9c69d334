# SPDX-License-Identifier: Apache-2.0
"""What is wished of a file: from a plan, and from options, which go first."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from h5py import h5z

from tailrace.errors import TailraceError, did_you_mean
from tailrace.intent.native_calls import call
from tailrace.repack import target
from tailrace.repack.layout import Wish
from tailrace.repack.survey import Dataset, Filter

_unlimited = (1 << 64) - 1
_of_datasets = {"chunk", "layout", "shuffle", "deflate", "allocation_time"}
_words = ("contiguous", "compact")


@dataclass
class Wishes:
    """By the path of the dataset; `others`: settings of a plan that no file keeps."""

    datasets: dict[str, Wish] = field(default_factory=dict)
    file: dict[str, Any] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    def of(self, path: str) -> Wish:
        return self.datasets.setdefault(path, Wish())


def from_plan(
    wishes: Wishes, plan: Mapping[str, Any], where: str, name: str, datasets: Sequence[Dataset]
) -> None:
    """Adds what a plan has for the file called `name`, as if it were made now.

    Raises:
        TailraceError: the plan is wrong, or has nothing for this file.
    """
    asked: list[tuple[str, list[int], list[int], list[int], int]] = [("", [], [], [], 0)]
    owners: list[Dataset | None] = [None]
    for dataset in datasets:
        for path in dataset.paths:
            limits = [_unlimited if n is None else n for n in dataset.limits]
            chunk = list(dataset.storage.chunk)
            asked.append((path, list(dataset.shape or ()), limits, chunk, dataset.item_bytes))
            owners.append(dataset)
    answers = call("resolved_plan", json.dumps(plan), where, name, asked)
    if not any(answers):
        raise _matches_nothing(plan, where, name, datasets)
    others: set[str] = set()
    for owner, settings in zip(owners, answers, strict=True):
        for key, rule, value, misfit in settings:
            if owner is None:
                if key in target.KEYS and value is not None:
                    wishes.file[key] = value
                else:
                    others.add(key)
            elif key in _of_datasets:
                _put(wishes.of(owner.path), key, f"rule {rule}", value, misfit)
            else:
                others.add(key)
    wishes.others += sorted(others)


def _put(wish: Wish, key: str, origin: str, value: Any, misfit: str) -> None:
    if value is None:
        wish.misfits.append(f"{key} of {origin}: {misfit}")
        return
    if key == "chunk":
        wish.chunk = tuple(value)
    elif key != "layout" or value == "compact":
        setattr(wish, key, value)
    if origin not in wish.why:
        wish.why.append(origin)


def _matches_nothing(
    plan: Mapping[str, Any], where: str, name: str, datasets: Sequence[Dataset]
) -> TailraceError:
    entries = plan.get("entries") or []
    files = sorted({entry["file"] for entry in entries})
    if not files:
        return TailraceError(
            "sets nothing", where=where, hint="`tailrace advise` says what it held back, and why"
        )
    short = name.rsplit("/", 1)[-1]
    if any(fnmatchcase(name if "/" in file else short, file) for file in files):
        wanted = [entry["dataset"] for entry in entries if entry["dataset"]]
        have = [path for dataset in datasets for path in dataset.paths]
        pairs = [(a, difflib.get_close_matches(a, have, 1, 0.3)) for a in wanted]
        near = next((f"; the nearest to {a} is {b[0]}" for a, b in pairs if b), "")
        return TailraceError(
            f"has nothing for a dataset of {name}{near}", where=where,
            hint="tailrace verify --hash FILE lists the datasets of a file",
        )  # fmt: skip
    near_files = difflib.get_close_matches(name, files, 1, 0.0)
    return TailraceError(
        f"has nothing for {name}; the nearest is {near_files[0] if near_files else files[0]}",
        where=where, hint="--plan-path PATH repacks the file as if it had that name",
    )  # fmt: skip


def from_options(
    wishes: Wishes, chunks: Sequence[str], filters: Sequence[str], datasets: Sequence[Dataset]
) -> None:
    """Adds `DATASET=AxB` and `DATASET=shuffle,deflate=4`; they go before what a plan says."""
    for text in chunks:
        path, value, exact = _split(text, "--chunk")
        word = value.strip().lower()
        extents = () if word in _words else _extents(word, text, "--chunk")
        for dataset in _named(path, datasets, "--chunk"):
            wish = wishes.of(dataset.path)
            wish.chunk = extents or None
            wish.layout = word if word in _words else ""
            wish.strict, wish.why = exact, ["--chunk"]
    for text in filters:
        path, value, exact = _split(text, "--filters")
        pipeline = filters_of(value, text)
        for dataset in _named(path, datasets, "--filters"):
            wish = wishes.of(dataset.path)
            wish.filters, wish.strict = pipeline, exact
            wish.why = [*wish.why, "--filters"]


def _split(text: str, option: str) -> tuple[str, str, bool]:
    path, equals, value = text.partition("=")
    if not equals or not path or not value:
        example = "/t2m=12x90x180" if option == "--chunk" else "/t2m=shuffle,deflate=4"
        raise TailraceError(
            f'"{text}" does not say what for which dataset', where=option,
            hint=f"for example {option} {example}",
        )  # fmt: skip
    return "/" + path.strip("/"), value, not any(c in path for c in "*?[")


def _named(pattern: str, datasets: Sequence[Dataset], option: str) -> list[Dataset]:
    found = [one for one in datasets if any(fnmatchcase(path, pattern) for path in one.paths)]
    found = found or [one for one in datasets if pattern in one.paths]
    if not found:
        paths = [path for one in datasets for path in one.paths]
        raise TailraceError(
            f"there is no dataset {pattern}.{did_you_mean(pattern, paths)}", where=option,
            hint="tailrace verify --hash FILE lists the datasets of a file",
        )  # fmt: skip
    return found


def extents_of(text: str, option: str) -> tuple[str, tuple[int, ...]]:
    """`/t2m=12x90x180`."""
    path, value, _ = _split(text, option)
    return path, _extents(value, text, option)


def _extents(word: str, text: str, option: str) -> tuple[int, ...]:
    parts = re.split(r"[x×,]", word)
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        also = "; or /t2m=contiguous" if option == "--chunk" else ""
        raise TailraceError(
            f'"{text}" has no extents', where=option,
            hint="for example /t2m=12x90x180: one number of elements for each dimension, slowest "
            f"first{also}",
        )  # fmt: skip
    return tuple(int(part) for part in parts)


def filters_of(value: str, text: str) -> tuple[Filter, ...]:
    """`none`, or some of `shuffle`, `deflate=LEVEL`, `fletcher32`."""
    if value == "none":
        return ()
    found = []
    for word in value.split(","):
        name, _, level = word.strip().partition("=")
        if name == "shuffle" and not level:
            found.append(Filter(h5z.FILTER_SHUFFLE))
        elif name == "fletcher32" and not level:
            found.append(Filter(h5z.FILTER_FLETCHER32))
        elif name == "deflate" and level in {"", *"123456789"}:
            found.append(Filter(h5z.FILTER_DEFLATE, (int(level or 4),)))
        else:
            near = did_you_mean(name, ["none", "shuffle", "deflate", "fletcher32"])
            raise TailraceError(
                f'"{word}" of "{text}" is no filter.{near}', where="--filters",
                hint="none, or some of shuffle, deflate=1 to deflate=9, fletcher32",
            )  # fmt: skip
    return tuple(found)
