# SPDX-License-Identifier: Apache-2.0
"""Files given to `tailrace intents`: profiles and Darshan logs, told apart by what is in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.intent.darshan import read_darshan
from tailrace.intent.darshan_log import Json
from tailrace.intent.given_files import check_it_is_a_file

_most_to_look_at = 1000
_bases = 4  # datasets that the next one may be like
_sides = ("reads", "writes")


def read_profiles(
    files: Sequence[Path], *, partial: bool = False
) -> tuple[list[tuple[str, str]], list[str]]:
    """Path and text of each profile, in their order, and what is to be said about them.

    Args:
        files: profiles (JSON) and Darshan logs.
        partial: take what can be read of a damaged log.

    Raises:
        TailraceError: one is neither, or a log is damaged.
    """
    seen: dict[Path, Path] = {}
    for file in files:
        check_it_is_a_file(file)
        if file.resolve() in seen:
            raise TailraceError("this file is given twice", where=str(file))
        seen[file.resolve()] = file
    logs = [file for file in files if not is_json(file)]
    imported = dict(zip(logs, read_darshan(logs, partial=partial) if logs else [], strict=True))
    texts, notes = [], []
    for file in files:
        if file in imported:
            texts.append((str(file), json.dumps(imported[file])))
            notes += [f"{file}: {note}" for note in worth_saying(imported[file])]
        else:
            texts.append((str(file), read_text(file)))
    return texts, notes


def lost_in_profiles(texts: Sequence[tuple[str, str]]) -> list[str]:
    """What the profiles among them lack, as read_profiles says it of logs; they are checked."""
    notes = []
    for name, text in texts:
        if is_json(Path(name)):
            notes += [f"{name}: {note}" for note in worth_saying(json.loads(text))]
    return notes


def is_json(file: Path) -> bool:
    """Whether its first letter is that of a JSON document; a log begins with its version."""
    with file.open("rb") as stream:
        return stream.read(256).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (
            b"{", b"[", b'"', b"n", b"t", b"f", b"\xfe", b"\xff"  # the last two: UTF-16
        )  # fmt: skip


def read_text(file: Path) -> str:
    """The text of a file in UTF-8.

    Raises:
        TailraceError: it is not in UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TailraceError(
            f"it is not in UTF-8: byte {error.start} is {error.object[error.start]:#04x}",
            where=str(file),
        ) from None


def profile_text(profile: Json) -> str:
    """A profile as it is written: for people too, unless it has more datasets than they look at.
    Then each says only in what it is unlike an earlier one."""
    datasets = sum(len(file.get("datasets", [])) for file in profile.get("files", []))
    if datasets <= _most_to_look_at:
        return json.dumps(profile, indent=2) + "\n"
    files = [
        {**file, "datasets": _likened(file["datasets"])} if file.get("datasets") else file
        for file in profile["files"]
    ]
    return json.dumps({**profile, "files": files}, separators=(",", ":")) + "\n"


def whole_profile(text: str) -> Json:
    """What profile_text has written, each dataset with all its keys."""
    profile: Json = json.loads(text)
    files = profile.get("files", [])
    if isinstance(files, dict):  # intents, which have files by name
        return profile
    for file in files:
        datasets = file.get("datasets") or []
        for number, one in enumerate(datasets):
            if (like := one.pop("like", None)) is not None:
                datasets[number] = _patched(datasets[like], one)
    return profile


def _likened(datasets: Sequence[Json]) -> list[Json]:
    found: list[Json] = []
    bases: list[int] = []
    for number, one in enumerate(datasets):
        patches = [{"like": base, **_unlike(datasets[base], one)} for base in bases]
        least = min(patches, key=_keys, default=None)
        if least is not None and 2 * _keys(least) <= _keys(one):
            found.append({"path": one["path"], "interface": one["interface"], **least})
        else:
            found.append(one)
            bases = [number, *bases[: _bases - 1]]
    return found


def _keys(dataset: Json) -> int:
    return len(dataset) + sum(len(dataset.get(side) or ()) for side in _sides)


def _unlike(base: Json, one: Json) -> Json:
    """Keys with another value; null: it has none."""
    found: Json = {key: None for key in base if key not in one}
    for key, value in one.items():
        before = base.get(key)
        if before == value:
            continue
        found[key] = _unlike(before, value) if key in _sides and before and value else value
    return found


def _patched(base: Json, given: Json) -> Json:
    made = {**base, **given}
    for side in _sides:
        if base.get(side) and given.get(side):
            made[side] = _patched(base[side], given[side])
    return {key: value for key, value in made.items() if value is not None}


def worth_saying(profile: Json) -> list[str]:
    """What an import left out."""
    origin = profile["origin"]
    dropped = [f"{count} {what} left out" for what, count in origin.get("dropped", {}).items()]
    return [*origin.get("notes", []), *dropped]
