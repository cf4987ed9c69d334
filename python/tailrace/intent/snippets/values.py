# SPDX-License-Identifier: Apache-2.0
"""Settings of a plan with their values, and which of them were said."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tailrace.globs import name_or_pattern


def one_line(text: str) -> str:
    """A text of the plan for a comment: nothing in it ends the line."""
    return "".join(c if c.isprintable() else "?" for c in text)


@dataclass
class Setting:
    """One of a place; `note` says why its value cannot be said at all."""

    key: str
    value: Any
    rule: str
    note: str = ""
    why: str = ""
    expected: str = ""

    @property
    def text(self) -> str:
        """As a person reads it: chunk = 128 x 3000 (rule 18)."""
        value = self.value
        if isinstance(value, list):
            value = " x ".join(map(str, value))
        elif isinstance(value, bool):
            value = str(value).lower()
        return one_line(f"{self.key} = {value} (rule {self.rule})")


@dataclass
class Place:
    """What is set for a file, or for a dataset of it. Whoever asks for a value says it."""

    file: str
    dataset: str
    settings: dict[str, Setting] = field(default_factory=dict)
    unsayable: list[Setting] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    asked_for: dict[str, Any] = field(default_factory=dict)  # of a chunk cache, when profiled
    opens: int = 0  # if it is opened for nearly each call
    replaces: bool = False  # chunks that the program itself gives

    @property
    def name(self) -> str:
        return one_line(f"{self.file}:{self.dataset}" if self.dataset else self.file)

    @property
    def title(self) -> str:
        """Name and rules of what was said, hints apart, for a comment."""
        return self._titled(hints=False)

    @property
    def hint_title(self) -> str:
        """The same of its hints."""
        return self._titled(hints=True)

    def _titled(self, hints: bool) -> str:
        rules = dict.fromkeys(one.rule for one in self._said(hints))
        return one_line(f"{self.name} (rule {', '.join(rules)})")

    def _said(self, hints: bool) -> list[Setting]:
        return [
            one
            for key, one in self.settings.items()
            if key in self.said and key.startswith("hint.") is hints
        ]

    @property
    def loses_caches(self) -> bool:
        """Whether a cache that was said is gone before the next call."""
        return self.opens > 0 and not self.said.isdisjoint(cache_keys)

    def reasons(self, hints: bool = False) -> list[str]:
        """Why that was said, and what it is to bring, in lines for a comment."""
        expected = "expected, if it is opened once" if self.loses_caches else "expected"
        texts = [
            f"{word}: {one_line(text)}"
            for one in self._said(hints)
            for word, text in (("why", one.why), (expected, one.expected))
            if text
        ]
        return [
            line
            for text in dict.fromkeys(texts)
            for line in textwrap.wrap(text, 90, subsequent_indent="  ", break_on_hyphens=False)
        ]

    def has(self, *keys: str) -> bool:
        """Whether one of the keys is set; says nothing."""
        return any(key in self.settings for key in keys)

    def value(self, key: str) -> Any:
        """What is set, or None; says nothing."""
        return self.settings[key].value if key in self.settings else None

    def say(self, key: str, otherwise: Any = None) -> Any:
        """The value, which counts as said now."""
        if key not in self.settings:
            return otherwise
        self.said.add(key)
        return self.settings[key].value

    @property
    def left(self) -> list[Setting]:
        """What was not said."""
        return [one for key, one in self.settings.items() if key not in self.said] + self.unsayable


def places(plan: dict[str, Any], advised: bool = True) -> list[Place]:
    """Each file and dataset with its values; what is for create and open together. With chunks
    that are advised, where the plan itself leaves the program's own."""
    found: dict[tuple[str, str], Place] = {}
    for entry in plan.get("entries", []):
        place = _place(found, entry)
        for one in entry.get("settings", []):
            _add(place, one, entry.get("when", "any"))
    for one in (plan.get("advice") or []) if advised else []:
        if one.get("chunk"):
            place = _place(found, one)
            if not place.has("chunk"):
                place.replaces = True
                _add(place, {**one, "key": "chunk", "value": one["chunk"]}, "create")
    return [place for place in found.values() if place.settings or place.unsayable]


def _place(found: dict[tuple[str, str], Place], one: dict[str, Any]) -> Place:
    file, dataset = one["file"], one["dataset"]
    return found.setdefault((file, dataset), Place(name_or_pattern(file), name_or_pattern(dataset)))


def _add(place: Place, one: dict[str, Any], when: str) -> None:
    key, because = one["key"], one["because"]
    rule = because["rule"]
    for fact in because.get("evidence", []):
        if fact["name"] == "dataset.opens":
            place.opens = int(fact["value"])
        if (cache := _asked_for(fact["name"])) is not None:
            place.asked_for.setdefault(cache, fact["value"])
    value = one.get("value", one.get("profiled"))
    if value is None:
        called = one.get("function", {}).get("name", "a function")
        note = "only known when the program runs"
        place.unsayable.append(Setting(key, f"what {called} gives", rule, note))
    elif place.value(key) not in (None, value):
        note = f"for {when}; another value stands above"
        place.unsayable.append(Setting(key, value, rule, note))
    else:
        why, expected = because.get("text", ""), because.get("effect", "")
        place.settings.setdefault(key, Setting(key, value, rule, "", why, expected))


def hints_of(place: Place) -> Iterator[tuple[str, str]]:
    """Names and values of MPI-IO hints; they count as said."""
    for key in [key for key in place.settings if key.startswith("hint.")]:
        yield key.removeprefix("hint."), str(place.say(key))


cache_keys = ("chunk_cache_bytes", "chunk_cache_slots", "chunk_cache_preemption")
Cache = tuple[int | None, int | None, float | None]


def _asked_for(fact: str) -> str | None:
    """The key that a fact of the rules of chunk caches is about."""
    key = fact.removeprefix("dataset.").removesuffix("_asked_for")
    return key if key in cache_keys and fact == f"dataset.{key}_asked_for" else None


def cache_said(place: Place) -> Cache:
    """Slots, bytes, preemption; None: the plan leaves it as it is."""
    slots, size, preemption = (
        place.say(f"chunk_cache_{part}") for part in ("slots", "bytes", "preemption")
    )
    return (
        None if slots is None else int(slots),
        None if size is None else int(size),
        None if preemption is None else float(preemption),
    )


def cache_of(place: Place) -> Cache:
    """The same for calls that set all three: what the plan leaves as it is, is what was asked for
    when the profile was taken. None: nothing was, the file has it."""
    slots, size, preemption = cache_said(place)
    asked = place.asked_for
    return (
        asked.get("chunk_cache_slots") if slots is None else slots,
        asked.get("chunk_cache_bytes") if size is None else size,
        asked.get("chunk_cache_preemption") if preemption is None else preemption,
    )


def largest_caches(found: list[Place]) -> dict[str, Place]:
    """By file: the dataset that needs the largest cache."""
    largest: dict[str, Place] = {}
    for place in found:
        if not place.has(*cache_keys):
            continue
        before = largest.get(place.file)
        if before is None or _cache_bytes(before) < _cache_bytes(place):
            largest[place.file] = place
    return largest


def _cache_bytes(place: Place) -> int:
    size = place.value("chunk_cache_bytes") or place.asked_for.get("chunk_cache_bytes")
    return int(size or 8 << 20)
