# SPDX-License-Identifier: Apache-2.0
"""Small files as the seism kernel writes them, and as its definition says; nothing of ours is used.

The fills are written down a second time here, element by element with whole numbers of Python.
"""

from __future__ import annotations

import itertools
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

MASK = (1 << 64) - 1
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Case:
    processor: Triple = (2, 1, 2)
    domain: Triple = (3, 4, 5)
    steps: int = 3
    fill: str = "position"

    @property
    def extents(self) -> Triple:
        x, y, z = (p * d for p, d in zip(self.processor, self.domain, strict=True))
        return x, y, z

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return (self.steps, *self.extents)


def splitmix(number: int) -> int:
    z = (number + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def value(case: Case, t: int, x: int, y: int, z: int) -> float:
    if case.fill == "rank":
        i, j, k = x // case.domain[0], y // case.domain[1], z // case.domain[2]
        return float((i * case.processor[1] + j) * case.processor[2] + k)
    extent_x, extent_y, extent_z = case.extents
    number = ((t * extent_x + x) * extent_y + y) * extent_z + z
    return (splitmix(number & MASK) >> 40) * 2.0**-24


def data(case: Case) -> np.ndarray[Any, np.dtype[np.float32]]:
    found = np.empty(case.shape, np.float32)
    for place in itertools.product(*(range(n) for n in case.shape)):
        found[place] = value(case, *place)
    return found


def attributes(case: Case, chunk: Triple | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kernel": "seism",
        "schema": "tailrace-seism/1",
        "processor": list(case.processor),
        "domain": list(case.domain),
        "time": case.steps,
        "fill": case.fill,
    }
    return found | ({"chunk": list(chunk)} if chunk else {})


def write_hdf5(
    path: Path, case: Case, values: Any, *, chunk: Triple | None = None, **options: Any
) -> None:
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        chunks = (1, *chunk) if chunk else None
        file.create_dataset("chunked", data=values, dtype="<f4", chunks=chunks, **options)
        for name, item in attributes(case, chunk).items():
            file.attrs[name] = np.array(item, "u8") if isinstance(item, list) else item


def write_subfiled(path: Path, case: Case, values: Any, *, stripe: int = 512) -> list[Path]:
    """An HDF5 file in stripes over three subfiles, with the names of HDF5's subfiling driver."""
    write_hdf5(path, case, values)
    raw = path.read_bytes()
    stub = path.stat().st_ino
    with path.open("r+b") as file:  # the stub keeps its inode and loses everything but its head
        file.truncate(96)
        file.truncate(len(raw))
        file.seek(85)
        file.write(b"Subfilin")  # as the driver's superblock says
    names = [f"{path.name}.subfile_{stub}_{number + 1}_of_3" for number in range(3)]
    for number, name in enumerate(names):
        stripes = range(number * stripe, len(raw), 3 * stripe)
        path.with_name(name).write_bytes(b"".join(raw[at : at + stripe] for at in stripes))
    config = path.with_name(f"{path.name}.subfile_{stub}.config")
    text = f"stripe_size={stripe}\naggregator_count=3\nsubfile_count=3\n"
    config.write_text(text + "\n".join(names) + "\n")
    listed = [path.name, config.name, *names]
    manifest = path.with_name(f"{path.name}.manifest")
    manifest.write_text(json.dumps({"format": "tailrace-complete/1", "files": listed}))
    return [path.with_name(name) for name in names]


def write_classic_attribute(path: Path, case: Case, values: Any, plugin: str = "") -> None:
    """As the original kernel: only the compound attribute describes the run."""
    text = h5py.string_dtype()
    kind = np.dtype(
        {
            "names": ["name", "processor_dims", "chunk_dims", "domain_dims", "simulation_time",
                      "use_function_lib", "use_function_name", "use_function_argc",
                      "use_function_argv"],
            "formats": [text, ("<u8", 3), ("<u8", 3), ("<u8", 3), "<u4", text, text, "<i4", text],
            "offsets": [0, 8, 32, 56, 80, 120, 128, 136, 144],
            "itemsize": 184,
        }
    )  # fmt: skip
    row = np.zeros((), kind)
    row["name"], row["processor_dims"], row["domain_dims"] = "my_attr", case.processor, case.domain
    row["simulation_time"] = case.steps
    library, _, rest = plugin.partition(" ")
    function, _, arguments = rest.partition(" ")
    row["use_function_lib"], row["use_function_name"] = library, function
    row["use_function_argv"], row["use_function_argc"] = arguments, len(arguments.split())
    with h5py.File(path, "w") as file:
        file.create_dataset("chunked", data=values, dtype="<f4")
        file["seismCoreAttributes"] = kind
        file.attrs.create("simulation_attributes", row, dtype=file["seismCoreAttributes"])


def _trailer(file: Any, text: dict[str, Any]) -> None:
    at = file.tell()
    raw = json.dumps(text).encode()
    file.write(raw + struct.pack("<QQ", at, len(raw)) + b"TAILRACE")


def _attribute_list(case: Case, chunk: Triple | None) -> list[dict[str, Any]]:
    items = attributes(case, chunk).items()
    return [{"object": "/", "name": name, "value": item} for name, item in items]


def write_raw(path: Path, case: Case, values: Any, *, chunk: Triple | None = None) -> None:
    whole = (1, *chunk) if chunk else None
    with path.open("wb") as file:
        if whole is None:
            file.write(values.astype("<f4").tobytes())
        else:
            grid = [-(-n // c) for n, c in zip(case.shape, whole, strict=True)]
            for index in itertools.product(*(range(n) for n in grid)):
                full = np.zeros(whole, "<f4")
                corner = [n * c for n, c in zip(index, whole, strict=True)]
                part = values[tuple(slice(a, a + c) for a, c in zip(corner, whole, strict=True))]
                full[tuple(slice(0, n) for n in part.shape)] = part
                file.write(full.tobytes())
        stored = {
            "path": "/chunked", "type": "f32", "dims": list(case.shape),
            "chunk": list(whole) if whole else None, "offset": 0, "bytes": file.tell(),
        }  # fmt: skip
        _trailer(
            file,
            {"format": "tailrace-raw/1", "kind": "shared", "objects": [stored],
             "attributes": _attribute_list(case, chunk)},
        )  # fmt: skip


def write_per_rank(path: Path, case: Case, values: Any) -> list[Path]:
    parts = []
    for rank, (i, j, k) in enumerate(itertools.product(*(range(n) for n in case.processor))):
        part = path.with_name(f"{path.name}.{rank:05}")
        parts.append(part)
        low = [n * d for n, d in zip((i, j, k), case.domain, strict=True)]
        block = tuple(slice(a, a + d) for a, d in zip(low, case.domain, strict=True))
        pieces = []
        with part.open("wb") as file:
            for step in range(case.steps):
                pieces.append(
                    {"object": 0, "offset": [step, *low], "count": [1, *case.domain],
                     "at": file.tell()}
                )  # fmt: skip
                file.write(np.ascontiguousarray(values[(step, *block)], "<f4").tobytes())
            text = {"format": "tailrace-raw/1", "kind": "part", "rank": rank, "pieces": pieces}
            _trailer(file, text)
    stored = {"path": "/chunked", "type": "f32", "dims": list(case.shape)}
    manifest = {
        "format": "tailrace-raw/1", "kind": "per-rank", "objects": [stored],
        "attributes": _attribute_list(case, None), "parts": [part.name for part in parts],
    }  # fmt: skip
    path.write_text(json.dumps(manifest))
    return parts
