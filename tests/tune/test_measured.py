# SPDX-License-Identifier: Apache-2.0
"""What the time of a run is, and what is said where the machine was not as it was to be."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune import measurement
from tailrace.tune.measurement import Runner, Setting

SYNC_S = 0.2


def runner_of(home: Path, script: str = "open('out', 'w').write('x')") -> Runner:
    root = home.parent / "scratch"
    ground = Scratch(home, root, survey(home, set()), set())
    ground.fill()
    return Runner(Setting([sys.executable, "-S", "-c", script], home, root), ground)


def test_the_time_of_a_run_ends_when_what_it_wrote_is_on_the_disk(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = runner_of(home)
    synced: list[Path] = []
    sync = os.fsync

    def slow(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        time.sleep(SYNC_S)
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", slow)
        found = runner.run("one", None, 60)
    folder = home.parent.resolve() / "scratch/run/home"
    assert {folder / "out", folder} <= set(synced)
    assert found.sync_s >= 2 * SYNC_S
    assert found.elapsed_s == pytest.approx(found.run_s + found.sync_s)
    assert found.as_fact()["elapsed_s"] == found.elapsed_s


def test_a_machine_that_does_not_come_to_rest_is_told_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = runner_of(home, "")
    rests = iter([True, False, False])
    patience: list[float] = []

    def settle(limit_s: float) -> bool:
        patience.append(limit_s)
        return next(rests)

    monkeypatch.setattr(measurement, "settle", settle)
    said = []
    for number in range(3):
        runner.run(str(number), None, 60)
        said.append(runner.notes)
    assert said[0] == []
    assert [len(notes) for notes in said] == [0, 1, 1]
    assert "was not quiet before 2 runs" in said[2][0]
    assert patience == [30, 30, 1], "it is not waited for in vain before each"
