# SPDX-License-Identifier: Apache-2.0
"""What `profile`, `apply` and `tune` preload, and what reads logs of Darshan."""

from __future__ import annotations

from importlib import metadata, util

from tailrace import native
from tailrace.doctor.model import Finding, Section, missing, note, ok
from tailrace.errors import TailraceError
from tailrace.intent import layers, plugin


def recording_section() -> Section:
    findings = [_connector(), *(_hook(name) for name in layers.PRELOADED), _darshan()]
    return Section("recording", "Recording and advice", findings)


def _connector() -> Finding:
    name = "HDF5 connector"
    try:
        folder = plugin.find()
        plugin.check(folder)
    except TailraceError as error:
        return missing(name, error.what, error.hint, path=None)
    return ok(name, str(folder / plugin.file_name), path=str(folder / plugin.file_name))


def _hook(layer: str) -> Finding:
    name, path = f"hook of {layer}", layers.find(layer)
    if path is None:
        text = f"not installed: `profile` records nothing of {layer}"
        return missing(name, text, native.why_missing()[1], path=None)
    if why := layers.why_not(path):
        return missing(name, f"cannot be loaded: {why}", "install tailrace anew", path=str(path))
    return ok(name, str(path), path=str(path))


def _darshan() -> Finding:
    if util.find_spec("darshan") is None:
        text = "not installed: logs of Darshan cannot be read"
        return note("PyDarshan", text, "pip install darshan", version=None)
    try:
        version = metadata.version("darshan")
    except metadata.PackageNotFoundError:
        version = "of unknown version"
    return ok("PyDarshan", version, version=version)
