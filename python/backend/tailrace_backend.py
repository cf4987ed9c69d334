# SPDX-License-Identifier: Apache-2.0
"""scikit-build-core, after noting the commit that is being packed. If nothing can be compiled, the
package is built without the compiled parts, and says why."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from compile_failure import cause_and_remedy
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
_package = _root / "python" / "tailrace"
_pure = {"wheel.cmake": "false", "wheel.py-api": "py3"}


def _prepare() -> None:
    """Outside a checkout (a source archive) the note that came along is kept."""
    (_package / "_not_compiled.py").unlink(missing_ok=True)
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
    _write("_commit.py", commit=run.stdout.strip())


def _write(name: str, **values: str) -> None:
    lines = [f"{key} = {value!r}\n" for key, value in values.items()]
    text = "# Written when the package was built.\n" + "".join(lines)
    note = _package / name
    if not note.exists() or note.read_text(encoding="utf-8") != text:
        note.write_text(text, encoding="utf-8")


def _built(
    build: Callable[..., str], folder: str, given: dict[str, Any] | None, metadata: str | None
) -> str:
    """With the compiled parts; without them if they cannot be compiled, unless they are asked for
    by wheel.cmake=true."""
    _prepare()
    try:
        with _kept_output() as kept:
            return build(folder, given, metadata)
    except SystemExit:  # what it said has been printed
        if given and "wheel.cmake" in given:
            raise
        cause, remedy = cause_and_remedy(kept.decode("utf-8", "replace"), _root)
        _write("_not_compiled.py", cause=cause, remedy=remedy)
        print(
            f"tailrace: warning: installed without its compiled parts: {cause}\n"
            f"          hint: {remedy}", file=sys.stderr, flush=True,
        )  # fmt: skip
        return build(folder, {**(given or {}), **_pure}, metadata)


@contextmanager
def _kept_output() -> Iterator[bytearray]:
    """What this process and the compilers below it print: still printed, and kept."""
    kept = bytearray()
    reading, writing = os.pipe()
    before = [os.dup(1), os.dup(2)]

    def pass_on() -> None:
        while piece := os.read(reading, 1 << 16):
            kept.extend(piece)
            with suppress(OSError):  # nobody reads it any more: the compilers go on
                os.write(before[0], piece)

    thread = threading.Thread(target=pass_on, daemon=True)
    thread.start()
    for number in (1, 2):
        os.dup2(writing, number)
    os.close(writing)
    try:
        yield kept
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, old in zip((1, 2), before, strict=True):
            os.dup2(old, number)
        thread.join(1)  # what a process left in the background holds is not waited for
        if not thread.is_alive():
            for number in (reading, *before):
                os.close(number)


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    return _built(_build.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    return _built(_build.build_editable, wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    _prepare()
    return _build.build_sdist(sdist_directory, config_settings)
