# SPDX-License-Identifier: Apache-2.0
"""A plan beside what the program intends: by pattern of files, and per dataset what is set.

Nothing is decided here: the numbers are those of the intents, the profiles and the plan.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Document = dict[str, Any]

MOST_SHAPES = 3
_statements = (
    "type", "append", "order", "reuse", "sharing_pattern", "how_shared", "collective",
    "reliability",
)  # fmt: skip
_usual_driver, _usual_layout = "sec2", "contiguous"
# Seen by the hook, and not set by anybody.
_no_settings = (
    "memory_type_differs", "memory_type_differs_reading", "memory_type_differs_writing",
    "address_asked", "made_without_name",
)  # fmt: skip


@dataclass
class Kind:
    """Files of one pattern, or datasets of one name within them, and what is set for them."""

    pattern: str
    members: list[Document] = field(default_factory=list)
    settings: list[Document] = field(default_factory=list)  # of the plan
    program: list[Document] = field(default_factory=list)  # the program's own, of each member


def overview(intents: Sequence[Document], profiles: Sequence[Document], plan: Document) -> Document:
    """`intents`, `file_configurations` and `dataset_configurations`; what moves most goes first.

    Args:
        intents: documents of schema tailrace-intents/1.
        profiles: those that they come from, where there are any: what the program sets itself.
        plan: of schema tailrace-plan/1.
    """
    files, datasets = _kinds(intents)
    _add_plan(files, datasets, plan)
    _add_program(files, datasets, intents, profiles)
    by_bytes = sorted(files.values(), key=lambda kind: -moved(kind.members))
    return {
        "intents": [_intents_of(kind) for kind in by_bytes if kind.members],
        "file_configurations": [
            {"file": kind.pattern, "files": len(kind.members), "settings": kind.settings,
             "program": agreed(kind.program)}
            for kind in by_bytes
        ],
        "dataset_configurations": _dataset_configurations(files, datasets),
    }  # fmt: skip


_Files = dict[str, Kind]
_Datasets = dict[tuple[str, str], Kind]


def _kinds(intents: Sequence[Document]) -> tuple[_Files, _Datasets]:
    """Files by the pattern that the plan has for them, datasets by that and their own."""
    files: _Files = {}
    datasets: _Datasets = {}
    for document in intents:
        globs = {path: _naming(file, path) for path, file in document["files"].items()}
        for path, file in document["files"].items():
            pattern, glob = globs[path]
            files.setdefault(glob, Kind(pattern)).members.append(file)
        for key, dataset in document.get("datasets", {}).items():
            path = dataset["filename"]
            pattern, glob = _naming(dataset, key[len(path) + 1 :])
            file_glob = globs[path][1] if path in globs else path
            datasets.setdefault((file_glob, glob), Kind(pattern)).members.append(dataset)
    return files, datasets


def _naming(one: Document, name: str) -> tuple[str, str]:
    naming = one.get("naming", {})
    return naming.get("pattern") or name, naming.get("glob") or name


def _add_plan(files: _Files, datasets: _Datasets, plan: Document) -> None:
    for entry in plan.get("entries", []):
        file, dataset = entry["file"], entry["dataset"]
        kind = files.setdefault(file, Kind(file))
        if dataset:
            kind = datasets.setdefault((file, dataset), Kind(dataset))
        for setting in entry.get("settings", []):
            kept = {key: setting[key] for key in ("key", "value", "function", "profiled", "class",
                                                  "ranks") if key in setting}  # fmt: skip
            kind.settings.append(
                {**kept, "when": entry["when"], "rule": setting["because"]["rule"]}
            )


def _add_program(
    files: _Files, datasets: _Datasets, intents: Sequence[Document], profiles: Sequence[Document]
) -> None:
    """What the program sets itself: of files from profiles alone, of datasets the layout too."""
    globs = {path: _naming(file, path)[1]
             for document in intents for path, file in document["files"].items()}  # fmt: skip
    names = {key: _naming(dataset, key)[1]
             for document in intents
             for key, dataset in document.get("datasets", {}).items()}  # fmt: skip
    for profile in profiles:
        for file in profile.get("files", []):
            path = file["path"]
            if (glob := globs.get(path)) is None:
                continue
            files[glob].program.append(_program_of_file(file))
            for dataset in file.get("datasets", []):
                name = names.get(f"{path}:{dataset['path']}")
                if (kind := datasets.get((glob, name or ""))) is not None:
                    kind.program.append(_settings_of(dataset))
    for kind in datasets.values():
        chosen = agreed([_layout_of(dataset) for dataset in kind.members])
        kind.program = [{**chosen, **one} for one in kind.program] or [chosen]


def _program_of_file(file: Document) -> Document:
    hdf5 = file.get("hdf5") or {}
    found: Document = {}
    if hdf5.get("driver", _usual_driver) != _usual_driver:
        found["driver"] = hdf5["driver"]
        if hdf5.get("communicator_size"):
            found["communicator_size"] = hdf5["communicator_size"]
    found |= _settings_of(hdf5)
    hints = (file.get("mpiio") or {}).get("hints_given") or {}
    return found | {f"hint.{name}": value for name, value in hints.items()}


def _settings_of(holder: Document) -> Document:
    settings = holder.get("settings_of_program") or {}
    return {key: value for key, value in settings.items() if key not in _no_settings}


def _layout_of(dataset: Document) -> Document:
    found = {key: dataset[key] for key in ("chunk", "filters") if dataset.get(key)}
    other = dataset.get("layout") not in (None, _usual_layout)
    return {"layout": dataset["layout"], **found} if other else found


def agreed(several: Iterable[Document]) -> Document:
    """What all say, by key; "differs" where they do not."""
    found: dict[str, list[Any]] = defaultdict(list)
    count = 0
    for one in several:
        count += 1
        for key, value in one.items():
            found[key].append(value)
    return {
        key: values[0] if len(values) == count and all(v == values[0] for v in values)
        else "differs"
        for key, values in found.items()
    }  # fmt: skip


# --- what is intended -----------------------------------------------------------------------------
def moved(members: Iterable[Document]) -> int:
    """Bytes read and written."""
    total = 0
    for one in members:
        volume = one.get("volume") or {}
        total += int(volume.get("bytes_read") or 0) + int(volume.get("bytes_written") or 0)
    return total


def _intents_of(kind: Kind) -> Document:
    files = kind.members
    sizes = [file["fs_size"] for file in files if file.get("fs_size")]
    said = {key: _tally(files, key) for key in _statements}
    return {
        "file": kind.pattern,
        "files": len(files),
        "why": _why(files),
        "bytes_moved": moved(files),
        "transfer_sizes": _transfer_sizes(files),
        "size_bytes": sum(size["bytes"] for size in sizes) if sizes else None,
        "size_at_least": len(sizes) < len(files) or any(size.get("at_least") for size in sizes),
        "segments": _segments(files),
        "processes": len(_processes(files)),
        "differs": sorted(key for key in _statements
                          if any(file.get(key, {}).get("changes") for file in files)),
        **said,
    }  # fmt: skip


def _why(files: list[Document]) -> str:
    """What all say of themselves; else what how many say, those that move most first."""
    groups: dict[str, list[Document]] = defaultdict(list)
    for file in files:
        groups[file.get("words", {}).get("why", "")].append(file)
    by_bytes = sorted(groups.items(), key=lambda group: -moved(group[1]))
    if len(by_bytes) == 1:
        return by_bytes[0][0]
    return "; ".join(f"{why} ({len(members)})" for why, members in by_bytes)


def _tally(files: list[Document], key: str) -> list[Document]:
    """What the files say, and how many say so; the most frequent first."""
    counts = Counter(file.get(key, {}).get("value", "not known") for file in files)
    return [{"value": value, "files": count} for value, count in counts.most_common()]


def _transfer_sizes(files: list[Document]) -> list[Document]:
    calls: Counter[int] = Counter()
    for file in files:
        for size in file.get("transfer_size_dist", []):
            calls[size["bytes"]] += size["calls"]
    return [{"bytes": size, "calls": count} for size, count in calls.most_common(MOST_SHAPES)]


def _segments(files: list[Document]) -> list[Document]:
    """The most frequent shapes of transfers, those of all files together."""
    counts: Counter[str] = Counter()
    for file in files:
        for segment in file.get("top_accessed_segments", []):
            shape = {key: value for key, value in segment.items() if key != "count"}
            counts[json.dumps(shape, sort_keys=True)] += segment.get("count", 0)
    return [{**json.loads(shape), "count": count}
            for shape, count in counts.most_common(MOST_SHAPES)]  # fmt: skip


def _processes(files: list[Document]) -> set[int]:
    found: set[int] = set()
    for file in files:
        for part in filter(None, file.get("process_sharing", "").split(",")):
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
    return found


# --- what is set per dataset ----------------------------------------------------------------------
def _dataset_configurations(files: _Files, datasets: _Datasets) -> list[Document]:
    """Datasets of one pattern of files with the same settings stand together."""
    together: dict[str, Document] = {}
    for (file, _), kind in datasets.items():
        pattern = files[file].pattern if file in files else file
        program = agreed(kind.program)
        same = json.dumps([file, kind.settings, program], sort_keys=True)
        one = together.setdefault(
            same,
            {"file": pattern, "datasets": [], "count": 0, "bytes_moved": 0,
             "settings": kind.settings, "program": program},
        )  # fmt: skip
        one["datasets"].append(kind.pattern)
        one["count"] += len(kind.members)
        one["bytes_moved"] += moved(kind.members)
    return sorted(together.values(), key=lambda one: (not one["settings"], -one["bytes_moved"]))
