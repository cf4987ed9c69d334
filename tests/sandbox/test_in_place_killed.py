# SPDX-License-Identifier: Apache-2.0
"""A kill while what a run has left is taken out of the user's folder: nothing of it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from grounds import contents, ground_of, home_in

from tailrace.sandbox import home_folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return home_in(tmp_path)


class Killed(BaseException):
    """As a kill is: nothing is done after it."""


@pytest.mark.parametrize("where", ["while a run works", "between runs"])
@pytest.mark.parametrize("after", range(1, 5))
def test_what_was_being_taken_out_when_it_was_killed_is_put_aside(
    home: Path, monkeypatch: pytest.MonkeyPatch, after: int, where: str
) -> None:
    before = contents(home)
    ground = ground_of(home)
    if where == "while a run works":
        ground.begin()
    (home / "one").write_bytes(b"edited")
    for name in ("first", "second", "sub/third"):
        (home / name).write_bytes(name.encode())
    move, moved = home_folder._move, []

    def killed(here: Path, there: Path) -> None:
        moved.append(here)
        if len(moved) == after:
            raise Killed
        move(here, there)

    with monkeypatch.context() as patch:
        patch.setattr(home_folder, "_move", killed)
        patch.setattr(ground._restoring, "put_back", lambda: killed(home, home))
        with pytest.raises(Killed):
            ground.end("run") if where == "while a run works" else ground.put_back()
    (home / "second").write_bytes(b"made since")
    resumed = ground_of(home)
    assert contents(home) == before
    aside = [resumed.put_aside / name for name in resumed.names_put_aside]
    assert {path.read_bytes() for path in aside} == {
        b"edited", b"first", b"sub/third", b"made since", *([b"second"] if after > 2 else [])
    }  # fmt: skip
    resumed.begin()
    resumed.end("run")
    resumed.close()
    assert [path.exists() for path in aside] == [True] * len(aside)


def test_what_was_edited_after_a_kill_between_runs_is_put_aside(home: Path) -> None:
    before = contents(home)
    ground_of(home)
    (home / "one").write_bytes(b"edited")
    resumed = ground_of(home)
    assert contents(home) == before
    assert resumed.names_put_aside == ["one"]
