# SPDX-License-Identifier: Apache-2.0
"""The Python side of this installation."""

from __future__ import annotations

import platform
from importlib import metadata, util

from tailrace.doctor.model import Finding, Section, note, ok
from tailrace.doctor.model import missing as absent
from tailrace.native import core

_needed = ("numpy", "h5py", "netCDF4", "xxhash", "typer", "rich")


def python_section() -> Section:
    findings = [ok("Python", platform.python_version(), version=platform.python_version())]
    findings += [_module(name) for name in _needed]
    findings.append(_helper())
    return Section("python", "Python", findings)


def _module(name: str) -> Finding:
    if util.find_spec(name) is None:
        return absent(name, "missing", f"pip install {name}")
    try:
        number = metadata.version(name)
    except metadata.PackageNotFoundError:
        number = "version not told"
    return ok(name, number, version=number)


def _helper() -> Finding:
    if core() is not None:
        return ok("_core", "present (compiled helper)", available=True)
    return note(
        "_core",
        "absent: fill plugins are called through ctypes, which is slower",
        "install a C++ compiler (Debian: apt-get install g++) and `pip install` tailrace again",
        available=False,
    )
