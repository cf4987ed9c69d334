# SPDX-License-Identifier: Apache-2.0
"""Plans of `tailrace advise` for runs that have a fresh folder each."""

from __future__ import annotations

import json
from typing import Any

from .cases import RunFailed

Json = dict[str, Any]


def by_name(plan: Json, may_be_empty: bool = False) -> Json:
    """The plan for files of the same names in any folder: each run has a fresh one. An empty one,
    where all was held back, has `tailrace apply` start the program without hooks."""
    named = {key: value for key, value in plan.items() if key != "hash"}
    if not plan.get("entries"):
        if not may_be_empty:
            raise RunFailed("the plan sets nothing")
        return named
    entries = [entry | {"file": entry["file"].rsplit("/", 1)[-1]} for entry in plan["entries"]]
    return named | {"entries": entries}


def applied(printed: str) -> Json:
    """What `tailrace apply --json` says of the settings."""
    lines = json.loads(printed)["lines"]
    if not lines:
        return {"plan": {}}
    found = {line["setting"]: line["became"] for line in lines}
    if "applied" not in found.values():
        raise RunFailed(f"nothing of the plan was applied: {found}")
    return {"plan": found}
