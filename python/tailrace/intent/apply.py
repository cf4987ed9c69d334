# SPDX-License-Identifier: Apache-2.0
"""Applying a plan: the compiled file, the environment, and what became of each setting."""

from __future__ import annotations

import difflib
import json
import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.globs import fits, matches, name_of
from tailrace.intent import proof
from tailrace.intent.native_calls import call
from tailrace.units import plural

Document = dict[str, Any]
_short_s = 10.0
only_by_hdf5 = "hints reach only the files that HDF5 opens"
hash_reads = "TAILRACE_DELIVERED"  # 1: the connector hashes what H5Dread gives


@dataclass
class Line:
    """One rule's setting: what became of it, where and how often."""

    rule: str
    setting: str
    became: str
    reason: str = ""
    value: str = ""
    count: int = 0
    places: list[str] = field(default_factory=list)
    processes: str = ""


def classes_of(plan: Document) -> set[str]:
    """Those of its settings and variables."""
    settings = (one for entry in plan.get("entries", []) for one in entry["settings"])
    return {one.get("class", "safe") for one in (*settings, *plan.get("environment", []))}


def options_for(classes: Collection[str]) -> list[str]:
    """What `tailrace apply` has to be told so that no setting of these stays out."""
    return ["--allow", "collective"] if "collective" in classes else []


def why_not_collective(plan: Document, allowed: Sequence[str], command: Sequence[str]) -> str:
    """Why settings that all ranks have to take part in stay out; "": the run is a proven one."""
    if "collective" not in classes_of(plan):
        return ""
    if "collective" not in allowed:
        return "collective: it needs --allow collective, and the very run that was proven"
    if "proof" not in plan:
        return "collective: the plan has no proof of a run with it"
    differences = proof.differences(plan, command)
    return f"collective: not the proven run: {'; '.join(differences)}" if differences else ""


def why_no_variables(plan: Document, command: Sequence[str]) -> str:
    """Why variables of that class stay out of a proven run all the same; "": they do not."""
    is_any = any(one.get("class") == "collective" for one in plan.get("environment", []))
    why = proof.why_not_seen(plan, command) if is_any else ""
    return f"collective: {why}" if why else ""


def without_collective(
    plan: Document, reason: str, of_variables: str = ""
) -> tuple[Document, list[Line]]:
    """The plan without its collective settings, and those; with all where there is no reason, and
    then each only for the number of ranks that was proven. of_variables: a reason for these."""
    held: list[Line] = []
    entries = []
    for entry in plan.get("entries", []):
        kept = []
        for setting in entry.get("settings", []):
            if setting["class"] != "collective":
                kept.append(setting)
                continue
            if not reason:
                proven = plan.get("proof", {}).get("ranks")
                ranks = {"ranks": proven} if proven and "ranks" not in setting else {}
                kept.append({**setting, **ranks})
                continue
            held.append(
                Line(setting["because"]["rule"], setting["key"], "held", reason,
                     places=[_place(entry["file"], entry.get("dataset", ""))])
            )  # fmt: skip
        if kept:
            entries.append({**entry, "settings": kept})
    variables = []
    reason = reason or of_variables
    for one in plan.get("environment", []):
        if reason and one.get("class") == "collective":
            held.append(Line(one["because"]["rule"], one["name"], "held", reason))
        else:
            variables.append(one)
    changed = {key: value for key, value in plan.items() if key != "hash"}
    return {**changed, "entries": entries, "environment": variables}, held


def note_on_short_run(plan: Document, elapsed_s: float, command: Sequence[str]) -> str:
    """What the start of the hooks may have cost a run that was not proven to be faster; "": they
    are too small a part of it."""
    if elapsed_s > _short_s or "proof" in plan:
        return ""
    return (
        f"the run took {elapsed_s:.1f} s, and the start of the hooks may take some tenths of a "
        "second of it. Nothing proves yet that this plan pays. To measure it: "
        f"tailrace tune -- {shlex.join(command)}"
    )


def compiled(plan: Document, where: str) -> bytes:
    """The flat form that the hooks read."""
    return bytes(call("compiled_plan", json.dumps(plan), where))


def variables(
    plan: Document, given: Mapping[str, str] = os.environ
) -> tuple[dict[str, str], list[Line]]:
    """What the plan has for the environment, and what became of it: the user's own stay."""
    added: dict[str, str] = {}
    lines = []
    for one in plan.get("environment", []):
        line = Line(one["because"]["rule"], one["name"], "applied", value=one["value"], count=1)
        if one["name"] in given and given[one["name"]] != one["value"]:
            line.became = "kept"
            line.reason = f"the environment has its own, {own_hints(one, given).text}"
        else:
            added[one["name"]] = one["value"]
        lines.append(line)
    return added, lines


@dataclass
class OwnHints:
    """A variable of a plan that the environment has too."""

    text: str = ""  # in words: what differs, and what is not put because of it
    both: str = ""  # a value with all of them, where the environment's own win


