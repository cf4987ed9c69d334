# SPDX-License-Identifier: Apache-2.0
"""What a program does with its files, for a person, in 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tailrace.cli.advise_show import wrapped
from tailrace.cli.output import Output, shortened
from tailrace.units import grouped, mib, plural

Json = dict[str, Any]

MOST_FILES = 6
MOST_DATASETS = 8
_most_names = 4

_type = {"no_data": "no data moved"}
_order = {"one_transfer": "one transfer per process", "repeated": "the same places again"}
_reuse = {
    "once": "each place once",
    "re_read": "places are read again",
    "rewritten": "places are written again",
    "re_read_and_rewritten": "places are read and written again",
}
_sharing = {
    "file_per_process": "a file per process",
    "one_writer": "one process of several",
    "shared": "a shared file",
    "independent": "one process",
    "serial": "one process",
}
_how_shared = {
    "disjoint_blocks": "disjoint blocks",
    "interleaved": "interleaved pieces",
    "same_region": "all the same part",
    "overlapping": "overlapping parts",
    "private": "",
}
_collective = {
    "done": "collective I/O",
    "requested": "collective I/O asked for",
    "not_done_though_requested": "collective I/O asked for but not done",
    "partly": "partly collective I/O",
    "not_requested": "independent I/O",
}


def show(output: Output, found: Json, width: int = 80) -> None:
    """What the program does with its files and how it has set them; what moves most goes first."""
    width = min(output.width, width)
    files = found["intents"]
    shown = _worth_showing(files)
    if shown:
        output.line("What the program does", "bold")
    own = {one["file"]: one["program"] for one in found["file_configurations"]}
    datasets = [one for one in found["dataset_configurations"] if one["program"]]
    left = MOST_DATASETS
    for one in shown:
        _heading(output, one["file"], f" ({plural(one['files'], 'file')})", width)
        wrapped(output, one["why"], width, "    ")
        _numbered(output, _intents(one) + _as_it_is(own.get(one["file"], {})), width)
        of_it = [row for row in datasets if row["file"] == one["file"]][:left]
        left -= len(of_it)
        for row in of_it:
            wrapped(output, f"{_names(row)}: {_own_settings(row['program'])}", width, "    ")
    _more(output, len(files) - len(shown), "pattern of files")
    _more(output, len(datasets) - (MOST_DATASETS - left), "pattern of datasets")


def _names(row: Json) -> str:
    """'/a, /b (2 datasets)'."""
    names = row["datasets"]
    others = len(names) - _most_names
    text = ", ".join(names[:_most_names]) + (f" and {others} more" if others > 0 else "")
    return f"{text} ({plural(row['count'], 'dataset')})"


def _heading(output: Output, name: str, more: str, width: int) -> None:
    output.line(f"  {shortened(name, width - 2 - len(more))}{more}")


def _numbered(output: Output, texts: Sequence[str], width: int) -> None:
    for number, text in enumerate(texts, 1):
        wrapped(output, f"{number}. {text}", width, "    ", hang=3)


def _worth_showing(files: Sequence[Json]) -> Sequence[Json]:
    """A file of settings or of results does not stand beside the data: a thousandth of all."""
    least = sum(one["bytes_moved"] for one in files) / 1000
    return [one for k, one in enumerate(files[:MOST_FILES])
            if k == 0 or one["bytes_moved"] >= max(least, 1)]  # fmt: skip


def _more(output: Output, more: int, noun: str) -> None:
    if more > 0:
        kinds = noun if more == 1 else noun.replace("pattern", "patterns", 1)
        output.line(f"  ({grouped(more)} more {kinds}: --json has all)")


# --- what is intended -----------------------------------------------------------------------------
def _intents(one: Json) -> list[str]:
    texts = [
        f"transfer size: {_sizes(one['transfer_sizes'])}",
        f"access pattern: {_access(one)}",
        f"size on the file system: {_size(one)}",
        f"hot segments: {_joined(_segments(one), _ordered(one), _reused(one))}",
        f"process sharing: {_shared(one)}",
        f"reliability: {said(one, 'reliability', {})}",
    ]
    if one["differs"]:
        words = ", ".join(key.replace("_", " ") for key in one["differs"])
        texts.append(f"the profiles do not agree on: {words}")
    return texts


def said(one: Json, key: str, words: dict[str, str]) -> str:
    """'write-only'; where files of the pattern differ 'write-only (39 files), read-only (1)'."""
    tally = [(words.get(entry["value"], entry["value"].replace("_", "-")), entry["files"])
             for entry in one[key]]  # fmt: skip
    tally = [(text, files) for text, files in tally if text]
    if len(tally) < 2:
        return tally[0][0] if tally else ""
    tally = [(text, files) for text, files in tally if text != "not known"] or tally
    first = f"{tally[0][0]} ({plural(tally[0][1], 'file')})"
    return ", ".join([first, *(f"{text} ({grouped(files)})" for text, files in tally[1:])])


def _ordered(one: Json) -> str:
    """Only of datasets there are segments, and then the order is that within each of them."""
    whole = _order["one_transfer"] + (" and dataset" if one["segments"] else "")
    return said(one, "order", {**_order, "one_transfer": whole})


def _joined(*texts: str) -> str:
    return "; ".join(text for text in texts if text and text != "not known") or "not known"


def _sizes(sizes: Sequence[Json]) -> str:
    texts = [f"{mib(size['bytes'])} ({plural(size['calls'], 'call')})" for size in sizes]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]])) or "not known"


def _access(one: Json) -> str:
    grows = any(entry["value"] == "yes" for entry in one["append"])
    return _joined(said(one, "type", _type), "grows at its end" if grows else "")


def _size(one: Json) -> str:
    if one["size_bytes"] is None:
        return "not known"
    least = "at least " * one["size_at_least"]
    return (
        least
        + mib(one["size_bytes"])
        + (f" in {plural(one['files'], 'file')}" * (one["files"] > 1))
    )


def _segments(one: Json) -> str:
    return ", ".join(_segment(segment) for segment in one["segments"])


def _segment(segment: Json) -> str:
    """'512 x 64 elements, stride 1024 x 64 (40 times)'."""
    length, stride = segment.get("length") or [], segment.get("stride") or []
    if length:
        text = " x ".join(map(str, length)) + " elements"
        # Blocks side by side are no strides; Darshan does not tell how long a block is.
        block = segment.get("block") or [1] * len(stride)
        if any(s > b for s, b in zip(stride, block, strict=False)):
            text += f", stride {' x '.join(map(str, stride))}"
    elif segment.get("selection") == "all":
        text = "the whole dataset"
    else:
        size = segment.get("access_bytes")
        text = f"{mib(size)} at places without a shape" if size else "places without a shape"
    return f"{text} ({plural(segment['count'], 'time')})"


def _reused(one: Json) -> str:
    return said(one, "reuse", _reuse)


def _shared(one: Json) -> str:
    text = said(one, "sharing_pattern", _sharing)
    if one["processes"] > 1:
        text += f", {plural(one['processes'], 'process')}"
    return _joined(text, said(one, "how_shared", _how_shared), said(one, "collective", _collective))


# --- how it is set --------------------------------------------------------------------------------
def _as_it_is(program: Json) -> list[str]:
    """Whoever chose it: the program, or a library for it."""
    return [f"as it is: {_own_settings(program)}"] if program else []


def _own_settings(program: Json) -> str:
    return ", ".join(f"{key} {_own(value)}" for key, value in program.items())


def _own(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        words = all(isinstance(part, str) for part in value)
        return (" + " if words else " x ").join(map(str, value))
    return str(value)
