# SPDX-License-Identifier: Apache-2.0
"""How a program reads a file, from its profile, and the chunks that suit these reads. The estimate
is that of `tailrace advise` (src/intent/rules/read_cost.hpp)."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError
from tailrace.intent.native_calls import call, checked_profile
from tailrace.intent.sources import read_profiles
from tailrace.repack.survey import Dataset
from tailrace.verify.model import Shape


@dataclass(frozen=True)
class Reads:
    """Those of a dataset: the shape that moves the most elements, and how often. chunk: with which
    all of them move the least; None where that is not much less than now."""

    extents: Shape
    calls: int
    chunk: Shape | None = None


def reads_in(
    profile: Path | str | Mapping[str, Any], name: str, datasets: Sequence[Dataset]
) -> dict[str, Reads]:
    """The reads of a file's datasets, by the dataset's first path.

    Raises:
        TailraceError: the profile is none, or knows no such file.
    """
    if isinstance(profile, Mapping):
        where, text = "profile", json.dumps(profile)
    else:
        ((where, text),), _ = read_profiles([Path(profile)])
    document = json.loads(checked_profile(text, where))
    files = [file["path"] for file in document.get("files") or []]
    if name not in files:
        near = difflib.get_close_matches(name, files, 1, 0.0)
        nearest = f"; the nearest is {near[0]}" if near else ""
        raise TailraceError(
            f"knows no file {name}{nearest}", where=where,
            hint="--plan-path PATH repacks the file as if it had that name",
        )  # fmt: skip
    asked = [
        (
            one.paths, list(one.shape or ()), one.storage.layout, list(one.storage.chunk),
            one.item_bytes, bool(one.storage.filters),
        )
        for one in datasets
    ]  # fmt: skip
    answers = call("chunks_for_reads", text, where, name, asked)
    found = {}
    for one, answer in zip(datasets, answers, strict=True):
        if answer is None or not one.shape or 0 in (*answer[1], *one.shape):
            continue
        chunk, length, calls = answer
        extents = tuple(min(n, extent) for n, extent in zip(length, one.shape, strict=True))
        found[one.path] = Reads(extents, calls, tuple(chunk) or None)
    return found


@dataclass(frozen=True)
class BadlyRead:
    """A file that is only read, in chunks that do not suit its reads. times: by how much less would
    be moved. saved_s: of the run that was profiled; None: no times were taken."""

    path: str
    times: float = 1.0
    saved_s: float | None = None


def badly_read(
    profile: Mapping[str, Any], plan: Mapping[str, Any] | None = None
) -> list[BadlyRead]:
    """All such files, those first that save the most. plan: on top of which that is."""
    kept = json.dumps(plan) if plan else ""
    return [BadlyRead(*one) for one in call("badly_read", json.dumps(profile), "profile", kept)]
