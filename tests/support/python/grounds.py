# SPDX-License-Identifier: Apache-2.0
"""Runs in the user's own folder, without the runs."""

from __future__ import annotations

from pathlib import Path

from tailrace.sandbox import survey
from tailrace.sandbox.home_folder import InPlace


def home_in(folder: Path) -> Path:
    """A user's folder with two files."""
    home = folder / "home"
    (home / "sub").mkdir(parents=True)
    (home / "one").write_bytes(b"one")
    (home / "sub" / "two").write_bytes(b"two")
    return home


def ground_of(home: Path, linked: tuple[str, ...] = ()) -> InPlace:
    ours = {home / "tailrace-tune"}
    made = InPlace(home, home / "tailrace-tune/scratch", survey.survey(home, ours, linked), ours)
    made.fill()
    return made


def contents(home: Path) -> dict[str, tuple[bytes, int]]:
    """Of all files but ours: what is in them, and their times."""
    return {
        str(path.relative_to(home)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(home.rglob("*"))
        if path.is_file() and home / "tailrace-tune" not in path.parents
    }
