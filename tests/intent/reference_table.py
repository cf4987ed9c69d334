# SPDX-License-Identifier: Apache-2.0
"""Compares the published form of our intents with reference intents, field by field.

python tests/intent/reference_table.py FOLDER

FOLDER holds, at any depth, pairs of NAME.darshan and NAME.intents.*.json (written by the published
generator). A Markdown table goes to stdout, the generated part of docs/developer/
intents_reference.md. Where a field differs, the reason is not a matter of opinion: each letter
stands for a check on the log's own numbers that the reference fails. The exit code is 1 where a
difference has no such reason ("?").
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tailrace.intent.native_calls import intents_of
from tailrace.intent.sources import read_profiles

Json = dict[str, Any]


class Log:
    """One log: what the reference says, what we say, and the profile in between."""

    def __init__(self, log: Path, text: str) -> None:
        self.name = log.stem
        (reference,) = log.parent.glob(f"{log.stem}.intents.*.json")
        self.reference: Json = json.loads(reference.read_text())
        self.ours: Json = json.loads(intents_of([(log.name, text)], classic=True))
        self.datasets: Json = {}
        self.files: Json = {}
        for file in json.loads(text)["files"]:
            self.files[file["path"]] = file
            for dataset in file.get("datasets", []):
                for name in [dataset["path"], *dataset.get("names", [])]:
                    self.datasets[f"{file['path']}:{name}"] = dataset
        self.by_old_name = {key.replace("//", "/"): key for key in self.reference["datasets"]}

    def old_name(self, part: str, key: str) -> str:
        """The reference's key for one of ours: it may have two slashes."""
        return self.by_old_name.get(key, key) if part == "datasets" else key

    def pairs(self, part: str) -> Iterator[tuple[str, Json, Json]]:
        """Key, ours and the reference's of each object that both have."""
        for key, ours in self.ours[part].items():
            old = self.old_name(part, key)
            if old in self.reference[part]:
                yield key, ours, self.reference[part][old]

    def alone(self, part: str) -> Iterator[tuple[str, Json | None, Json | None]]:
        """Key, ours or the reference's of each object that only one of the two has."""
        met = {self.old_name(part, key) for key, _, _ in self.pairs(part)}
        for key, ours in self.ours[part].items():
            if self.old_name(part, key) not in met:
                yield key, ours, None
        for key, theirs in self.reference[part].items():
            if key not in met:
                yield key, None, theirs


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves as path and value; an empty object is a leaf."""
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from flat(one, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, value


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= 1e-6
    return bool(a == b)


OBJECTS = "(objects)"  # the row of those that both have, and of those that one of them has
Check = Callable[[Log, str, str, str, Any, Any], bool]


def of_another_record(log: Log, part: str, key: str, field: str, ours: Any, theirs: Any) -> bool:
    """The reference's times are those of another object of the same log."""
    names = field.split(".")
    mine = [one for _, one, _ in log.pairs(part)]
    return field.startswith("session_io") and any(
        same(one[names[0]][names[1]], theirs) for one in mine if one[names[0]][names[1]] != ours
    )


def of_a_record_without_transfers(
    log: Log, part: str, key: str, field: str, ours: Any, theirs: Any
) -> bool:
    """The log has this dataset under a second name, which the reference takes for another."""
    return part == "datasets" and field.startswith("session_io") and bool(
        log.datasets[key].get("names")
    )  # fmt: skip


def always_zero(log: Log, part: str, key: str, field: str, ours: Any, theirs: Any) -> bool:
    """The file was read or written, which its datasets show, and the reference says 0."""
    return part == "files" and field.startswith("session_io") and theirs == [0, 0]


