# SPDX-License-Identifier: Apache-2.0
"""What the tests of declared intents have in common."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import jsonschema

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from profiled import dataset_of, file_of, profiled, script  # noqa: E402
from tailrace_cli import Ran, tailrace  # noqa: E402

__all__ = ["BUILD", "SOURCE", "Ran", "dataset_of", "declared_of", "file_of", "intents_of",
           "profiled", "script", "tailrace"]  # fmt: skip

Json = dict[str, Any]
_schema = json.loads((SOURCE / "schemas" / "intents-1.schema.json").read_text())


def declared_of(found: Json) -> list[tuple[str, Json]]:
    """Where each declaration in a file or dataset of a profile comes from, and what it says."""
    return [(one["from"], one["intents"]) for one in found.get("declared", [])]


def intents_of(folder: Path, *options: str | Path) -> tuple[Ran, Json]:
    """What `tailrace intents` says of the profile in a folder, held against the schema."""
    target = folder / "intents.json"
    ran = tailrace("intents", folder / "profile.json", "-o", target, *options, cwd=folder)
    ran.expect(0)
    found: Json = json.loads(target.read_text())
    jsonschema.validate(found, _schema)
    return ran, found
