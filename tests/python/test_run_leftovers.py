# SPDX-License-Identifier: Apache-2.0
"""What `run seism` removes after an interrupt, and what it makes of a damaged results file."""

from __future__ import annotations

import fcntl
from pathlib import Path

from tailrace.cli.run_command import _given_up, _records


def test_a_file_whose_lock_somebody_holds_is_not_given_up(tmp_path: Path) -> None:
    lock = tmp_path / "out.h5.part.lock"
    assert not _given_up(lock)
    lock.write_text("process 1 on host\n")
    assert _given_up(lock)
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not _given_up(lock)
    assert _given_up(lock)


def test_half_a_line_of_a_killed_run_is_passed_over(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text('{"repetition": 0}\n{"repetition": 1\n\n{"repetition": 2}\n')
    assert [record["repetition"] for record in _records(results, 0)] == [0, 2]
    assert _records(tmp_path / "nowhere.jsonl", 0) == []