def bytes_moved(log: Log, part: str, key: str, field: str, ours: Any, theirs: Any) -> bool:
    """The reference takes the bytes moved for the size; elements times their size is another."""
    if field not in ("fs_size", "ds_size_dist.sum"):
        return False
    keys = [name for name, one in log.ours["datasets"].items()
            if key in (name, one["filename"])]  # fmt: skip
    moved, extents = 0, 0
    for one in (log.datasets[name] for name in keys):
        moved += max((one.get(word) or {}).get("bytes", 0) for word in ("reads", "writes"))
        extents += one["elements"] * one["type"]["bytes"]
    return (ours, theirs) == (extents, moved)


def shared_is_not_collective(
    log: Log, part: str, key: str, field: str, ours: Any, theirs: Any
) -> bool:
    """The reference says collective where no transfer asked for it."""
    if field != "sharing_pattern" or (ours, theirs) != (0, 1):
        return False
    names = [name for name, one in log.ours["datasets"].items()
             if key in (name, one["filename"])]  # fmt: skip
    return not any(log.datasets[name].get("requested_collective") for name in names)


def both_directions(log: Log, part: str, key: str, field: str, ours: Any, theirs: Any) -> bool:
    """Bytes were read and written, and the reference says one direction."""
    mine = [log.datasets[name] for name, one in log.ours["datasets"].items()
            if one["filename"] == key]  # fmt: skip
    return (
        (part, field, ours) == ("files", "mode", 2)
        and any(one.get("reads") for one in mine)
        and any(one.get("writes") for one in mine)
    )


def never_filled(log: Log, part: str, key: str, field: str, ours: Any, theirs: Any) -> bool:
    """The reference leaves the segments of a file empty."""
    return part == "files" and field.startswith("top_accessed_segments")


def length_zero(log: Log, part: str, key: str, field: str, ours: Any, theirs: Any) -> bool:
    """A whole transfer leaves Darshan's LENGTH 0; the reference makes 0 elements of it."""
    return field.startswith("transfer_size_dist") and theirs == 0 and ours > 0


def counts_what_is_not_there(
    log: Log, part: str, key: str, field: str, ours: Any, theirs: Any
) -> bool:
    """The reference counts every record, also of datasets that have no such size."""
    records = sum(one["filename"] == key for one in log.reference["datasets"].values())
    return field.startswith("transfer_size_dist") and field.endswith(".count") and theirs == records


def one_under_two_names(log: Log, part: str, key: str, field: str, ours: Any, theirs: Any) -> bool:
    """The reference has more datasets than the file: some under two names."""
    if part == "datasets" and field == OBJECTS:
        names = {name.replace("/", "") for name in log.datasets}
        return ours is None and key.replace("/", "") in names
    if part == "datasets":
        return field == "dataset_name" and ours == theirs.replace("//", "/")
    mine = [one for one in log.ours["datasets"].values() if one["filename"] == key]
    theirs_of_file = [one for one in log.reference["datasets"].values() if one["filename"] == key]
    counted = field == "ds_size_dist.count" or field.startswith("ap_distribution")
    return counted and len(theirs_of_file) > len(mine)


def of_another_library(log: Log, part: str, key: str, field: str, ours: Any, theirs: Any) -> bool:
    """The file was not opened by HDF5."""
    return (part, field, theirs) == ("files", OBJECTS, None) and not log.files[key].get("hdf5")


REASONS: dict[str, tuple[Check, str]] = {
    "a": (of_another_record, "the times are those of another object of the log: the generator "
          "joins two tables by row where it should by id"),
    "b": (always_zero, "the generator never fills a file's times of reading and writing"),
    "c": (bytes_moved, "the size is taken for the bytes moved; the extents say otherwise (a part "
          "only was written, or the same elements several times)"),
    "d": (shared_is_not_collective, "a record that all ranks share is taken for collective I/O; "
          "no transfer asked for it"),
    "e": (both_directions, "the file was read and written"),
    "f": (never_filled, "the generator leaves the segments of a file empty"),
    "g": (length_zero, "a transfer of the whole dataset leaves a length of 0, which is taken for 0 "
          "elements"),
    "h": (counts_what_is_not_there, "datasets are counted that have no such size"),
    "i": (one_under_two_names, "a dataset that was opened under two names is taken for two, or its "
          "name has two slashes"),
    "j": (of_a_record_without_transfers, "the times are those of the dataset's second name, "
          "without transfers"),
    "k": (of_another_library, "the generator takes the files of HDF5 alone; this is none"),
}  # fmt: skip
GROUPED = ("top_accessed_segments", "transfer_size_dist", "ap_distribution", "ds_size_dist")


