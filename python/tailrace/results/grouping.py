# SPDX-License-Identifier: Apache-2.0
"""Records that belong together: of equal settings, or of one run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tailrace.results.model import Record, Settings
from tailrace.results.texts import text_of

# What people compare; others, early_allocation say, only follow from these.
_telling = (
    "kernel", "format", "collective_write", "chunk", "deflate", "zfp", "filter", "subfile", "fsync",
    "processor", "domain", "time", "ranks",
)  # fmt: skip


@dataclass(eq=False)
class Group:
    """At least one Record, in the order in which they were read.

    name: what tells this group from the others it was made with, for example
    `chunk=16x16x16 collective_write=true`; unique among them.
    """

    name: str
    records: list[Record]

    @property
    def settings(self) -> Settings:
        """Of the first one; of a group by settings that of all."""
        return self.records[0].settings

    @property
    def kernel(self) -> str:
        return self.settings.kernel

    @property
    def runs(self) -> list[str]:
        """The run ids, each once."""
        return list(dict.fromkeys(record.run_id for record in self.records))

    @property
    def timed(self) -> list[Record]:
        """Those that statistics may use: they ended well, and are no warm-ups."""
        return [record for record in self.records if record.timed]

    @property
    def warm_ups(self) -> list[Record]:
        return [record for record in self.records if record.warm_up]

    @property
    def failed(self) -> list[Record]:
        return [record for record in self.records if not record.ok]

    def values(self, name: str) -> list[float]:
        """A figure of the timed Records, for example `durable_bytes_per_s`, where there is one."""
        found = (getattr(record, name) for record in self.timed)
        return [float(value) for value in found if value is not None]

    def typical(self) -> Record:
        """The timed Record with the median (of two the shorter) durable time, to show in detail;
        the last Record where none is timed."""
        timed = [record for record in self.timed if record.durable_s is not None]
        if not timed:
            return self.records[-1]
        timed.sort(key=lambda record: record.durable_s or 0.0)
        return timed[(len(timed) - 1) // 2]


def group(records: Iterable[Record], by: Literal["settings", "run"] = "settings") -> list[Group]:
    """Groups in the order of their first Records.

    settings: equal kernel, effective configuration (names of files and the number of repetitions
    apart), machine, place, libraries, ranks, commit and steering environment. run: equal run id.
    """
    found: dict[object, list[Record]] = {}
    for record in records:
        key = record.settings if by == "settings" else record.run_id
        found.setdefault(key, []).append(record)
    firsts = [one[0] for one in found.values()]
    names = (
        _run_names(list(found))
        if by == "run"
        else _sweep_names(firsts) or _names([first.settings for first in firsts])
    )
    return [Group(name, one) for name, one in zip(names, found.values(), strict=True)]


def differing_keys(settings: list[Settings]) -> list[str]:
    """Keys of Settings.flat that have not the same value everywhere; the most telling ones first,
    then the rest of the configuration, then of the context."""
    first: dict[str, None] = dict.fromkeys(_telling)
    for one in settings:
        first |= dict.fromkeys(sorted(one.configuration))
    for one in settings:
        first |= dict.fromkeys(one.flat)
    absent = object()
    return [
        key
        for key in first
        if any(one.flat.get(key, absent) != settings[0].flat.get(key, absent) for one in settings)
    ]


def _names(settings: list[Settings]) -> list[str]:
    """As few differing keys as tell the groups apart; of a single group what it is."""
    if len(settings) == 1:
        only = settings[0]
        words = [only.kernel, text_of(only.configuration.get("format", ""))]
        return [" ".join([*filter(None, words), f"on {only.context['ranks']} ranks"])]
    names = [""] * len(settings)
    for key in differing_keys(settings):
        longer = [
            f"{name} {key}={text_of(one.flat[key]) if key in one.flat else 'absent'}".strip()
            for name, one in zip(names, settings, strict=True)
        ]
        if len(set(longer)) > len(set(names)):
            names = longer
        if len(set(names)) == len(names):
            return names
    return [f"{name} #{number}".strip() for number, name in enumerate(names, 1)]


def _sweep_names(firsts: list[Record]) -> list[str]:
    """As the sweep shows its combinations; empty where not all are of one sweep."""
    arms = [first.arm for first in firsts if first.arm is not None]
    words = [word for arm in arms for word in arm.words]
    one_sweep = len({arm.comparison for arm in arms}) == 1 and all("=" in word for word in words)
    if not one_sweep or len(arms) != len(firsts) or len(firsts) < 2:
        return []
    # A combination whose file was read back in the end has runs of other settings besides.
    names = []
    for first, arm in zip(firsts, arms, strict=True):
        others = [one.settings for one in firsts if one.arm and one.arm.shown == arm.shown]
        key = next(iter(differing_keys(others)), "")
        value = text_of(first.settings.flat.get(key)) if key else ""
        names.append(f"{arm.shown} {key}={value}" if key else arm.shown)
    return names if len(set(names)) == len(names) else []


def _run_names(run_ids: list[object]) -> list[str]:
    return [f"run {run_id}" for run_id in run_ids]
