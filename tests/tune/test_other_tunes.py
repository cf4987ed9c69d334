# SPDX-License-Identifier: Apache-2.0
"""Several tunes in one working folder: none takes what another has made for the user's."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tailrace_cli import called, tailrace

from tailrace.errors import TailraceError
from tailrace.sandbox import ownership, survey, tree
from tailrace.sandbox.home_folder import InPlace
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.scratch import Scratch
from tailrace.tune import session
from tailrace.tune.request import Asked

pytestmark = pytest.mark.usefixtures("at_home")
Patch = pytest.MonkeyPatch

HOLDS = """
import fcntl, os, sys
folder = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(folder, fcntl.LOCK_SH)
print("held", flush=True)
sys.stdin.read()
"""


def unfinished(home: Path, output: Path, scratch: Path | None = None, **more: Any) -> Asked:
    """What another tune has there that was killed, or is at work."""
    asked = Asked(["true"], home, output, scratch or output / "scratch", **more)
    asked.state.mkdir(parents=True)
    Ledger(asked.state).note("asked", asked.as_fact())
    asked.scratch.mkdir(parents=True, exist_ok=True)
    ownership.sign(asked.scratch, asked.output)
    (asked.scratch / "inputs").mkdir()
    (asked.scratch / "inputs/mine.txt").write_bytes(b"mine")
    return asked


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_a_tune_in_place_is_alone(home: Path, first: bool, second: bool) -> None:
    with (
        ownership.held(home, alone=first),
        pytest.raises(TailraceError, match="is at work in this working folder"),
        ownership.held(home, alone=second),
    ):
        pass
    with ownership.held(home, alone=second):
        pass


@pytest.mark.parametrize(
    ("first", "second"), [("", "below"), ("below", ""), ("", "below/deep"), ("below/deep", "")]
)
def test_a_tune_in_place_is_alone_above_and_below(home: Path, first: str, second: str) -> None:
    (home / "below/deep").mkdir(parents=True)
    with (
        ownership.held(home / first, alone=True),
        pytest.raises(TailraceError, match="is at work") as raised,
        ownership.held(home / second, alone=True),
    ):
        pass
    assert raised.value.where == str(home)
    (home / "beside").mkdir()
    with ownership.held(home / "below", alone=True), ownership.held(home / "beside", alone=True):
        pass


def test_below_a_tune_in_place_nothing_is_copied(home: Path) -> None:
    (home / "below").mkdir()
    with (
        ownership.held(home, alone=True),
        pytest.raises(TailraceError, match="a tune in place, or one that may write there"),
        ownership.held(home / "below", alone=False),
    ):
        pass


@pytest.mark.usefixtures("ordinary")
def test_folders_above_that_may_not_be_read_hinder_nobody(home: Path) -> None:
    (home / "below").mkdir()
    home.chmod(0o111)
    with ownership.held(home / "below", alone=True):
        pass
    home.chmod(0o755)


@pytest.mark.parametrize(
    ("first", "second"), [("far", "far"), ("far", "far/in"), ("far/in", "far")]
)
def test_two_tunes_do_not_write_to_the_same_folder(home: Path, first: str, second: str) -> None:
    beyond = home.parent
    (beyond / "far/in").mkdir(parents=True)
    (beyond / "other").mkdir()
    with (
        ownership.held(home, alone=False, allowed=[beyond / first]),
        pytest.raises(TailraceError, match="at work in this") as raised,
        ownership.held(beyond / "other", alone=False, allowed=[beyond / second]),
    ):
        pass
    assert raised.value.where == str(beyond / "far")
    with (
        ownership.held(home, alone=False, allowed=[beyond / "far"]),
        ownership.held(beyond / "other", alone=False, allowed=[beyond / "other"]),
    ):
        pass


def test_a_folder_that_is_allowed_may_hold_the_working_folder(home: Path) -> None:
    for allowed in ([home.parent], [home], [home.parent, home], [home.parent / "none"]):
        for alone in (True, False):
            with ownership.held(home, alone=alone, allowed=allowed):
                pass


def test_nobody_is_alone_in_a_folder_of_everybody(home: Path) -> None:
    """As /tmp is: what else works below would be refused."""
    home.parent.chmod(0o1777)
    with (
        ownership.held(home, alone=False, allowed=[home.parent]),
        ownership.held(home, alone=False, allowed=[home.parent]),
    ):
        pass


def test_the_folders_of_a_killed_tune_are_held_when_it_is_put_right(home: Path) -> None:
    far = home.parent / "far"
    far.mkdir()
    a = unfinished(home, home / "a", allow_outside=(far,))
    with (
        ownership.held(home, alone=False, allowed=[far]),
        pytest.raises(TailraceError, match="at work in this folder of --allow-outside"),
    ):
        session.tune(replace(a, allow_outside=()), resume=True, say=lambda _text: None)


def test_tunes_on_copies_do_not_mind_each_other(home: Path) -> None:
    with ownership.held(home, alone=False), ownership.held(home, alone=False):
        pass


def test_a_file_system_without_locks_of_folders_ends_no_tune(
    home: Path, monkeypatch: Patch
) -> None:
    def no_locks(_folder: int, _how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with ownership.held(home, alone=True):
        pass


def test_a_tune_in_place_is_refused_while_another_process_works_there(home: Path) -> None:
    words = [sys.executable, "-S", "-c", HOLDS, str(home)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        ran = called("tune", "--in-place", "-o", "b", "--", "true").expect(2)
        holder.send_signal(signal.SIGKILL)
    assert "another tune is at work in this working folder" in ran.err
    assert [path.name for path in home.iterdir()] == ["mine.txt"]


def test_what_other_tunes_have_there_is_no_input_and_stays(home: Path) -> None:
    a = unfinished(home, home / "a", home / "far" / "scratch-of-a")
    (home / "far" / "mine").write_bytes(b"mine")
    facts = (a.state / "facts.jsonl").read_bytes()
    found = survey.survey(home, {home / "b"})
    assert sorted(found.tunes) == ["a", "far/scratch-of-a"]
    assert sorted(found.files) == ["far/mine", "mine.txt"]
    ground = InPlace(home, home / "b/scratch", found, {home / "b"})
    ground.fill()
    ground.begin()
    (home / "a/state/more").write_bytes(b"of a")
    left = ground.end("one")
    assert (left.written, ground.names_put_aside) == ([], [])
    ground.close()
    assert (a.state / "facts.jsonl").read_bytes() == facts
    assert (a.scratch / "inputs/mine.txt").read_bytes() == b"mine"


def test_a_tune_that_began_later_is_left_alone_too(home: Path) -> None:
    ground = InPlace(home, home / "b/scratch", survey.survey(home, {home / "b"}), {home / "b"})
    ground.fill()
    unfinished(home, home / "a")
    assert [name for name in tree.take(home, {home / "b"}) if name.startswith("a")] == []
    ground.put_back()
    assert (home / "a/state/facts.jsonl").is_file()
    assert ground.names_put_aside == []


def test_a_folder_of_the_users_is_not_taken_for_a_tune(home: Path) -> None:
    (home / "mine/state").mkdir(parents=True)
    (home / "mine/state/facts.jsonl").write_text(json.dumps({"name": "a fact"}) + "\n")
    found = survey.survey(home, set())
    assert found.tunes == []
    assert "mine/state/facts.jsonl" in found.files


@pytest.mark.usefixtures("ordinary")
def test_a_folder_that_is_closed_is_not_taken_for_a_tune(home: Path) -> None:
    (home / "closed").mkdir(0)
    assert survey.survey(home, set()).closed == ["closed"]


@pytest.mark.parametrize("words", [[], ["--in-place"]])
@pytest.mark.parametrize("where", ["a/scratch", "far/scratch-of-a"])
def test_a_tune_that_has_not_put_everything_back_is_named(
    home: Path, words: list[str], where: str
) -> None:
    a = unfinished(home, home / "a", home / where, in_place=True)
    (a.scratch / ownership.at_work).touch()
    begins = ["tune", *words, "-o", "b", "--", "true"]
    ran = tailrace(*begins, cwd=home).expect(2)
    assert f"had put everything back: that of {home}/a" in ran.err
    assert f"--resume -o {home}/a" in ran.err
    assert not (home / "b").exists()
    (a.scratch / ownership.at_work).unlink()
    tailrace(*begins, cwd=home).expect(0)
    assert (a.state / "facts.jsonl").is_file()


def test_a_file_that_vanishes_while_the_folder_is_looked_at(home: Path, monkeypatch: Patch) -> None:
    (home / "gone").touch()
    (home / "gone-too").mkdir()
    walk: Callable[[Path], Any] = os.walk

    def walked(folder: Path) -> Any:
        for where, folders, files in walk(folder):
            for name in ("gone", "gone-too"):
                if (Path(where) / name).is_dir():
                    (Path(where) / name).rmdir()
                else:
                    (Path(where) / name).unlink(missing_ok=True)
            yield where, folders, files

    monkeypatch.setattr(os, "walk", walked)
    found = survey.survey(home, set())
    assert (list(found.files), found.folders, found.notes) == (["mine.txt"], [], [])


def test_a_file_that_vanishes_before_it_is_copied_is_told(home: Path) -> None:
    found = survey.survey(home, set())
    (home / "mine.txt").unlink()
    Scratch(home, home.parent / "scratch", found, set()).fill()
    assert found.changed(home) == ["mine.txt"]
