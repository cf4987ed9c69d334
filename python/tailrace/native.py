# SPDX-License-Identifier: Apache-2.0
"""The compiled helper `_core`, which is there when the package was built with a compiler."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from tailrace.errors import ExitCode, TailraceError

_remedy = (
    "install a C++ compiler (Debian: apt-get install g++), then `pip install --force-reinstall "
    "--no-deps .` or `make build` in a clone of tailrace"
)


@cache
def core() -> ModuleType | None:
    """The helper: of the installed package, or of the build tree that TAILRACE_BUILD_DIR names."""
    try:
        return importlib.import_module("tailrace._core")
    except ImportError:
        pass
    build = os.environ.get("TAILRACE_BUILD_DIR")
    if not build:
        return None
    for file in sorted(Path(build).glob("bindings/python/tailrace/_core*.so")):
        spec = importlib.util.spec_from_file_location("tailrace._core", file)
        if spec is None or spec.loader is None:
            continue
        try:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        except ImportError:  # built for another Python
            continue
        sys.modules["tailrace._core"] = module
        return module
    return None


def why_missing() -> tuple[str, str]:
    """Why the compiled parts were left out, where that was noted, and how to get them."""
    try:
        from tailrace._not_compiled import cause, remedy
    except ImportError:
        return "", _remedy
    return str(cause), str(remedy)


def missing(what: str, where: str = "") -> TailraceError:
    """The error of a command that wants one of the compiled parts, which is not there."""
    cause, remedy = why_missing()
    why = f": when tailrace was installed, {cause}" if cause else ""
    return TailraceError(what + why, where=where, hint=remedy, code=ExitCode.CAPABILITY_MISSING)
