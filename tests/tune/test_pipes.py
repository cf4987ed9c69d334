# SPDX-License-Identifier: Apache-2.0
"""A pipe that a run leaves, or a link to one: whoever opens it waits for ever."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tailrace.sandbox.ground import Ground
from tailrace.sandbox.home_folder import InPlace
from tailrace.sandbox.outside_files import Outside
from tailrace.sandbox.scratch import Scratch
from tailrace.sandbox.survey import survey
from tailrace.tune import measurement


class Waited(Exception):
    """For what never comes."""


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    def ring(_number: int, _frame: object) -> None:
        raise Waited

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "real").write_bytes(b"real")
    (folder / "current").symlink_to("real")
    return folder


@pytest.mark.parametrize("kind", [Scratch, InPlace])
def test_a_link_to_a_pipe(home: Path, kind: type) -> None:
    ours = home / "tailrace-tune"
    found = survey(home, {ours})
    rest = set() if kind is Scratch else {ours}
    ground: Ground = kind(home, ours / "scratch", found, rest)
    ground.fill()
    folder = ground.begin()
    os.mkfifo(folder / "pipe")
    (folder / "new").symlink_to("pipe")
    (folder / "device").symlink_to("/dev/null")
    (folder / "current").unlink()
    (folder / "current").symlink_to("pipe")
    measurement.sync(ground.written())
    left = ground.end("run")
    assert {"current", "new", "device"} <= set(left.written)
    ground.close()
    assert (home / "current").read_bytes() == b"real"
    assert {path.name for path in home.iterdir()} <= {"current", "real", "tailrace-tune"}


def test_a_pipe_in_the_place_of_a_file_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"as it was")
    (tmp_path / "root").mkdir()
    one = Outside([file], tmp_path / "root")
    one.save()
    file.unlink()
    os.mkfifo(file)
    assert one.written() == []
    assert one.away() == [file]
    one.end(tmp_path / "kept")
    assert file.read_bytes() == b"as it was"
