# SPDX-License-Identifier: Apache-2.0
"""The limit of the machine in a report."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import a_record, a_run, with_limit
from report_pages import FAST, Page, page_of

ARMS = {"file_per_rank": 900.0, "file_per_rank_fsync": 200.0, "shared_file_fsync": 400.0,
        "mpi_io": None, "memory_copy": 9000.0}  # fmt: skip


def test_the_fastest_plain_way_with_fsync_is_the_line(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, [with_limit(record, ARMS) for record in a_run(FAST)]))
    assert page.count("s1-throughput", "line", "level limit") == 1 + 1
    assert "limit: one shared file, fsync: 400.0 MiB/s" in page.figures["s1-throughput"]["text"]
    assert "durable is 0.32 of it" in page.text


def test_arms_and_kernel_stand_side_by_side(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, [with_limit(record, ARMS) for record in a_run(FAST)]))
    figure = page.figures["s1-limit"]
    rows = {row[0]: row[1:] for row in figure["rows"][1:]}
    assert set(rows) == {name for name, rate in ARMS.items() if rate}
    assert rows["shared_file_fsync"][1:] == ["400.0", "400.0", "400.0", "durable", "0.3200"]
    assert rows["file_per_rank"][4] == "aggregate"
    assert page.count("s1-limit", "rect", "bar") == 3 + 2 + 2, "arms, the kernel, the legend"
    assert "this kernel, durable" in figure["text"]
    assert "Not drawn: memory copy, 9,000 MiB/s." in figure["text"]


def test_an_arm_that_failed_is_told(tmp_path: Path) -> None:
    records = [with_limit(record, ARMS) for record in a_run(FAST[:2])]
    records.append(with_limit(a_record(run="run-a", repetition=9), {**ARMS, "mpi_io": 300.0}))
    page = Page(page_of(tmp_path, records))
    assert "MPI-IO failed: disk is full." in page.figures["s1-limit"]["text"]


def test_without_a_limit_there_is_no_line(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, a_run(FAST)))
    assert "s1-limit" not in page.figures
    assert page.count("s1-throughput", "line", "level limit") == 0
    assert "Limit of the machine" not in page.text


def test_runs_of_the_limit_alone(tmp_path: Path) -> None:
    """They have no file, no phases and no rates of a kernel."""
    bare = {
        "kernel": "limit", "phases": {}, "steps": [],
        "bytes": dict.fromkeys(("logical", "stored", "allocated")),
        "elapsed": dict.fromkeys(("durable_s", "write_s", "aggregate_s")),
        "writers": {"measured": False, "ranks_that_wrote": None, "list": []},
        "file": {"path": "out.h5", "parts": [], "settings": {}, "durable": False},
    }  # fmt: skip
    records = []
    for record in a_run(FAST):
        record["rates"] = dict.fromkeys(record["rates"])
        records.append(with_limit(record | bare, ARMS))
    page = Page(page_of(tmp_path, records))
    assert list(page.figures) == ["s1-limit"]
    assert "Plain means wrote 64.0 MiB from 4 ranks: 6 measured repetitions" in page.text
    assert "Requested, and what happened" not in page.text and "verified" not in page.text


@pytest.mark.parametrize("limit", [None, {"order": [], "arms": {}}])
def test_a_limit_that_is_empty(tmp_path: Path, limit: object) -> None:
    page = Page(page_of(tmp_path, [record | {"limit": limit} for record in a_run(FAST)]))
    assert "s1-limit" not in page.figures