def own_hints(variable: Document, given: Mapping[str, str] = os.environ) -> OwnHints:
    """Which parts of `a=1;b=2` differ from those of the environment."""
    name, value = variable["name"], variable["value"]
    if given.get(name, value) == value:
        return OwnHints()
    own = dict(part.split("=", 1) for part in given[name].split(";") if "=" in part)
    wanted = dict(part.split("=", 1) for part in value.split(";") if "=" in part)
    against = [
        f"{key}={own[key]} against {key}={text}"
        for key, text in wanted.items()
        if own.get(key, text) != text
    ]
    missing = [f"{key}={text}" for key, text in wanted.items() if key not in own]
    words = [", ".join(against)] if against else []
    words += [f"without {', '.join(missing)}"] if missing else []
    both = ";".join([*filter(None, given[name].split(";")), *missing])
    return OwnHints("; ".join(words) or given[name] or "empty", both)


def outcomes(folder: Path) -> Document:
    """What the processes noted down."""
    found: Document = json.loads(call("outcomes_of_spools", str(folder)))
    return found


def lines_of(plan: Document, found: Document) -> list[Line]:
    """A line for each setting of the plan and each thing that became of it."""
    joined: dict[tuple[str, ...], Line] = {}
    for one in found["outcomes"]:
        if one["became"] in {"met", "unmatched"}:
            continue
        key = tuple(one.get(name, "") for name in ("rule", "setting", "became", "reason", "value"))
        rule, setting, became, reason, value = key
        line = joined.setdefault(key, Line(rule, setting, became, reason, value))
        line.count += one["count"]
        line.places.append(_place(one["file"], one.get("dataset", "")))
        line.processes = one["processes"]
    met = [line for line in joined.values() if line.rule or line.setting == "transfer"]
    whole_files = [line for line in joined.values() if line not in met]
    return [*met, *whole_files, *_not_met(plan, found)]


def _not_met(plan: Document, found: Document) -> list[Line]:
    """Settings of entries that nothing was met for, though it may have been for another entry."""
    missing: dict[tuple[str, str, str], Line] = {}
    became = _settings_by_place(found)
    anywhere = {one for datasets in became.values() for here in datasets.values() for one in here}
    surely = anywhere if found.get("dropped") else set()  # not every place was noted down
    for entry in plan.get("entries", []):
        here = _at(entry, became)
        for setting in entry["settings"]:
            rule, key = setting["because"]["rule"], setting["key"]
            if (rule, key) in here | surely:
                continue
            reason = _why_not_met(entry, key, found)
            if "ranks" in setting:
                reason += f"; it is for files of {plural(setting['ranks'], 'rank')}"
            line = missing.setdefault((rule, key, reason), Line(rule, key, "not met", reason))
            line.places.append(_place(entry["file"], entry.get("dataset", "")))
    return list(missing.values())


Places = dict[str, dict[str, set[tuple[str, str]]]]  # rule and setting, by file and dataset


def _settings_by_place(found: Document) -> Places:
    """What something was noted down of: a tune may have thousands of each."""
    places: Places = {}
    for one in found["outcomes"]:
        if "rule" in one:
            datasets = places.setdefault(one.get("file", ""), {})
            here = datasets.setdefault(one.get("dataset", ""), set())
            here.add((one["rule"], one["setting"]))
    return places


def _at(entry: Document, places: Places) -> set[tuple[str, str]]:
    """What was noted down of the places that an entry is for."""
    wanted = entry.get("dataset", "")
    only = name_of(wanted)
    here: set[tuple[str, str]] = set()
    for file, datasets in places.items():
        if not fits(file, entry["file"]):
            continue
        if not wanted:
            names = list(datasets)
        elif only is not None:
            names = [only]
        else:
            names = [name for name in datasets if matches(name, wanted)]
        here.update(*(datasets.get(name, set()) for name in names))
    return here


def _why_not_met(entry: Document, key: str, found: Document) -> str:
    met = [one["file"] for one in found["outcomes"] if one["became"] == "met"]
    seen = {layer for process in found["processes"] for layer in process["layers"]}
    if not seen and found.get("ended"):
        return (
            f"nothing was recorded before the program ended with {found['ended']} "
            "(run it without tailrace to see whether it does so too)"
        )
    if "hdf5" not in seen and not (seen and key.startswith("hint.")):
        without = "no process used HDF5 1.14 or newer as a shared library"
        return without + (", or opened a file by MPI-IO" if key.startswith("hint.") else "")
    if any(fits(file, entry["file"]) for file in met):
        if not entry.get("dataset"):
            return "the file was not created or opened in the way that the entry is for"
        nearest = _nearest_dataset(entry, found)
        return "no such dataset was created or opened in the way that the entry is for" + nearest
    whole = "/" in entry["file"]
    opened = {one["file"] for one in found["outcomes"] if "file" in one}
    names = {file if whole else file.rsplit("/", 1)[-1]: file for file in sorted(opened)}
    near = difflib.get_close_matches(entry["file"], names, n=1, cutoff=0.3)
    return "no such file was opened" + (f"; the nearest was {names[near[0]]}" if near else "")


def _nearest_dataset(entry: Document, found: Document) -> str:
    """Of the names that no entry was for."""
    names = {
        one["dataset"]
        for one in found["outcomes"]
        if one["became"] == "unmatched" and one.get("dataset") and fits(one["file"], entry["file"])
    }
    others = sorted(name for name in names if not matches(name, entry["dataset"]))
    near = difflib.get_close_matches(entry["dataset"], others, n=1, cutoff=0.3)
    return f"; the nearest was {near[0]}" if near else ""


def _place(file: str, dataset: str) -> str:
    return f"{file}:{dataset}" if dataset else file
