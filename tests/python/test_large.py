# SPDX-License-Identifier: Apache-2.0
"""Over 2^31 elements and 2^32 bytes, in bounded memory. The files are sparse."""

from __future__ import annotations

import json
import resource
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest
import seism_files as files
from tailrace_cli import tailrace

CASE = files.Case((1, 1, 1), (1100, 1024, 1024), 2, "rank")
ELEMENTS = 2 * 1100 * 1024 * 1024


def write_sparse_hdf5(path: Path) -> None:
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple(CASE.shape)
        h5py.h5d.create(file.id, b"chunked", h5py.h5t.IEEE_F32LE, space, creation)
        for name, item in files.attributes(CASE).items():
            file.attrs[name] = item
        file["chunked"][-1, -1, -1, -1] = 5


def write_sparse_raw(path: Path) -> None:
    stored = {"path": "/chunked", "type": "f32", "dims": list(CASE.shape), "chunk": None,
              "offset": 0, "bytes": 4 * ELEMENTS}  # fmt: skip
    attributes = [
        {"object": "/", "name": name, "value": item}
        for name, item in files.attributes(CASE).items()
    ]
    text = json.dumps(
        {
            "format": "tailrace-raw/1",
            "kind": "shared",
            "objects": [stored],
            "attributes": attributes,
        }
    ).encode()
    with path.open("wb") as file:
        file.seek(4 * ELEMENTS - 4)
        file.write(struct.pack("<f", 5))
        file.write(text + struct.pack("<QQ", 4 * ELEMENTS, len(text)) + b"TAILRACE")


@pytest.mark.timeout(280)
@pytest.mark.parametrize("write", [write_sparse_hdf5, write_sparse_raw])
def test_the_last_element_is_found_and_memory_stays_bounded(
    write: Callable[[Path], None],
) -> None:
    # In memory, where reading a hole costs nothing; on a disk it would fill the page cache.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        write(Path(folder) / "f")
        ran = tailrace("verify", "--json", Path(folder) / "f", timeout=270).expect(3)
    found = ran.json["files"][0]
    assert (found["correct"], found["wrong"]) == (ELEMENTS - 1, 1)
    assert found["first_wrong"][0]["position"] == [1099, 1023, 1023]
    greatest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    assert greatest < 200 << 20
