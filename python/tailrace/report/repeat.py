# SPDX-License-Identifier: Apache-2.0
"""The command that runs the same again, made of the effective configuration."""

from __future__ import annotations

import shlex
from typing import Any

from tailrace.report.view import Json

# Keys whose list is one of lines; other lists are the words of one line.
_given_again = frozenset({"filter"})


def repeat_command(record: Json) -> str:
    """`tailrace run KERNEL key=value ...` with every key that is set, defaults included: what a
    later version changes in its defaults changes nothing here."""
    servers = (record.get("serving") or {}).get("servers", {}).get("ranks", 0)
    ranks = record["context"]["ranks"] + servers  # those of a model are without its servers
    words = ["tailrace", "run", record["kernel"], "--ranks", str(ranks)]
    for key, value in record["configuration"].items():
        words += _words(key, value)
    settings = [
        f"{name}={value}"
        for name, value in record["context"]["environment"].items()
        if name.startswith(("OMPI_MCA_io", "ROMIO_", "H5FD_", "HDF5_"))
    ]
    return shlex.join([*(["env", *settings] if settings else []), *words])


def _words(key: str, value: Any) -> list[str]:
    """A tuple as 2x2x2, a flag as 1 or 0, named values one by one."""
    if value is None or value in ("", [], {}):
        return []
    if isinstance(value, bool):
        return [f"{key}={int(value)}"]
    if isinstance(value, dict):
        return [f"{key}={name}={text}" for name, text in value.items()]
    if isinstance(value, list):
        if all(isinstance(item, int) for item in value):
            return [f"{key}={'x'.join(map(str, value))}"]
        if key in _given_again:
            return [f"{key}={item}" for item in value]
        return [f"{key}={' '.join(map(str, value))}"]
    return [f"{key}={value}"]
