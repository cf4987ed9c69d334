# SPDX-License-Identifier: Apache-2.0
"""The Python side of this installation."""

from __future__ import annotations

import platform
from importlib import metadata, util

from tailrace.doctor.model import Finding, Section, ok
from tailrace.doctor.model import missing as absent
from tailrace.native import core, why_missing

_needed = ("numpy", "h5py", "netCDF4", "xxhash", "typer", "rich", "msgspec", "pandas", "jinja2")


def python_section() -> Section:
    version = platform.python_version()
    lacking = [name for name in _needed if util.find_spec(name) is None]
    findings = [ok("Python", version, version=version), _modules(lacking)]
    findings += [absent(name, "missing", f"pip install {name}") for name in lacking]
    findings.append(_helper())
    return Section("python", "Python", findings)


def _modules(lacking: list[str]) -> Finding:
    found = {name: _version(name) for name in _needed if name not in lacking}
    return ok("modules", ", ".join(f"{name} {number}" for name, number in found.items()), **found)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "of unknown version"


def _helper() -> Finding:
    if core() is not None:
        return ok("_core", "present (compiled helper)", available=True)
    cause, remedy = why_missing()
    text = f"the compiled helper is missing{cause and ': when tailrace was installed, '}{cause}"
    return absent("_core", f"{text}; fill plugins are slower", remedy, available=False)
