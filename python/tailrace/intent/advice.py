# SPDX-License-Identifier: Apache-2.0
"""Plans: from profiles and rules, by the compiled helper."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.intent.apply import own_hints
from tailrace.intent.declarations import read_all
from tailrace.intent.given_files import PLAN, RULES, check_it_is_a_file
from tailrace.intent.native_calls import call, intents_of
from tailrace.intent.overview import overview
from tailrace.intent.sources import read_profiles, read_text, whole_profile

Document = dict[str, Any]


def advise(
    inputs: Sequence[Path],
    rules: Sequence[Path],
    allow: Sequence[str],
    declared: Sequence[Path] = (),
) -> tuple[Document, Document, list[str]]:
    """The plan that follows, the overview of it, and what is to be said about the inputs."""
    texts, notes = read_profiles(inputs)
    declarations = read_all(declared)
    found: Document = json.loads(
        call("advise", texts, read_all(rules, RULES), list(allow), declarations)
    )
    _say_own_hints(found, os.environ)
    return found, _overview(texts, declarations, found), notes


def _say_own_hints(plan: Document, given: Mapping[str, str]) -> None:
    """Advice about variables that the environment has already, which stay."""
    for one in plan.get("environment", []):
        own = own_hints(one, given)
        if not own.text:
            continue
        name = one["name"]
        both = "; to have both, set it there" if "=" in one["value"] else ""
        advice = {
            "file": "", "dataset": "", "because": one["because"],
            "text": f"{name} of the environment stays: {own.text}. The plan's value is not put "
            f"where the program runs with it{both}",
            "commands": [f"export {name}={shlex.quote(own.both)}"] if both else [],
        }  # fmt: skip
        plan["advice"] = [*(plan.get("advice") or []), advice]


def _overview(
    texts: Sequence[tuple[str, str]], declarations: Sequence[tuple[str, str]], plan: Document
) -> Document:
    """Some inputs are profiles, others intents already."""
    documents = [whole_profile(text) for _, text in texts]
    intents = [one for one in documents if _is_intents(one)]
    profiles = [one for one in documents if not _is_intents(one)]
    named = [text for text, one in zip(texts, documents, strict=True) if not _is_intents(one)]
    if named:
        intents.insert(0, json.loads(intents_of(named, declarations, brief=True)))
    return overview(intents, profiles, plan)


def _is_intents(document: Document) -> bool:
    return str(document.get("schema", "")).startswith("tailrace-intents/")


def load(file: Path) -> Document:
    """A plan, checked."""
    check_it_is_a_file(file, PLAN)
    found: Document = json.loads(call("checked_plan", read_text(file), str(file)))
    for entry in found.get("entries", []):
        entry.setdefault("settings", [])  # what is empty is left out when it is written
    return found


def rule_table(rules: Sequence[Path]) -> Document:
    """All rules, conflicts, measures, settings and functions."""
    found: Document = json.loads(call("rule_table", read_all(rules, RULES)))
    return found
