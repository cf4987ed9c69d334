# SPDX-License-Identifier: Apache-2.0
"""Prints content hashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tailrace.cli.output import Output
from tailrace.cli.verify_fill import worst
from tailrace.errors import TailraceError
from tailrace.verify.hashing import FileHash, hash_file, schema


def print_hashes(output: Output, files: list[Path], ignore: tuple[str, ...]) -> int:
    results: list[dict[str, Any]] = []
    codes: list[int] = []
    for path in files:
        try:
            with output.progress(path.name) as meter:
                result = hash_file(path, ignore, meter)
        except TailraceError as error:
            output.error(error)
            results.append({"file": str(path), "error": error.as_json()})
            codes.append(error.code)
            continue
        output.line(f"{result.whole}  {path}")
        for item in result.objects:
            if item.data:
                output.line(f"{item.data}  {path}:{item.path}")
        results.append(_as_json(result))
    output.json({"command": "verify", "mode": "hash", "schema": schema, "files": results})
    return worst(codes)


def _as_json(result: FileHash) -> dict[str, Any]:
    return {
        "file": str(result.path),
        "format": result.format,
        "content_hash": result.whole,
        "read_bytes": result.read_bytes,
        "objects": [
            {
                "path": item.path,
                "kind": item.kind,
                "type": item.type or None,
                "shape": None if item.shape is None else list(item.shape),
                "data_hash": item.data or None,
                "attributes_hash": item.attributes or None,
            }
            for item in result.objects
        ],
    }
