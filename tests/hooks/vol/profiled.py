# SPDX-License-Identifier: Apache-2.0
"""Runs something under `tailrace profile` and gives its profile, held against the schema."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import jsonschema

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "support" / "python"))

from tailrace_cli import Ran, tailrace  # noqa: E402

from tailrace.intent.sources import whole_profile  # noqa: E402

SCHEMA = json.loads((SOURCE / "schemas" / "profile-1.schema.json").read_text())


def profiled(
    folder: Path, *command: str | Path, options: tuple[str, ...] = (), **changes: str | None
) -> tuple[Ran, dict[str, Any]]:
    """How it ended, and the profile."""
    ran = tailrace(
        "profile", "-o", folder / "profile.json", *options, "--", *command, cwd=folder, **changes
    )
    assert "Traceback" not in ran.err, ran.err
    text = (folder / "profile.json").read_text()
    jsonschema.validate(json.loads(text), SCHEMA)
    assert list(folder.glob("*.spools*")) == []
    return ran, whole_profile(text)


def script(folder: Path, text: str) -> list[str | Path]:
    """The command that runs a Python script."""
    file = folder / "script.py"
    file.write_text(text)
    return [sys.executable, file]


def file_of(profile: dict[str, Any], name: str) -> dict[str, Any]:
    return next(file for file in profile["files"] if Path(file["path"]).name == name)


def dataset_of(profile: dict[str, Any], name: str, path: str) -> dict[str, Any]:
    datasets = file_of(profile, name)["datasets"]
    return next(dataset for dataset in datasets if dataset["path"] == path)
