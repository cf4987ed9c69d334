# SPDX-License-Identifier: Apache-2.0
"""scikit-build-core, after noting the commit that is being packed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

_root = Path(__file__).resolve().parents[2]
_note = _root / "python" / "tailrace" / "_commit.py"


def _write_commit() -> None:
    """Outside a checkout (a source archive) the note that came along is kept."""
    try:
        run = subprocess.run(
            ["git", "-C", str(_root), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return
    text = f'# Written when the package was built.\ncommit = "{run.stdout.strip()}"\n'
    if not _note.exists() or _note.read_text(encoding="utf-8") != text:
        _note.write_text(text, encoding="utf-8")


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    _write_commit()
    return _build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    _write_commit()
    return _build.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    _write_commit()
    return _build.build_sdist(sdist_directory, config_settings)