def reason_of(log: Log, part: str, key: str, field: str, ours: Any, theirs: Any) -> str:
    for letter, (check, _) in REASONS.items():
        if check(log, part, key, field, ours, theirs):
            return letter
    return "?"


def row_of(field: str) -> str:
    """Fields that are shown in one row."""
    head = field.split(".", maxsplit=1)[0]
    return head if head in GROUPED else field


def outcomes(log: Log, part: str) -> dict[str, Counter[str]]:
    """Per row: how many objects agree ("="), and how many do not, by reasons."""
    rows: dict[str, Counter[str]] = {OBJECTS: Counter()}
    for key, mine, other in log.alone(part):
        rows[OBJECTS][reason_of(log, part, key, OBJECTS, mine, other)] += 1
    for key, ours, theirs in log.pairs(part):
        rows[OBJECTS]["="] += 1
        mine, other = dict(flat(ours)), dict(flat(theirs))
        letters: dict[str, set[str]] = {row_of(field): set() for field in [*mine, *other]}
        for field in {**mine, **other}:
            if not same(mine.get(field), other.get(field)):
                why = reason_of(log, part, key, field, mine.get(field), other.get(field))
                letters[row_of(field)].add(why)
        for row, found in letters.items():
            rows.setdefault(row, Counter())["".join(sorted(found)) or "="] += 1
    return rows


def cell(counts: Counter[str] | None) -> str:
    if not counts:
        return ""
    return " ".join(f"{count}{'' if why == '=' else why}" for why, count in sorted(counts.items()))


def table(logs: list[Log], part: str) -> list[str]:
    columns = [outcomes(log, part) for log in logs]
    rows = sorted({row for column in columns for row in column})
    lines = [f"| {part[:-1]} | {' | '.join(str(k + 1) for k in range(len(logs)))} |",
             f"|---|{'---|' * len(logs)}"]  # fmt: skip
    for row in rows:
        lines.append(f"| `{row}` | {' | '.join(cell(column.get(row)) for column in columns)} |")
    return lines


def logs_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """Logs with a reference, and those without."""
    paths = sorted(folder.rglob("*.darshan"))
    paired = [path for path in paths if list(path.parent.glob(f"{path.stem}.intents.*.json"))]
    return paired, [path for path in paths if path not in paired]


def read(paths: list[Path]) -> list[Log]:
    texts, _ = read_profiles(paths)
    return [Log(path, text) for path, (_, text) in zip(paths, texts, strict=True)]


def page(logs: list[Log]) -> str:
    """The list of the logs, both tables, and the reasons."""
    lines = [f"{k + 1}. `{log.name}`" for k, log in enumerate(logs)]
    lines += ["", *table(logs, "files"), "", *table(logs, "datasets"), "", *reasons()]
    return "\n".join(lines) + "\n"


def reasons() -> list[str]:
    return [f"- **{letter}**: {text}." for letter, (_, text) in REASONS.items()]


def main(words: list[str]) -> int:
    if len(words) != 1 or not Path(words[0]).is_dir():
        sys.stderr.write(f"{__doc__}\n")
        return 2
    paired, others = logs_in(Path(words[0]))
    for path in others:
        sys.stderr.write(f"reference_table: {path.name} has no reference\n")
    text = page(read(paired))
    sys.stdout.write(text)
    if "?" in text:
        sys.stderr.write("reference_table: some differences have no reason (?)\n")
    return int("?" in text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
