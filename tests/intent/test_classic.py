# SPDX-License-Identifier: Apache-2.0
"""The published H5Intent form, with right values where the original's are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tailrace.intent.native_calls import intents_of

Json = dict[str, Any]


def classic(dataset: Json, ranks: int = 4) -> tuple[Json, Json]:
    """The published form of one file and of its one dataset."""
    profile = {
        "schema": "tailrace-profile/1",
        "origin": {"kind": "darshan", "command": "", "version": "", "start": ""},
        "run": {"ranks": ranks},
        "files": [
            {
                "path": "/a.h5",
                "processes": f"0-{ranks - 1}",
                "hdf5": {"opens": ranks},
                "datasets": [
                    {"path": "/x", "interface": "hdf5", "processes": f"0-{ranks - 1}",
                     "type": {"class": "", "bytes": 8}, "ndims": 2, "elements": 600,
                     "dims": [20, 30], **dataset}
                ],
            }
        ],
    }  # fmt: skip
    found = json.loads(intents_of([("p", json.dumps(profile))], classic=True))
    return found["files"]["/a.h5"], found["datasets"]["/a.h5:/x"]


def moved(calls: int, count_bytes: int, start: float, **more: Any) -> Json:
    active = {"start_s": start, "end_s": start + 1}
    return {"calls": calls, "bytes": count_bytes, "active": active, **more}


def test_every_published_field_is_there() -> None:
    file, dataset = classic({"writes": moved(4, 4800, 0)})
    assert set(dataset) == {
        "filename", "dataset_name", "ndims", "session_io", "type", "top_accessed_segments",
        "transfer_size_dist", "process_sharing", "fs_size", "sharing_pattern", "mode",
    }  # fmt: skip
    assert set(file) == {
        "session_io", "mode", "process_sharing", "fs_size", "sharing_pattern", "ap_distribution",
        "top_accessed_segments", "transfer_size_dist", "ds_size_dist",
    }  # fmt: skip
    assert dataset["process_sharing"] == [0, 1, 2, 3]
    assert file["session_io"]["write_timestamp"] == [0.0, 1.0]  # the original: always 0


@pytest.mark.parametrize(
    ("dataset", "kind", "mode"),
    [
        ({"writes": moved(1, 8, 0)}, 0, 0),
        ({"reads": moved(1, 8, 0)}, 1, 1),
        ({"writes": moved(1, 8, 0), "reads": moved(1, 8, 2)}, 2, 2),
        ({"writes": moved(1, 8, 2), "reads": moved(1, 8, 0)}, 3, 2),
        ({"writes": moved(1, 8, 0), "extensions": {"calls": 2}}, 0, 3),
        ({}, 3, 2),
    ],
)
def test_type_and_mode(dataset: Json, kind: int, mode: int) -> None:
    file, found = classic(dataset)
    assert (found["type"], found["mode"]) == (kind, mode)
    assert file["mode"] == mode  # the original labels what is read and written WRITE_ONLY
    assert file["ap_distribution"] == {str(k): int(k == kind) for k in range(4)}


def test_a_whole_transfer_has_a_size() -> None:
    shape = {"selection": "all", "calls": 4, "call_bytes": 4800}
    file, dataset = classic({"writes": moved(4, 19200, 0, whole=4, shapes=[shape])})
    assert dataset["transfer_size_dist"] == {"1": 600, "2": 0, "3": 0}  # the original: 0
    assert dataset["top_accessed_segments"]["1"] == {
        "length": [20, 30], "count": 4, "stride": [1, 1], "access": 4800
    }  # fmt: skip
    assert file["transfer_size_dist"]["1"] == {"sum": 600, "count": 1}
    assert file["transfer_size_dist"]["2"] == {"sum": 0, "count": 0}
    assert file["top_accessed_segments"]["1"]["count"] == 4  # the original: empty


def test_a_size_is_that_of_the_dataset_not_the_bytes_moved() -> None:
    file, dataset = classic({"writes": moved(4, 999 * 4800, 0)})
    assert dataset["fs_size"] == 4800
    assert file["ds_size_dist"] == {"sum": 4800, "count": 1}


@pytest.mark.parametrize(
    ("asked", "ranks", "pattern"), [(True, 4, 1), (False, 4, 0), (None, 4, 2), (None, 1, 0)]
)
def test_shared_does_not_mean_collective(asked: bool | None, ranks: int, pattern: int) -> None:
    _, dataset = classic({"writes": moved(4, 8, 0), "requested_collective": asked}, ranks)
    assert dataset["sharing_pattern"] == pattern


def test_the_kth_size_is_that_of_the_kth_segment() -> None:
    """Also among shapes that are as frequent, whichever comes first in the profile."""
    shapes = [{"selection": "hyperslab", "length": [1, n], "stride": [1, 1], "calls": 2,
               "call_bytes": 8 * n} for n in (5, 30, 20)]  # fmt: skip
    _, dataset = classic({"reads": {"calls": 6, "bytes": 880, "shapes": shapes}})
    lengths = [dataset["top_accessed_segments"][k]["length"] for k in "123"]
    assert lengths == [[1, 30], [1, 20], [1, 5]]
    assert dataset["transfer_size_dist"] == {"1": 30, "2": 20, "3": 5}
